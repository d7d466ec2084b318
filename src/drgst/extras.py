"""Import of optional dependencies."""

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
