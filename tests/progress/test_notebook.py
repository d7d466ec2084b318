"""The bar of a run in a notebook, without a kernel; the words of its place."""

from __future__ import annotations

import io
import math

import pytest
from rich.console import Console

from drgst.progress import notebook, terminal
from drgst.progress.jupyter import in_notebook
from drgst.progress.notebook import NotebookBar
from drgst.progress.terminal import Progress
from drgst.progress.words import Place
from drgst.selftrain.history import History

FACTS = {"dataset": "town", "recipe": "gcn", "seed": 0, "stages": 2, "settings": {}}


def test_words() -> None:
    place = Place()
    place.begin(FACTS)
    place.start_training(1, 0, 633)
    assert place.start_step("view", 2, 5) == "stage 1 of 2  view 2 of 5  633 pseudo-labelled nodes"
    assert (
        place.epoch(7, 0.5, math.nan)
        == "stage 1 of 2  view 2 of 5  epoch 7  training loss 0.500  633 pseudo-labelled nodes"
    )
    place.start_training(0, 1, 0)
    assert place.epoch(1, 0.5, 0.25) == "teacher, fresh start 1  epoch 1  validation loss 0.250"


def test_steps_are_printed_when_nothing_was_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    console = Console(file=io.StringIO(), force_terminal=False, width=120)
    progress = Progress(console)
    progress.begin(FACTS)
    progress.step("cross-fitting fold", 1, 3)
    monkeypatch.setattr(terminal, "QUIET", 0.0)
    progress.step("cross-fitting fold", 2, 3)
    progress.close()
    assert console.file.getvalue() == "cross-fitting fold 2 of 3\n"  # type: ignore[attr-defined]


def test_the_bar_moves_with_the_stages(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("IPython", reason="needs the extra drgst[notebook]")
    shown: list[str] = []

    class Handle:
        def update(self, html: object) -> None:
            shown.append(html.data)  # type: ignore[attr-defined]

    bar = NotebookBar()
    monkeypatch.setattr(bar.display, "display", lambda html, **_: shown.append(html.data) or Handle())
    monkeypatch.setattr(notebook, "PERIOD", 0.0)
    bar.begin(FACTS)
    bar.training(1, 0, 12)
    bar.epoch(3, 0.5, 0.7)
    bar.stage(history)
    bar.end({"recipe": "gcn", "dataset": "<town>", "seconds": 1.25, "test_accuracy": 0.75})
    assert "width:0%" in shown[0]
    assert any("stage 1 of 2  epoch 3  validation loss 0.700" in html for html in shown)
    assert "width:33%" in shown[1]
    assert "width:100%" in shown[-1]
    assert "gcn on &lt;town&gt;: done in 1.2 s, test accuracy 75.0%" in shown[-1]
    assert not in_notebook()
