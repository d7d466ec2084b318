"""Roles of columns by option, name and content."""

from __future__ import annotations

import pyarrow as pa
import pytest

from drgst.tables.cells import Cells, read_cells
from drgst.tables.options import TableOptions
from drgst.tables.relations import likely_cause
from drgst.tables.roles import find_id, find_relation, id_texts
from drgst.tables.source import Table


def opened(**columns: list[object]) -> Table:
    return Table("edges.csv", pa.table(columns)).read()


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
    assert id_texts(cells_of("7.0", "8", "9.00")) == ["7", "8", "9"]
    assert id_texts(cells_of("7.0", "x")) == ["7.0", "x"]
    assert id_texts(cells_of("7.5", "8")) == ["7.5", "8"]


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
