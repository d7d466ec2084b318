"""scripts/graphs.py: what is measured, on which nodes, and what is kept."""

from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from drgst.datasets.load import load, open_graph
from drgst.lab.grid.grid import Task
from drgst.lab.store import Store
from drgst.lab.store.export import readable_rows
from drgst.recipes import registry

Row = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module", autouse=True)
def without_poisson() -> Iterator[None]:
    """The script enters a recipe of its own."""
    yield
    registry._TABLE.pop("poisson", None)


@pytest.fixture
def graphs(script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script with Cora as its only graph."""
    for name, value in {"PAPERS": ("cora",), "MORE": (), "FOLDER": tmp_path, "FACTS": tmp_path / "facts.csv"}.items():
        monkeypatch.setattr(script, name, value)
    return script


def test_nothing_is_measured_on_the_papers_test_nodes(graphs: ModuleType, tmp_path: Path) -> None:
    graphs.prepare(tmp_path)
    made, cora = open_graph(str(tmp_path / "cora-dev.npz")), load("cora")
    assert made.split is None
    hidden = np.zeros(cora.num_nodes, dtype=bool)
    hidden[cora.split.test] = True
    np.testing.assert_array_equal(made.labels, np.where(hidden, -1, cora.labels))
    graphs.write_facts()
    assert (tmp_path / "facts.csv").read_text().splitlines()[1] == "cora-dev,2708,5278,7,1433,0.292,0.818,0.781"


def test_every_step_is_a_grid_of_fresh_draws(graphs: ModuleType) -> None:
    found = list(graphs.grids(()))
    assert {grid.pool for grid in found} == {"all-but-validation"}
    assert min(number for grid in found for number in grid.numbers) == 200
    assert {"drgst-plus", "drgst-de", "gcn", "logistic-ppr"} <= {recipe for grid in found for recipe in grid.recipes}
    assert all(grid.changes == {} for grid in found if grid.validation == "30")
    assert {recipe for grid in graphs.grids(("drgst-plus",)) for recipe in grid.recipes} == {"drgst-plus"}


def test_the_export_keeps_what_was_made_elsewhere_and_drops_earlier_versions(
    graphs: ModuleType, tmp_path: Path, make_row: Row
) -> None:
    path = tmp_path / "graphs.csv"
    for rows in (
        [make_row("a"), make_row("old", recipe="m3s", recipe_version=1)],
        [make_row("b", draw=1), make_row("bad", draw=2, error="boom")],
    ):
        with Store(tmp_path / f"{rows[0]['key']}.db", create=True) as store:
            for row in rows:
                store.add(row)
            graphs.export(store, path)
    assert [row["key"] for row in readable_rows(path)] == ["a", "b"]


def test_the_time_limit(graphs: ModuleType) -> None:
    row = {"error": None, "test_accuracy": 0.5, "seconds": 1.0}
    with pytest.raises(graphs.TimeIsUp):
        graphs.Progress(deadline=0).done(Task("cora", "cora", 3, "gcn", "", "", "", 0, {}, "", ""), row)
