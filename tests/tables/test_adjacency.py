"""Aggregation of edge rows, and node columns from edges."""

from __future__ import annotations

import numpy as np
import pytest

from drgst.tables.adjacency import edge_notes, mean_weight, merged_adjacency, node_columns, undirected
from drgst.tables.options import Aggregate
from drgst.tables.relations import Relation

# rows: 0 -> 1 with 2 and 5, 1 -> 0 with 3, 2 -> 1 with 4
PAYMENTS = Relation(
    "pay",
    np.array([0, 0, 1, 2]),
    np.array([1, 1, 0, 1]),
    np.array([2.0, 5.0, 3.0, 4.0]),
    np.array([9.0, 1.0, 5.0, 2.0]),
    {"amount": np.array([2.0, 5.0, np.nan, 4.0])},
)


@pytest.mark.parametrize(("how", "weights"), [("sum", [10, 4]), ("count", [3, 1]), ("max", [5, 4]), ("last", [2, 4])])
def test_rows_of_both_directions_are_one_edge(how: Aggregate, weights: list[float]) -> None:
    upper, both_ways = undirected(PAYMENTS, how, 3)
    assert [upper[0, 1], upper[1, 2], upper.nnz, both_ways] == [*weights, 2, False]
    assert edge_notes(4, 2, both_ways, how, "pay.csv") == [f"2 repeated or returning edges merged ({how})"]


@pytest.mark.parametrize("how", ["sum", "count", "max", "last"])
def test_a_table_that_lists_every_edge_in_both_directions_counts_once(how: Aggregate) -> None:
    ends = np.array([0, 1, 1, 2]), np.array([1, 0, 2, 1])
    twice = Relation("friends", *ends, np.array([2.0, 2.0, 3.0, 3.0]), np.zeros(4), {})
    upper, both_ways = undirected(twice, how, 3)
    assert both_ways
    assert [upper[0, 1], upper[1, 2], upper.nnz] == ([1, 1, 2] if how == "count" else [2, 3, 2])
    assert "one direction counts" in edge_notes(4, 2, both_ways, how, "friends.csv")[0]


def test_relations_are_added_in_units_of_their_mean() -> None:
    calls = Relation("call", np.array([0]), np.array([2]), None, np.zeros(1), {})
    uppers = {relation.name: undirected(relation, "sum", 3)[0] for relation in (PAYMENTS, calls)}
    units = {name: mean_weight(upper) for name, upper in uppers.items()}
    assert units == {"pay": 7.0, "call": 1.0}
    both = merged_adjacency(uppers, units, 3)
    np.testing.assert_allclose(both.toarray(), [[0, 10 / 7, 1], [10 / 7, 0, 4 / 7], [1, 4 / 7, 0]], rtol=1e-6)


def test_node_columns() -> None:
    found = {name: x.tolist() for name, x in node_columns(PAYMENTS, 3).items()}
    assert found == {
        "pay out: rows": [2, 1, 1],
        "pay out: partners": [1, 1, 1],
        "pay out: amount sum": [7, 0, 4],
        "pay out: amount mean": [3.5, 0, 4],
        "pay in: rows": [1, 3, 0],
        "pay in: partners": [1, 2, 0],
        "pay in: amount sum": [0, 11, 0],
        "pay in: amount mean": [0, 11 / 3, 0],
    }
