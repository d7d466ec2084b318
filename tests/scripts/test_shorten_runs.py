"""scripts/shorten_runs.py: a stored run without its last student is the run with one student less."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from drgst.lab.grid.execute import execute
from drgst.lab.grid.expand import Expander
from drgst.lab.grid.grid import Cell, Grid
from drgst.lab.store.export import readable_rows

SCRIPT = Path(__file__).parents[2] / "scripts" / "shorten_runs.py"
SHORT = {"epochs": 40, "samples": 3, "hidden": 16, "threshold": 0.17, "retries": 0}
TIMES = ("seconds", "peak_memory_mb", "stage_rows", "created")


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("shorten_runs_script", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("stages", [1, 2])
def test_a_shortened_run_is_the_shorter_run(script: ModuleType, stages: int) -> None:
    """Two students become one; a limit of three, of which two are trained, becomes a limit of two."""
    rows = []
    for count in (stages, stages + 1):
        grid = Grid(("cora",), (3,), ("drgst-do",), 1, {**SHORT, "stages": count})
        (task,) = Expander(grid).tasks(Cell("cora", 3, "drgst-do"))
        rows.append(execute(task))
    shorter, longer = rows
    assert longer["stages"] == 2
    made = script.shortened({**longer, "error": None})
    for name in set(shorter) - {*TIMES, *script.UNKNOWN}:
        assert made.get(name) == shorter[name], name
    assert (made["seconds"] < longer["seconds"]) == (stages == 1)
    same = made["result_stage"] == longer["result_stage"]
    assert made["ece"] == (shorter["ece"] if same else None)


def test_no_draw_of_a_cell_alone_has_an_ece(script: ModuleType) -> None:
    base = {"dataset": "cora", "per_class": 3, "recipe": "drgst-do", "variant": "", "pool": "", "validation": ""}
    rows = [{**base, "ece": e, "brier": 0.5, "macro_f1": 0.5} for e in (0.1, None)]
    rows.append({**base, "per_class": 5, "ece": 0.2, "brier": 0.5, "macro_f1": 0.5})
    assert [row["ece"] for row in script.without_partial(rows)] == [None, None, 0.2]


def test_no_stored_run_of_drgst_has_the_old_number_of_stages_by_default(script: ModuleType) -> None:
    rows = readable_rows(Path(__file__).parents[2] / "results" / "runs.csv")
    for row in rows:
        if script.is_drgst(row):
            assert script.with_settings(row, script.json.loads(row["settings"]))["variant"] == row["variant"]
