"""Random bytes as tables: they load, or the error says why."""

import csv
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import drgst
from drgst.errors import DrgstError
from drgst.graph.core import Graph

SETTINGS = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])

WORDS = st.sampled_from(
    ["", "a", "b", "c", "0", "1", "2", "-1", "1.0", "nan", "inf", "-inf", "1e999", "3:1", "3:x", "0 2:0.5", "train"]
)
CELLS = st.one_of(WORDS, WORDS, st.text(max_size=6))
COLUMNS = st.sampled_from(["id", "label", "split", "split:b", "features", "features:4", "f", "g", "weight", "x"])


def attempt(nodes: bytes, edges: bytes, suffix: str = "csv") -> Graph | None:
    """Load the two files; only a DrgstError may come out."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / f"nodes.{suffix}").write_bytes(nodes)
        (folder / "edges.csv").write_bytes(edges)
        try:
            graph = drgst.open_graph(folder)
        except DrgstError:
            return None
        assert graph.num_nodes > 0
        assert graph.num_classes >= 2
        return graph


@st.composite
def tables(draw: st.DrawFn, names: list[str]) -> bytes:
    header = names + draw(st.lists(COLUMNS, max_size=3))
    rows = draw(st.lists(st.lists(CELLS, min_size=len(header), max_size=len(header)), max_size=6))
    return as_csv([header, *rows])


def as_csv(rows: list[list[str]]) -> bytes:
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace", newline="") as handle:
        csv.writer(handle).writerows([cell.replace("\0", "") for cell in row] for row in rows)
        handle.seek(0)
        return handle.read().encode()


@SETTINGS
@given(nodes=tables(["id", "label"]), edges=tables(["source", "target"]))
def test_well_formed_tables_of_strange_cells(nodes: bytes, edges: bytes) -> None:
    attempt(nodes, edges)


ANYTHING = st.one_of(
    st.lists(st.integers(-5, 5) | st.none(), min_size=3, max_size=3),
    st.lists(st.floats() | st.none(), min_size=3, max_size=3),
    st.lists(WORDS | st.none(), min_size=3, max_size=3),
    st.lists(st.booleans(), min_size=3, max_size=3),
    st.lists(st.binary(max_size=3), min_size=3, max_size=3),
    st.lists(st.dates(), min_size=3, max_size=3),
    st.lists(st.lists(st.floats(width=32), max_size=2) | st.none(), min_size=3, max_size=3),
)


@SETTINGS
@given(columns=st.dictionaries(COLUMNS, ANYTHING, min_size=1, max_size=5))
def test_parquet_of_any_type(columns: dict[str, list[Any]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        pq.write_table(pa.table(columns), Path(name) / "t.parquet")
        attempt((Path(name) / "t.parquet").read_bytes(), b"source,target\n", "parquet")


@SETTINGS
@given(
    names=st.lists(
        st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8), min_size=2, max_size=6
    ),
    data=st.data(),
)
def test_honest_tables_load(names: list[str], data: st.DataObject) -> None:
    """The other side of the promise: distinct names, two classes and edges between known nodes do load."""
    ids = sorted({f"n{name.strip()}" for name in names})
    ids = ids if len(ids) > 1 else [*ids, "other"]
    labels = ["x", "y", *data.draw(st.lists(st.sampled_from(["x", "y", ""]), min_size=len(ids), max_size=len(ids)))]
    values = data.draw(
        st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=len(ids), max_size=len(ids))
    )
    pairs = data.draw(st.lists(st.tuples(st.sampled_from(ids), st.sampled_from(ids)), max_size=6))
    rows = [[i, label, repr(value)] for i, label, value in zip(ids, labels, values, strict=False)]
    graph = attempt(as_csv([["id", "label", "f"], *rows]), as_csv([["source", "target"], *[list(p) for p in pairs]]))
    assert graph.node_ids.tolist() == ids
    assert graph.features[:, 0].tolist() == values
    assert graph.num_edges == len({frozenset(p) for p in pairs if p[0] != p[1]})
