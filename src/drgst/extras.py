"""Imports by name: optional dependencies, and what users name by a path."""

from __future__ import annotations

import importlib
from typing import Any

from drgst.errors import SettingError


def import_extra(module: str, extra: str, purpose: str = "this") -> Any:
    """The optional module ``module``; if it is not installed, the error names the extra that installs it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise SettingError(f"{purpose} needs {package}, which is not installed: pip install 'drgst[{extra}]'") from None


def import_named(path: str, kind: str) -> Any:
    """What stands at ``"package.module:name"``; ``kind`` says in the error what it should have been."""
    module, _, name = path.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise SettingError(f"{kind} {path!r} can't be imported: {error}") from error
    return found
