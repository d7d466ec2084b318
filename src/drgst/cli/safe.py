"""A console on which names from data can't control the terminal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from drgst.cli.console import printable


class SafeConsole(Console):
    """Prints every text as :func:`~drgst.cli.console.printable`, also in the cells of tables."""

    def render_str(self, text: str, **settings: Any) -> Text:
        """A text without control characters."""
        return super().render_str(printable(text), **settings)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """What is drawn of ``renderable``."""
        if isinstance(renderable, Text):
            renderable = renderable.copy()
            renderable.plain = printable(renderable.plain)
        return super().render(renderable, options)
