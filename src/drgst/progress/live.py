"""Text that is drawn again and again in the same place; imports no torch."""

from __future__ import annotations

from typing import Any, Self

from rich.console import Console
from rich.live import Live
from rich.text import Text


def error_console(quiet: bool = False) -> Console:
    """A console on standard error, or in a notebook, that prints text as it is."""
    return Console(stderr=True, quiet=quiet, markup=False, highlight=False, emoji=False)


class LiveDisplay:
    """A context manager that shows one text at a time: on a terminal and in the output of a notebook cell.

    ``live`` is False elsewhere, and :meth:`update` then does nothing. A terminal is left clean at the end; a notebook
    keeps the last text.
    """

    def __init__(self, console: Console) -> None:
        self.console = console
        self.live = (console.is_terminal or console.is_jupyter) and not console.quiet
        self._terminal: Live | None = None
        self._cell: Any = None

    def __enter__(self) -> Self:
        if self.live and self.console.is_jupyter:
            from IPython.display import display  # a notebook runs this process

            self._cell = display(Text(), display_id=True)
        elif self.live:
            self._terminal = Live(console=self.console, auto_refresh=False, transient=True)
            self._terminal.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._terminal is not None:
            self._terminal.stop()
            self._terminal = None

    def update(self, text: str) -> None:
        """Show ``text`` now."""
        if self._terminal is not None:
            self._terminal.update(Text(text), refresh=True)
        elif self._cell is not None:
            self._cell.update(Text(text))
