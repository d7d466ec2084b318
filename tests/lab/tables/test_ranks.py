"""Mean ranks over graphs, on figures worked out by hand."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from drgst.errors import StoreError
from drgst.lab.tables.layout import ResultTable
from drgst.lab.tables.ranks import mean_ranks
from drgst.lab.tables.runs import make_table

Cells = Callable[[dict[tuple[str, int, str], list[float]]], Any]
Dicts = Callable[[ResultTable], list[dict[str, str]]]


def test_ranks_are_averaged_over_labels_then_over_graphs() -> None:
    """Graph a has two label counts and counts once; the critical difference of 4 methods on 9 graphs is 1.563."""
    accuracy = np.array([[0.9, 0.8, 0.7], [0.9, 0.7, 0.8], [0.5, 0.5, 0.6]])
    ranks, difference, _ = mean_ranks(accuracy, ["a", "a", "b"])
    assert ranks.tolist() == [(1 + 2.5) / 2, (2.5 + 2.5) / 2, (2.5 + 1) / 2]
    assert difference == pytest.approx(3.314493 / 2**0.5 * (3 * 4 / 12) ** 0.5, rel=1e-5)
    assert mean_ranks(np.random.default_rng(0).random((9, 4)), list("abcdefghi"))[1] == pytest.approx(1.563, abs=1e-3)


def test_a_recipe_on_few_graphs_is_left_out_and_the_others_share_their_cells(cells: Cells, as_dicts: Dicts) -> None:
    found = {(graph, 3, "gcn"): [0.6, 0.62] for graph in ("a", "b", "c", "d")}
    found |= {(graph, 3, "drgst-plus"): [0.7] for graph in ("a", "b", "c")} | {("a", 3, "sts"): [0.9]}
    table = make_table("ranks", cells(found))
    first, second = as_dicts(table)
    assert (first["recipe"], first["mean rank"], first["accuracy"]) == ("drgst-plus", "1.00", "70.0")
    assert (second["recipe"], second["mean rank"], second["accuracy"]) == ("gcn", "2.00", "61.0")
    assert any("3 cells of 3 data sets" in note for note in table.notes)
    assert "Run on fewer than half of the cells and left out: sts." in table.notes
    with pytest.raises(StoreError, match="two recipes or more"):
        make_table("ranks", cells({("a", 3, "gcn"): [0.6], ("b", 3, "gcn"): [0.6]}))


def test_one_row_per_graph_and_one_column_per_recipe(cells: Cells, as_dicts: Dicts) -> None:
    found = {("b", 3, "gcn"): [0.6], ("a", 10, "gcn"): [0.5], ("a", 10, "drgst-plus"): [0.75], ("a", 3, "gcn"): [0.4]}
    table = make_table("graphs", cells(found))
    rows = [(r["data set"], r["labels per class"], r["gcn"], r["drgst-plus"], r["best"]) for r in as_dicts(table)]
    assert rows == [("a", "3", "40.0", "–", ""), ("a", "10", "50.0", "75.0", "yes"), ("b", "3", "60.0", "–", "")]
    assert table.notes[-1] == "Draws per cell: gcn 1, drgst-plus 1."
