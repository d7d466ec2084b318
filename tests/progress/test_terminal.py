"""What a run shows while it works."""

from __future__ import annotations

import io
import math
from typing import Any

from rich.console import Console

from drgst import SelfTraining
from drgst.progress.terminal import Progress
from drgst.progress.words import stage_line
from drgst.selftrain.history import History


def console(terminal: bool) -> Console:
    return Console(file=io.StringIO(), force_terminal=terminal, width=120)


def test_one_line_per_stage_without_a_terminal(history: History) -> None:
    plain = console(terminal=False)
    with Progress(plain, 2) as progress:
        progress.training(0, 0, 0)
        progress.epoch(1, 0.5, 0.6)
        progress.stage(history)
    assert plain.file.getvalue().strip() == stage_line(history, 2)  # type: ignore[attr-defined]
    assert "pseudo-labelled nodes, validation accuracy" in stage_line(history, 2)


def test_a_stage_without_epochs_names_none(world: Any) -> None:
    """A linear model is fitted in closed form or in a fixed number of steps."""
    linear = SelfTraining("drgst-plus", {"stages": 1}).fit(world.graph, world.split).history_
    assert "epoch" not in stage_line(linear, 1)
    assert stage_line(linear, 1).startswith("stage 1 of 1: ")


def test_a_live_line_on_a_terminal() -> None:
    live = console(terminal=True)
    with Progress(live, 2) as progress:
        progress.training(1, 1, 633)
        progress.epoch(7, 0.5, math.nan)
        progress.epoch(8, 0.5, math.nan)
    drawn = live.file.getvalue()  # type: ignore[attr-defined]
    assert "stage 1 of 2, fresh start 1  epoch 7  training loss 0.500  633 pseudo-labelled nodes" in drawn
    assert "epoch 8" not in drawn, "most epochs are not shown"
