"""Where text, JSON and the log of the commands go."""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from drgst.errors import DrgstWarning
from drgst.files import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from drgst.tables.faults import TableError


QUIET = 2.0  # seconds that a command may be silent


def get_console(stderr: bool = False) -> Console:
    """The console for text: standard output, or standard error where standard output is for a program."""
    from drgst.progress.live import SafeConsole

    return SafeConsole(stderr=stderr)


def say(console: Console, *lines: str) -> None:
    """Print ``lines`` without breaking them."""
    for line in lines:
        console.print(line, soft_wrap=True)


def plain_table(*titles: str, left: Sequence[int] = (0,)) -> Table:
    """A table with a line below its header; all columns but ``left`` are aligned to the right."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for place, title in enumerate(titles):
        table.add_column(title, justify="left" if place in left else "right")
    return table


def open_streams() -> None:
    """Make standard output and standard error usable: closed ones discard, and what can't be encoded is escaped."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def write_data(text: str) -> None:
    """Write a file's content to standard output: unchanged to a file or program, :func:`printable` to a terminal."""
    sys.stdout.write(printable(text) if sys.stdout.isatty() else text)


def emit(document: dict[str, Any] | list[Any]) -> None:
    """Write one JSON document as one line of standard output."""
    sys.stdout.write(json.dumps(document, allow_nan=False) + "\n")


def refuse(error: TableError, json: bool, columns: bool = False) -> NoReturn:
    """List all faults of tables, with ``columns`` after how each column is read, and end with exit code 2."""
    console, faults = get_console(json), error.faults
    if columns and error.report:
        console.print(error.report, soft_wrap=True)
    for fault in faults:
        console.print(f"- {fault.sentence(shell=True)}", soft_wrap=True)
    console.print(f"{len(faults)} fault{'s' if len(faults) > 1 else ''} found")
    if json:
        emit({"ok": False, "faults": [fault.to_dict() for fault in faults]})
    raise typer.Exit(2)


@contextmanager
def working(text: str) -> Iterator[None]:
    """Show what a command is doing: a spinner on a terminal, elsewhere one line on standard error after two seconds."""
    console = get_console(stderr=True)
    if console.is_terminal:
        with console.status(text):
            yield
        return
    late = threading.Timer(QUIET, lambda: console.print(text, soft_wrap=True))
    late.daemon = True
    late.start()
    try:
        yield
    finally:
        late.cancel()


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
        """One line, with its level where that is above INFO."""
        level = f"{record.levelname.lower()}: " if record.levelno > logging.INFO else ""
        sys.stderr.write(f"{level}{printable(record.getMessage())}\n")


def _show_warning(message: Any, category: type[Warning], filename: str, lineno: int, *_: Any) -> None:
    ours = issubclass(category, UserWarning) and filename.startswith(os.path.dirname(os.path.dirname(__file__)))
    if ours or issubclass(category, DrgstWarning):
        sys.stderr.write(f"warning: {printable(str(message))}\n")
    else:
        sys.stderr.write(warnings.formatwarning(message, category, filename, lineno))
