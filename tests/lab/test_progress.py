"""What a bench shows."""

import io
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from rich.console import Console

from drgst.lab.grid.grid import Task
from drgst.lab.grid.run_grid import BenchResult
from drgst.lab.progress import BenchProgress, print_result
from drgst.lab.store.cells import Runs

TASK = Task("cora", "cora", 3, "gcn", "", "unlabelled", "public", 0, {}, "data", "split", cost=2.0)


def row(task: Task, accuracy: float | None = 0.7, error: str | None = None) -> dict[str, Any]:
    place = {name: getattr(task, name) for name in ("dataset", "per_class", "recipe", "draw")}
    return {**place, "test_accuracy": accuracy, "val_accuracy": None, "seconds": 100.0, "error": error}


def shown(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> str:
    console = Console(file=io.StringIO(), force_terminal=terminal, width=120)
    tasks = [TASK, replace(TASK, draw=1), replace(TASK, recipe="gat")]
    seconds = count(0, 100.0)
    with BenchProgress(console) as progress:
        monkeypatch.setattr("drgst.lab.progress.time.monotonic", lambda: next(seconds))
        progress.begin(5, tasks)
        for task, found in zip(tasks, (row(tasks[0]), row(tasks[1], 0.8), row(tasks[2], None, "boom")), strict=True):
            progress.done(task, found)
            progress.tick()
    monkeypatch.undo()
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_one_line_per_finished_cell_and_slow_run_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = shown(False, monkeypatch).splitlines()
    assert lines[0] == "5 runs are in the store; 3 in 2 cells to run"
    assert lines[1].startswith("cora 3 gcn draw 0: 70.00  (1 of 3 runs, 0 of 2 cells, about 3 min left")  # 2 x 100 s
    assert lines[2].startswith("cora 3 gcn: 75.00 ± 7.07 (2 draws)  (2 of 3 runs, 1 of 2 cells, about ")
    assert lines[3:] == [
        "failed: cora 3 gat draw 0: boom",
        "cora 3 gat:  (0 draws)  (3 of 3 runs, 2 of 2 cells, 1 failed)",
    ]


def test_counts_while_it_runs_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "1 of 3 runs, 0 of 2 cells, about" in shown(True, monkeypatch)


def test_the_result_names_means_failures_and_counts() -> None:
    cells = {("cora", 3, "gcn"): Runs((row(TASK, 0.7), row(replace(TASK, draw=1), 0.8)))}
    console = Console(file=io.StringIO(), width=120)
    print_result(console, BenchResult(cells, ran=2, reused=1, seconds=7.0, failures=[row(TASK, None, "boom")]))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "75.00" in text
    assert "failed: cora 3 gcn draw 0: boom" in text
    assert text.endswith("ran 2, reused 1, failed 1 in 7.0 s\n")
