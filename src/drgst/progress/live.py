"""The part of a terminal that is drawn again and again."""

from __future__ import annotations

from typing import Self

from rich.console import Console, RenderableType
from rich.live import Live


class LiveDisplay:
    """A context manager with a live display on ``console``; ``live`` is None where that is not a terminal."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.live = Live(console=console, auto_refresh=False, transient=True) if console.is_terminal else None

    def __enter__(self) -> Self:
        if self.live is not None:
            self.live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.live is not None:
            self.live.stop()

    def update(self, content: RenderableType) -> None:
        """Show ``content`` now."""
        if self.live is not None:
            self.live.update(content, refresh=True)
