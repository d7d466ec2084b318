"""Runs with known accuracies, as the tables, figures and claims read them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from drgst.bench.statistics.results import CellName, RunFilter, runs_by_cell
from drgst.graph.datasets.synthetic import block_model
from drgst.graph.io.npz import save_graph

Row = Callable[..., dict[str, Any]]


@pytest.fixture
def cells(make_row: Row) -> Callable[[dict[CellName, list[float]]], Any]:
    """``cells({("cora", 3, "gcn"): [0.6, 0.7], …})``: accuracies draw by draw."""

    def make(found: dict[CellName, list[float]]) -> Any:
        rows = [
            make_row(
                f"{cell}{draw}", dataset=cell[0], per_class=cell[1], recipe=cell[2], draw=draw, test_accuracy=value
            )
            for cell, values in found.items()
            for draw, value in enumerate(values)
        ]
        return runs_by_cell(rows, RunFilter())

    return make


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a graph of 150 nodes and 3 classes."""
    path = tmp_path_factory.mktemp("graphs") / "tiny.npz"
    save_graph(block_model(150, 500, seed=0, classes=3, features=40, words=6).with_(name="tiny"), path)
    return path
