"""Tables: what they hold and how they are written."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from drgst.bench.results import Wanted, choose, read_runs
from drgst.bench.store import Store
from drgst.errors import SettingError
from drgst.report import tables_accuracy, tables_other
from drgst.report.paper import METHODS, main_table
from drgst.report.table import Column, Entry, Table, escape, render

TABLE = Table("Title", [Column("who", True), Column("how")], [[Entry("a_b"), Entry("1.5 ± 0.2", True)]], 1, ["A note."])


Row = Callable[..., dict[str, Any]]


@pytest.fixture
def cells(make_row: Row) -> Callable[..., Any]:
    """Ten draws of each recipe on Cora with 3 labels a class, the accuracy growing by 0.1 points a draw."""

    def make(**accuracies: float) -> Any:
        rows = [
            make_row(f"{recipe}{draw}", recipe=recipe.replace("_", "-"), draw=draw, test_accuracy=value + draw / 1000)
            for recipe, value in accuracies.items()
            for draw in range(10)
        ]
        return choose(rows, Wanted())

    return make


def as_dicts(table: Table) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(render(table, "csv"))))


def test_the_papers_table_is_whole() -> None:
    table = main_table()
    assert len(table) == 8 * 5 * 4
    assert table["cora", 3, "drgst-de"] == 73.43
    assert table["flickr", 20, "gcn"] == 51.74
    assert {recipe for _, _, recipe in table} == set(METHODS)


def test_main_shows_ours_beside_the_papers_and_leaves_the_rest_empty(cells: Callable[..., Any]) -> None:
    rows = as_dicts(tables_accuracy.main(cells(gcn=0.6455, drgst_de=0.7), "gcn"))
    by = {(r["data set"], r["labels"], r["recipe"]): r for r in rows}
    assert len(rows) == 8 * 4  # Cora only, every cell of the paper's
    gcn, best, empty = by["cora", "3", "gcn"], by["cora", "3", "drgst-de"], by["cora", "5", "gat"]
    assert gcn["ours"] == "65.00 ± 0.30"
    assert (gcn["paper"], gcn["difference"], gcn["against gcn"], gcn["best"]) == ("64.52", "+0.48", "", "")
    assert (best["against gcn"], best["p (Holm)"], best["draws"], best["best"]) == ("+5.45", "0.002", "10", "yes")
    assert best["95 % bootstrap"] == "+5.45 to +5.45"
    assert (empty["ours"], empty["difference"], empty["draws"], empty["paper"]) == ("", "", "", "69.45")


def test_holm_is_over_the_recipes_on_the_same_data_and_labels(cells: Callable[..., Any]) -> None:
    rows = as_dicts(tables_accuracy.main(cells(gcn=0.6, gat=0.7, appnp=0.7), "gcn"))
    assert {r["p (Holm)"] for r in rows if r["recipe"] in ("gat", "appnp") and r["ours"]} == {"0.004"}


def test_ablation_compares_with_the_whole(cells: Callable[..., Any]) -> None:
    found = cells(drgst_de=0.7, drgst_de_ig=0.69, drgst_de_wo=0.66, gcn=0.6)
    rows = as_dicts(tables_accuracy.ablation(found))
    assert [r["recipe"] for r in rows] == ["drgst-de", "drgst-de-ig", "drgst-de-lc", "drgst-de-wo"]
    assert [r["against the whole"] for r in rows] == ["", "-1.00", "", "-4.00"]


def test_few_draws_say_no_more_than_they_can(make_row: Row) -> None:
    rows = [make_row(f"{d}", draw=d, test_accuracy=value) for d, value in enumerate((0.2, 0.9))]
    rows += [make_row("c", recipe="drgst-de", draw=0, test_accuracy=0.3)]
    by = {(r["labels"], r["recipe"]): r for r in as_dicts(tables_accuracy.main(choose(rows, Wanted()), "gcn"))}
    assert by["3", "gcn"]["95 %"] == "0.0–100.0"  # Student's interval of two draws reaches beyond
    one = by["3", "drgst-de"]
    assert (one["ours"], one["95 %"], one["against gcn"]) == ("30.00", "", "+10.00")
    assert (one["95 % bootstrap"], one["p (Holm)"]) == ("", "")


def test_time_and_calibration(make_row: Row) -> None:
    rows = [make_row("a", recipe="self-training", seconds=2.0, epochs=100, ece=0.2)]
    rows += [make_row("b", recipe="drgst-de", seconds=5.0, epochs=200, ece=0.1, stages=2, peak_memory_mb=300.0)]
    found = choose(rows, Wanted())
    timed = {r["recipe"]: r for r in as_dicts(tables_other.time(found, "self-training"))}
    assert timed["drgst-de"]["times self-training"] == "2.50"
    assert timed["drgst-de"]["ms an epoch"] == "25.0"
    calibrated = {r["recipe"]: r for r in as_dicts(tables_other.calibration(found))}
    assert (calibrated["drgst-de"]["ECE"], calibrated["drgst-de"]["best"]) == ("10.00", "yes")
    assert calibrated["self-training"]["best"] == ""


def test_datasets_beside_table_3(cora: Any) -> None:
    from drgst.graph.stats import statistics

    rows = {r["data set"]: r for r in as_dicts(tables_other.datasets({"cora": statistics(cora)}))}
    assert rows["cora"]["nodes"] == "2,708"
    assert rows["cora"]["homophily"] == "0.81"
    assert rows["pubmed"]["nodes"] == ""
    assert "5,278" in render(tables_other.datasets({"cora": statistics(cora)}), "text")


def test_formats() -> None:
    assert "a_b  1.5 ± 0.2*" in render(TABLE, "text")
    assert "| a_b | **1.5 ± 0.2** |" in render(TABLE, "md")
    assert r"a\_b & \textbf{1.5 $\pm$ 0.2} \\" in render(TABLE, "latex")
    assert "a_b,1.5 ± 0.2,yes" in render(TABLE, "csv")
    with pytest.raises(SettingError, match="did you mean 'latex'"):
        render(TABLE, "latx")


def test_latex_escapes_everything_special() -> None:
    assert escape(r"50% & a_b #1 {x} \ ^~") == (
        r"50\% \& a\_b \#1 \{x\} \textbackslash{} \textasciicircum{}\textasciitilde{}"
    )


def test_a_table_of_twenty_thousand_rows(tmp_path: Path, make_row: Row) -> None:
    path = tmp_path / "big.db"
    with Store(path, create=True) as store, store.writing():
        for i in range(20_000):
            place = {"per_class": (3, 5, 10, 20)[i // 10 % 4], "recipe": f"r{i // 40 % 100}", "draw": i % 10}
            store.add(make_row(f"k{i}", **place, variant=f"v{i // 4000}" if i >= 4000 else "", stage_rows="x" * 1500))
    text = render(tables_accuracy.main(choose(read_runs(path), Wanted()), "r0"), "text")
    assert text.count("\n") > 400
