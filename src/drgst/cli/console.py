"""Where text, JSON and the log of the commands go."""

from __future__ import annotations

import json
import logging
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from drgst.errors import DrgstWarning

if TYPE_CHECKING:
    from rich.console import Console


def get_console(stderr: bool = False) -> Console:
    """The console for text: standard output, or standard error where standard output is for a program."""
    from rich.console import Console

    return Console(stderr=stderr, markup=False, highlight=False, emoji=False)


def emit(document: dict[str, Any] | list[Any]) -> None:
    """Write one JSON document as one line of standard output."""
    sys.stdout.write(json.dumps(document, allow_nan=False) + "\n")


@contextmanager
def interruptible(kept: str) -> Iterator[None]:
    """Ctrl-C ends with one line, which names what is kept, and exit code 130."""
    try:
        yield
    except KeyboardInterrupt:
        message = f"\ninterrupted; {kept}; the same command continues"
        get_console(stderr=True).print(message, soft_wrap=True)
        raise typer.Exit(130) from None


def set_up_log(verbose: bool) -> None:
    """Send drgst's log and its warnings to standard error: warnings always, the rest with ``--verbose``."""
    logger = logging.getLogger("drgst")
    for handler in [h for h in logger.handlers if isinstance(h, _ErrorHandler)]:
        logger.removeHandler(handler)
    logger.addHandler(_ErrorHandler())
    logger.setLevel(logging.INFO if verbose else logging.WARNING)
    warnings.showwarning = _show_warning  # type: ignore[assignment]


class _ErrorHandler(logging.Handler):
    """``warning: …`` or the bare message, on the standard error of the moment."""

    def emit(self, record: logging.LogRecord) -> None:
        """One line, named by its level where that is above information."""
        level = f"{record.levelname.lower()}: " if record.levelno > logging.INFO else ""
        sys.stderr.write(f"{level}{record.getMessage()}\n")


def _show_warning(message: Any, category: type[Warning], filename: str, lineno: int, *_: Any) -> None:
    if issubclass(category, DrgstWarning):
        sys.stderr.write(f"warning: {message}\n")
    else:
        sys.stderr.write(warnings.formatwarning(message, category, filename, lineno))
