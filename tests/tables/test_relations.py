"""Aggregation of edge rows, and node columns from edges."""

from __future__ import annotations

import numpy as np
import pytest

from drgst.tables.options import Aggregate
from drgst.tables.relations import Relation, mean_weight, merged_adjacency, node_columns

# rows: 0 -> 1 with 2 and 5, 1 -> 0 with 3, 2 -> 1 with 4
PAYMENTS = Relation(
    "pay",
    np.array([0, 0, 1, 2]),
    np.array([1, 1, 0, 1]),
    np.array([2.0, 5.0, 3.0, 4.0]),
    np.array([9.0, 1.0, 5.0, 2.0]),
    {"amount": np.array([2.0, 5.0, np.nan, 4.0])},
)


@pytest.mark.parametrize(
    ("how", "directed", "undirected"),
    [
        ("sum", [7, 3, 4], [10, 4]),
        ("count", [2, 1, 1], [3, 1]),
        ("max", [5, 3, 4], [5, 4]),
        ("last", [2, 3, 4], [2, 4]),
    ],
)
def test_aggregation(how: Aggregate, directed: list[float], undirected: list[float]) -> None:
    one_way = PAYMENTS.adjacency(how, 3).toarray()
    assert [one_way[0, 1], one_way[1, 0], one_way[2, 1]] == directed
    assert np.count_nonzero(one_way) == 3
    both, notes = merged_adjacency([PAYMENTS], how, 3, {"pay": 1.0})
    assert [both[0, 1], both[1, 2]] == undirected
    assert (both != both.T).nnz == 0
    assert notes == [f"2 repeated or returning edges merged ({how})"]


def test_relations_are_added_in_units_of_their_mean() -> None:
    calls = Relation("call", np.array([0]), np.array([2]), None, np.zeros(1), {})
    units = {relation.name: mean_weight(relation, "sum", 3) for relation in (PAYMENTS, calls)}
    assert units == {"pay": 7.0, "call": 1.0}
    both, _ = merged_adjacency([PAYMENTS, calls], "sum", 3, units)
    np.testing.assert_allclose(both.toarray(), [[0, 10 / 7, 1], [10 / 7, 0, 4 / 7], [1, 4 / 7, 0]], rtol=1e-6)


def test_edges_of_weight_0_are_dropped() -> None:
    free = Relation("free", np.array([0, 1]), np.array([1, 2]), np.array([0.0, 1.0]), np.zeros(2), {})
    both, notes = merged_adjacency([free], "sum", 3, {"free": 1.0})
    assert both.nnz == 2
    assert notes == ["1 edge of weight 0 dropped"]


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
