"""Runs of one worker on the same graph share what depends on features and edges alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from drgst.datasets.synthetic import block_model
from drgst.io.npz import save_graph
from drgst.lab.grid.execute import Expander, task_run
from drgst.lab.grid.grid import Grid
from drgst.selftrain.problem import Problem


def problems(grid: Grid) -> list[Problem]:
    """Of all draws of the only cell."""
    return [task_run(task).problem for task in Expander(grid).tasks(next(iter(grid.cells())))]


def test_runs_on_the_same_graph_share_a_graph_cache(make_grid: Callable[..., Grid], tmp_path: Path) -> None:
    other = tmp_path / "other.npz"
    save_graph(block_model(60, 200, seed=1, classes=3, features=40, words=6), other)
    first, second = problems(make_grid(recipes=["drgst-plus"], changes={}))
    assert first is not second
    assert first.graph_cache is second.graph_cache
    elsewhere, _ = problems(make_grid(recipes=["drgst-plus"], changes={}, datasets=[str(other)]))
    assert elsewhere.graph_cache is not first.graph_cache
