"""scripts/teacher_rows.py: DR-GST without students is the GCN of the same draw."""

from pathlib import Path
from types import ModuleType

import pytest

from drgst.lab.grid.execute import Expander, execute
from drgst.lab.grid.grid import Cell, Grid
from drgst.lab.store.export import readable_rows
from drgst.lab.store.schema import Row

OTHERS = {"seconds", "peak_memory_mb", "created", "stage_rows", "key", "recipe", "settings", "stop_reason", "cost"}


def quick(recipe: str) -> Row:
    changes = {"epochs": 30, "hidden": 16, "samples": 3, "stages": 0}
    (task,) = Expander(Grid(("cora",), (3,), (recipe,), 1, changes)).tasks(Cell("cora", 3, recipe))
    return execute(task)


@pytest.mark.parametrize("recipe", ["drgst-do", "drgst-de-wo"])
def test_a_run_without_students_is_that_of_its_teacher(recipe: str) -> None:
    gcn, mine = quick("gcn"), quick(recipe)
    assert mine["stages"] == 0
    for name in set(gcn) - OTHERS - {"variant"}:
        assert mine[name] == gcn[name], name


def test_rows_of_pubmed(script: ModuleType) -> None:
    """Every stored run of GCN on Pubmed at 3 labels per class gives eight rows, and the file has them."""
    rows = {row["key"]: row for row in readable_rows(Path(__file__).parents[2] / "results" / "runs.csv")}
    gcn = [row for row in rows.values() if script.is_gcn(row) and (row["dataset"], row["per_class"]) == ("pubmed", 3)]
    made = [row for one in gcn for row in script.teacher_rows(one)]
    assert len(made) == 8 * len(gcn) > 0
    for row in made:
        assert rows[row["key"]]["test_accuracy"] == row["test_accuracy"]
        assert rows[row["key"]]["recipe"] == row["recipe"]
    assert not list(script.teacher_rows({**gcn[0], "per_class": 20}))
