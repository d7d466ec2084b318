"""A tiny graph and quick settings for benches."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from drgst.lab.grid.grid import Grid
from drgst.lab.store import Store
from drgst.lab.store.cells import CellName, RunFilter, runs_by_cell

Row = Callable[..., dict[str, Any]]
QUICK = {"epochs": 5, "samples": 3, "threshold": 0.2}


@pytest.fixture
def store(tmp_path: Path) -> Any:
    """An empty store."""
    with Store(tmp_path / "runs.db", create=True) as opened:
        yield opened


@pytest.fixture(scope="session")
def make_grid(tiny: Path) -> Callable[..., Grid]:
    """Grids of two recipes, one label count and two draws, with changes."""
    usual = {"datasets": [str(tiny)], "per_class": [3], "recipes": ["gcn", "drgst-de"], "draws": 2, "changes": QUICK}
    return lambda **changes: Grid(**{**usual, **changes})


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
