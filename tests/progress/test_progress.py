"""What a run shows while it works."""

import io
import math
from typing import Any

import pytest
from rich.console import Console

from drgst import SelfTraining
from drgst.progress import display as module
from drgst.progress.display import Progress, display, joined, stage_line
from drgst.selftrain.callbacks import Callback
from drgst.selftrain.history import History

FACTS = {"dataset": "town", "recipe": "gcn", "seed": 0, "stages": 2, "settings": {}}


def console(terminal: bool = False, jupyter: bool = False) -> Console:
    return Console(file=io.StringIO(), force_terminal=terminal, force_jupyter=jupyter, width=120)


def printed(shown: Console) -> str:
    return shown.file.getvalue()  # type: ignore[attr-defined]


def test_one_line_per_stage_without_a_terminal(history: History) -> None:
    plain = console()
    with Progress(plain, 2) as progress:
        progress.training(0, 0, 0)
        progress.epoch(1, 0.5, 0.6)
        progress.stage(history)
    assert printed(plain).strip() == stage_line(history, 2)
    assert "pseudo-labelled nodes, validation accuracy" in stage_line(history, 2)


def test_steps_are_printed_when_nothing_was_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = console()
    progress = Progress(plain)
    progress.begin(FACTS)
    progress.step("cross-fitting fold", 1, 3)
    monkeypatch.setattr(module, "QUIET", 0.0)
    progress.step("cross-fitting fold", 2, 3)
    progress.training(0, 1, 0)
    progress.epoch(1, 0.5, 0.25)
    progress.close()
    lines = ["cross-fitting fold 2 of 3", "teacher, fresh start 1  epoch 1  validation loss 0.250"]
    assert printed(plain).splitlines() == lines


def test_a_stage_without_epochs_names_none(world: Any) -> None:
    """A linear model is fitted in closed form or in a fixed number of steps."""
    linear = SelfTraining("drgst-plus", {"stages": 1}).fit(world.graph, world.split).history_
    assert "epoch" not in stage_line(linear, 1)
    assert stage_line(linear, 1).startswith("stage 1 of 1: ")


def test_a_live_line_on_a_terminal() -> None:
    live = console(terminal=True)
    with Progress(live, 2) as progress:
        progress.training(1, 1, 633)
        progress.step("view", 2, 5)
        progress.epoch(7, 0.5, math.nan)
        progress.epoch(8, 0.5, math.nan)
    assert "stage 1 of 2, fresh start 1  view 2 of 5  633 pseudo-labelled nodes" in printed(live)
    assert "view 2 of 5  epoch 7  training loss 0.500  633 pseudo-labelled nodes" in printed(live)
    assert "epoch 8" not in printed(live), "most epochs are not shown"


def test_a_notebook_keeps_the_last_line(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    ipython = pytest.importorskip("IPython.display", reason="needs the extra drgst[notebook]")
    shown: list[str] = []

    class Handle:
        def update(self, text: Any) -> None:
            shown.append(text._repr_mimebundle_((), ())["text/html"])

    monkeypatch.setattr(ipython, "display", lambda *_, **__: Handle())
    progress = Progress(console(jupyter=True))
    progress.begin(FACTS)
    progress.training(1, 0, 12)
    progress.epoch(3, 0.5, 0.7)
    progress.stage(history)
    progress.end({"recipe": "gcn", "dataset": "<town>", "seconds": 1.25, "test_accuracy": 0.75})
    progress.close()
    assert "stage 1 of 2  epoch 3  validation loss 0.700" in shown[0]
    assert "gcn on &lt;town&gt;: done in 1.2 s, test accuracy 75.0%" in shown[-1]


def test_a_display_elsewhere_is_shown_only_where_it_is_wanted() -> None:
    assert display(None) is None
    assert display(False) is None
    assert isinstance(display(True), Progress)


def test_callbacks_are_joined() -> None:
    calls: list[str] = []

    class Note(Callback):
        def __init__(self, name: str) -> None:
            self.name = name

        def step(self, what: str, number: int, total: int) -> None:
            calls.append(f"{self.name} {what} {number}/{total}")

    both = joined(Note("a"), None, [Note("b")])
    both.step("fold", 1, 3)
    assert calls == ["a fold 1/3", "b fold 1/3"]
    assert joined(None, []) is None
