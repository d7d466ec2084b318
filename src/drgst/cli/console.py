"""What the commands share: where words, figures and JSON go."""

from __future__ import annotations

import json
import logging
import sys
import warnings
from typing import TYPE_CHECKING, Annotated, Any

import typer

from drgst.errors import DrgstWarning

if TYPE_CHECKING:
    from rich.console import Console

JsonOption = Annotated[bool, typer.Option("--json", help="End standard output with one line of JSON.")]
RootOption = Annotated[
    str | None, typer.Option("--root", help="Folder with the data sets' files.", envvar="DRGST_DATA", show_envvar=True)
]


def people(as_json: bool = False) -> Console:
    """The console for people: standard output, or standard error where standard output is for a program."""
    from rich.console import Console

    return Console(stderr=as_json, markup=False, highlight=False, emoji=False)


def emit(document: dict[str, Any] | list[Any]) -> None:
    """Write one JSON document as one line of standard output."""
    sys.stdout.write(json.dumps(document, allow_nan=False) + "\n")


def show_log(verbose: bool) -> None:
    """Send drgst's log and its warnings to standard error: warnings always, the rest with ``--verbose``."""
    logger = logging.getLogger("drgst")
    for handler in [h for h in logger.handlers if isinstance(h, _ErrorHandler)]:
        logger.removeHandler(handler)
    logger.addHandler(_ErrorHandler())
    logger.setLevel(logging.INFO if verbose else logging.WARNING)
    warnings.showwarning = _show_warning  # type: ignore[assignment]


class _ErrorHandler(logging.Handler):
    """``warning: …`` or the bare words, on the standard error of the moment."""

    def emit(self, record: logging.LogRecord) -> None:
        """One line, named by its level where that is above information."""
        level = f"{record.levelname.lower()}: " if record.levelno > logging.INFO else ""
        sys.stderr.write(f"{level}{record.getMessage()}\n")


def _show_warning(message: Any, category: type[Warning], filename: str, lineno: int, *_: Any) -> None:
    if issubclass(category, DrgstWarning):
        sys.stderr.write(f"warning: {message}\n")
    else:
        sys.stderr.write(warnings.formatwarning(message, category, filename, lineno))
