"""The text that ends ``drgst run``, and bars of statistics and downloads."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from drgst.cli.output import _bar, conclusions, progress_bar, stage_table

ROW: dict[str, Any] = {
    **{"stage": 0, "accepted": True, "note": "", "pseudo_labelled": 0, "precision": None, "val_accuracy": None},
    **{"test_accuracy": 0.7, "mean_gain": None},
}
SUMMARY: dict[str, Any] = {
    **{"result_stage": 1, "stop_reason": "1 stage is done", "seconds": 2.04, "peak_memory_mb": 300.0},
    **{"teacher_test_accuracy": 0.7, "test_accuracy": 0.75, "teacher_val_accuracy": None, "val_accuracy": None},
}


@pytest.mark.parametrize(("epochs", "words"), [(1200, "took 2.0 s, 1,200 epochs, peak"), (0, "took 2.0 s, peak")])
def test_epochs_are_shown_where_a_network_was_trained(epochs: int, words: str) -> None:
    table = stage_table([{**ROW, "epochs": epochs}], 0)
    assert ("epochs" in [column.header for column in table.columns]) == (epochs > 0)
    lines = conclusions({**SUMMARY, "epochs": epochs})
    assert lines[0] == "test accuracy: teacher 70.0%, student 75.0% (+5.0 points)"
    assert lines[-1].startswith(words)


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
