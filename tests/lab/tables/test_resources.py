"""Tables of data sets, calibration and time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from drgst.graph.stats import statistics
from drgst.lab.statistics.results import RunFilter, runs_by_cell
from drgst.lab.tables.resources import calibration, datasets, time
from drgst.lab.tables.table import Table

Dicts = Callable[[Table], list[dict[str, str]]]


def test_time_and_calibration(make_row: Callable[..., dict[str, Any]], as_dicts: Dicts) -> None:
    rows = [make_row("a", recipe="self-training", seconds=2.0, epochs=100, ece=0.2)]
    rows += [make_row("b", recipe="drgst-de", seconds=5.0, epochs=200, ece=0.1, stages=2, peak_memory_mb=300.0)]
    found = runs_by_cell(rows, RunFilter())
    timed = {r["recipe"]: r for r in as_dicts(time(found, "self-training"))}
    assert timed["drgst-de"]["ratio to self-training"] == "2.50"
    assert timed["drgst-de"]["ms per epoch"] == "25.0"
    assert timed["drgst-de"]["peak MB"] == "300"
    assert timed["self-training"]["stages"] == ""
    calibrated = {r["recipe"]: r for r in as_dicts(calibration(found))}
    assert (calibrated["drgst-de"]["ECE"], calibrated["drgst-de"]["best"]) == ("10.00", "yes")
    assert calibrated["self-training"]["best"] == ""


def test_datasets_beside_table_3(cora: Any, as_dicts: Dicts) -> None:
    rows = {r["data set"]: r for r in as_dicts(datasets({"cora": statistics(cora)}))}
    assert rows["cora"]["nodes"] == "2,708"
    assert rows["cora"]["homophily"] == "0.81"
    assert rows["pubmed"]["nodes"] == ""
    assert "5,278" in [entry.text for row in datasets({"cora": statistics(cora)}).rows for entry in row]
