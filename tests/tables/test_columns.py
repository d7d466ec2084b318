"""Roles of columns by option, name and content; edge rows as an adjacency and as node columns."""

import numpy as np
import pyarrow as pa
import pytest

from drgst.tables.cells import Cells, read_cells
from drgst.tables.columns import find_id, find_relation
from drgst.tables.options import Aggregate, TableOptions
from drgst.tables.relations import edge_notes, likely_cause
from drgst.tables.source import Table, read_table
from drgst.transforms.edges import EdgeRows, mean_weight, merged_adjacency, node_columns, undirected


def opened(**columns: list[object]) -> Table:
    return read_table(Table("edges.csv", pa.table(columns)))


IDS = ["a1", "a2", "a3", "a4"]
NODES = opened(row=[7, 8, 9, 10], account=IDS, email=["w@x", "x@x", "y@x", "z@x"], label=["u", "v", None, None])


@pytest.mark.parametrize(
    ("columns", "ends"),
    [
        ({"src": ["a1"], "dst": ["a2"]}, ("src", "dst")),
        ({"when": ["2024-01-01"], "to_account": ["a1"], "from_account": ["a2"]}, ("from_account", "to_account")),
        ({"senderId": ["a1"], "receiverId": ["a2"], "x": [1]}, ("senderId", "receiverId")),
        ({"n": [1, 2], "alice": ["a1", "a2"], "bob": ["a2", "a3"]}, ("alice", "bob")),
        ({"p": ["q"], "r": ["s"]}, ("p", "r")),
    ],
)
def test_ends_of_edges(columns: dict[str, list[object]], ends: tuple[str, str]) -> None:
    found, faults = find_relation("pay", opened(**columns), TableOptions(), set(IDS))
    assert not faults
    assert found is not None
    assert (found.source, found.target) == ends


def test_time_and_amounts_are_found_and_options_come_first() -> None:
    edges = opened(
        a=["a1", "a2"], b=["a2", "a3"], amount=["1.5", "2.5"], fee=["0.1", "0.2"], when=["2024-01-01", "2024-01-02"],
        tx_id=[17, 4], kind=["card", "cash"],
    )  # fmt: skip
    found, _ = find_relation("pay", edges, TableOptions(weight="amount", drop=("fee",)), set(IDS))
    assert found is not None
    assert found.model_dump() == {
        **{"name": "pay", "source": "a", "target": "b", "weight": "amount", "time": "when", "unit": 1.0},
        "amounts": ("amount",),
    }
    _, faults = find_relation("pay", edges, TableOptions(source="a", target="a", time="wen"), set(IDS))
    assert [fault.option for fault in faults] == ["time", "target"]
    assert "did you mean 'when'" in str(faults[0])


def test_the_id_column() -> None:
    edges = [{"x": cells_of("a1", "a4"), "y": cells_of("a2", "a3")}]
    assert find_id(TableOptions(label="label"), NODES.cells, edges) == "account"
    assert find_id(TableOptions(label="label"), NODES.cells, []) == "row"
    assert find_id(TableOptions(label="label", id="email"), NODES.cells, edges) == "email"
    named = opened(id=["x", "x"], account=["a1", "a2"])
    assert find_id(TableOptions(), named.cells, edges) == "id"  # repeated ids are a fault, not another column
    assert find_id(TableOptions(), opened(city=["x", "x"]).cells, edges) is None


def cells_of(*texts: str) -> Cells:
    found = read_cells(pa.chunked_array([pa.array(texts, pa.string())]))
    assert found is not None
    return found


def test_whole_numbers_saved_as_decimals_are_whole_numbers() -> None:
    assert cells_of("7.0", "8", "9.00").ids == ["7", "8", "9"]
    assert cells_of("7.0", "x").ids == ["7.0", "x"]
    assert cells_of("7.5", "8").ids == ["7.5", "8"]


@pytest.mark.parametrize(
    ("unknown", "ids", "cause"),
    [
        (["0", "1"], {"0.0", "1.0"}, "end in '.0'"),
        (["ANN"], {"ann", "bob"}, "upper and lower case"),
        (["7"], {"007", "008"}, "leading zeros"),
        (["'7'"], {"7"}, "quotes or blanks"),
        (["A7", "A8"], {"7", "8"}, "letters before the number"),
        (["zoe"], {"ann", "bob"}, ""),
    ],
)
def test_likely_cause(unknown: list[str], ids: set[str], cause: str) -> None:
    found = likely_cause(unknown, ids)
    assert cause in found
    assert bool(found) == bool(cause)


# rows: 0 -> 1 with 2 and 5, 1 -> 0 with 3, 2 -> 1 with 4
PAYMENTS = EdgeRows(
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
    twice = EdgeRows("friends", *ends, np.array([2.0, 2.0, 3.0, 3.0]), np.zeros(4), {})
    upper, both_ways = undirected(twice, how, 3)
    assert both_ways
    assert [upper[0, 1], upper[1, 2], upper.nnz] == ([1, 1, 2] if how == "count" else [2, 3, 2])
    assert "one direction counts" in edge_notes(4, 2, both_ways, how, "friends.csv")[0]


def test_relations_are_added_in_units_of_their_mean() -> None:
    calls = EdgeRows("call", np.array([0]), np.array([2]), None, np.zeros(1), {})
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
