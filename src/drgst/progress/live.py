"""The console, and text that is redrawn in the same place; imports no torch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

from rich.console import Console, ConsoleOptions, RenderableType
from rich.live import Live
from rich.segment import Segment
from rich.text import Text

from drgst.files import printable


class SafeConsole(Console):
    """Prints text as it is, in tables, too, but :func:`~drgst.files.printable`: names can't control a terminal."""

    def __init__(self, stderr: bool = True, quiet: bool = False) -> None:
        super().__init__(stderr=stderr, quiet=quiet, markup=False, highlight=False, emoji=False)

    def render_str(self, text: str, **settings: Any) -> Text:
        """A text without control characters."""
        return super().render_str(printable(text), **settings)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """What is drawn of ``renderable``."""
        if isinstance(renderable, Text):
            renderable = renderable.copy()
            renderable.plain = printable(renderable.plain)
        return super().render(renderable, options)


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
