"""``drgst lab bench``: text, JSON, exports, and how bad input ends."""

import csv
import json
import sqlite3
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from drgst.errors import DrgstWarning
from drgst.lab.store import Store

Call = Callable[..., tuple[int, str, str]]
SET = ("--set", "epochs=5,samples=3", "--set", "threshold=0.2")


def test_bench_export_and_rescue(tiny: Path, tmp_path: Path, call: Call) -> None:
    grid = ("--datasets", tiny, "--per-class", "3,5", "--recipes", "gcn,drgst-de", "--draws", 2, "--jobs", 1)
    code, out, err = call("lab", "bench", *grid, *SET, "--store", "runs.db", "--json")
    assert code == 0, err
    first = json.loads(out.splitlines()[-1])
    assert set(first) == {"cells", "ran", "reused", "failed", "seconds"}
    assert (first["ran"], first["reused"], first["failed"]) == (8, 0, 0)
    assert [(c["per_class"], c["recipe"], c["draws"]) for c in first["cells"]] == [
        (3, "drgst-de", 2),
        (3, "gcn", 2),
        (5, "drgst-de", 2),
        (5, "gcn", 2),
    ]
    assert all(0 <= c["mean"] <= 1 and c["std"] >= 0 and c["dataset"] == "tiny" for c in first["cells"])
    assert "8 in 4 cells to run" in err
    assert "8 of 8 runs, 4 of 4 cells" in err

    code, out, _ = call("lab", "bench", *grid, *SET, "--store", "runs.db", "--json")
    again = json.loads(out.splitlines()[-1])
    assert code == 0
    assert (again["ran"], again["reused"]) == (0, 8)
    assert again["cells"] == first["cells"]

    assert call("lab", "bench", "export", "r.csv", "--store", "runs.db")[0] == 0
    with (tmp_path / "r.csv").open(encoding="utf-8") as handle:
        assert len(list(csv.DictReader(handle))) == 8
    variant = ("--variant", "epochs=5,samples=3,threshold=0.2")
    for source in ("runs.db", "r.csv"):
        code, out, err = call("lab", "table", "main", "--store", source, *variant, "--format", "md")
        assert code == 0, err
        assert "| tiny | 3 | drgst-de |" in out
    assert call("lab", "bench", "rescue", "r.csv", "--store", "new.db")[0] == 0
    with Store("new.db") as store, Store("runs.db") as old:
        assert store.all_rows() == old.all_rows()


def test_a_failed_cell_ends_with_code_1_and_a_summary(tiny: Path, call: Call) -> None:
    """Calibration needs validation nodes, so cagcn-st fails without any; gcn goes on."""
    grid = ("--datasets", tiny, "--per-class", "3", "--recipes", "cagcn-st,gcn", "--draws", 1, "--jobs", 1)
    code, out, err = call("lab", "bench", *grid, "--validation", "none", "--set", "epochs=5", "--json")
    assert code == 1
    result = json.loads(out.splitlines()[-1])
    assert (result["ran"], result["failed"]) == (2, 1)
    assert [c["recipe"] for c in result["cells"]] == ["gcn"]
    assert "failed: tiny 3 cagcn-st draw 0: SettingError" in err


@pytest.mark.parametrize(
    ("column", "value"),
    [("settings", "{bad"), ("test_accuracy", 1e308), ("test_accuracy", "high"), ("test_accuracy", b"\x00")],
)
def test_values_that_drgst_did_not_write_are_one_line(filled: Path, call: Call, column: str, value: Any) -> None:
    with sqlite3.connect(filled) as db:
        db.execute(f"UPDATE runs SET {column} = ? WHERE draw = 0", [value])
    for words in (
        ("lab", "table", "main", "--store", filled),
        ("lab", "bench", "export", "r.csv", "--store", filled),
        ("lab", "figure", "labels", "--store", filled),
    ):
        code, _, err = call(*words)
        assert code == 2, words
        assert err.count("\n") == 1
        assert f"holds a run that drgst did not write: {column} is" in err
    with warnings.catch_warnings():
        warnings.simplefilter("default", DrgstWarning)
        code, _, err = call("lab", "bench", "rescue", filled, "--store", "new.db")
    assert code == 0
    assert err == f"warning: 2 runs of {filled} have damaged values and are left out\n"
    with Store("new.db") as store:
        assert len(store.all_rows()) == 2
