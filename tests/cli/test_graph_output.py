"""Bars of statistics and downloads."""

from __future__ import annotations

import io

from rich.console import Console

from drgst.cli.output import _bar, progress_bar


def test_bars_are_ascii_where_the_terminal_is() -> None:
    file = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    assert _bar(Console(file=file), 0.5) == "#" * 15 + "." * 15


def test_the_progress_bar_follows_the_download() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=100)
    with progress_bar(console, "flickr") as show:
        show("flickr.zip", 500, 2000)
        show("flickr.zip", 2000, 2000)
    drawn = console.file.getvalue()  # type: ignore[attr-defined]
    assert "flickr flickr.zip" in drawn
    assert "2.0/2.0 kB" in drawn
