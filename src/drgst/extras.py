"""Imports by name: optional dependencies, and the code of users, ``module:name``."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Any

from drgst.errors import SettingError

OWN_FILES: dict[str, str] = {}  # module -> its file, of the modules that were loaded from the working folder


def import_extra(module: str, extra: str, purpose: str = "this") -> Any:
    """The optional module ``module``; if it is not installed, the error names the extra that installs it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise SettingError(f"{purpose} needs {package}, which is not installed: pip install 'drgst[{extra}]'") from None


def import_named(path: str, kind: str) -> Any:
    """The object at ``"package.module:name"``; ``kind`` says in the error what it should have been."""
    module, name = _module_and_name(path, kind)
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except ModuleNotFoundError as error:
        raise SettingError(
            f"{kind} {path!r} can't be imported: {error}; install it, or put its folder on PYTHONPATH"
        ) from error
    except Exception as error:  # whatever the user's module raises
        raise SettingError(f"{kind} {path!r} can't be imported: {type(error).__name__}: {error}") from error
    return found


def import_typed(path: str, kind: str) -> Any:
    """The object ``"module:name"`` that the user typed: of an installed module, or of a file in the working folder.

    Call this for names that the user typed, never for names in a file. Only that one module is loaded. The working
    folder is not added to ``sys.path``: any optional dependency would then be looked up there.
    """
    module, _ = _module_and_name(path, kind)
    file = Path(f"{module}.py")
    if "." not in module and file.is_file() and module not in sys.modules and not importlib.util.find_spec(module):
        try:
            load_own_files({module: str(file.absolute())})
        except Exception as error:
            raise SettingError(f"{kind} {path!r} can't be imported: {type(error).__name__}: {error}") from error
    return import_named(path, kind)


def check_imported(path: Any, where: str, remedy: str) -> None:
    """Refuse a ``"module:name"`` that a file names, unless the caller has imported the module already.

    An import runs the code of a module, so a file must not decide on one.
    """
    module = str(path).partition(":")[0]
    if ":" in str(path) and module not in sys.modules:
        raise SettingError(f"{where} names the code {path!r}, and code that a file names is not imported; {remedy}")


def load_own_files(files: dict[str, str]) -> None:
    """Load each module from its file, as another process did (:data:`OWN_FILES`)."""
    for module, file in files.items():
        spec = importlib.util.spec_from_file_location(module, file)
        if spec is None or spec.loader is None:
            raise ImportError(f"{file} is not a Python file")
        loaded = sys.modules[module] = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(loaded)
        except BaseException:
            del sys.modules[module]
            raise
        OWN_FILES[module] = file


def _module_and_name(path: str, kind: str) -> tuple[str, str]:
    module, _, name = path.partition(":")
    if not all(part.isidentifier() for part in (*module.split("."), *name.split("."))):
        raise SettingError(f"{kind} {path!r} is not of the form module:name")
    return module, name
