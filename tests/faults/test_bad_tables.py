"""Every bad table of the specification: one sentence that names the file and what is wrong."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import drgst
from drgst.errors import DrgstError

NODES = "id,label,f\na,x,1\nb,y,2\n"
EDGES = "source,target\na,b\n"

BAD_NODES = {
    "missing id": ("name,label\na,x\nb,y\n", r"nodes.csv: the column 'id' is missing \(found: name, label\)"),
    "duplicate ids": ("id,label\na,x\nb,y\na,x\n", "node id a occurs more than once"),
    "the same number twice": ("id,label\n1,x\n2,y\n1,x\n", "node id 1 occurs more than once"),
    "empty id": ("id,label\na,x\n,y\n", "node 2 has no id"),
    "negative id": ("id,label\n-3,x\n4,y\n", "node id -3 is negative"),
    "id too long": (f"id,label\n{'a' * 300},x\nb,y\n", "node 1 has an id of 300 characters"),
    "text feature": ("id,label,f\na,x,1\nb,y,tall\n", "row 2, column 'f' holds 'tall', not a number"),
    "NaN feature": ("id,label,f\na,x,1\nb,y,NaN\n", "row 2, column 'f' is empty or NaN"),
    "missing feature": ("id,label,f\na,x,1\nb,y,\n", "row 2, column 'f' is empty or NaN"),
    "infinite feature": ("id,label,f\na,x,1\nb,y,-inf\n", "feature of node b is NaN or infinite"),
    "feature too large": ("id,label,f\na,x,1\nb,y,1e300\n", "feature of node b is NaN or infinite"),
    "sparse text": ("id,label,features\na,x,1:2\nb,y,1:tall\n", "row 2, '1:tall' is not index:value"),
    "sparse negative index": ("id,label,features\na,x,-1:2\nb,y,\n", "row 1, '-1:2' is not index:value"),
    "sparse huge index": ("id,label,features\na,x,99999999999:2\nb,y,\n", "row 1, '99999999999:2' is not index:value"),
    "sparse NaN": ("id,label,features\na,x,1:nan\nb,y,\n", "feature of node a is NaN or infinite"),
    "sparse twice": ("id,label,features\na,x,1:2 1:3\nb,y,\n", "row 1 names feature 1 more than once"),
    "sparse too wide": ("id,label,features:2\na,x,5:2\nb,y,\n", "feature 5 is named, but the column"),
    "sparse width": ("id,label,features:many\na,x,5:2\nb,y,\n", "must be called features, or features: and their"),
    "both kinds": ("id,label,features,f\na,x,5:2,1\nb,y,,2\n", "beside 'features' there can be no column 'f'"),
    "no labels": ("id,label\na,\nb,\n", "all labels are missing"),
    "no label column": ("id,f\na,1\nb,2\n", "all labels are missing"),
    "labels of -1": ("id,label\na,-1\nb,-1\n", "all labels are missing"),
    "one class": ("id,label\na,x\nb,x\n", "one class only"),
    "negative label": ("id,label\na,-2\nb,1\n", "label -2 is not allowed"),
    "empty graph": ("id,label\n", "the graph is empty"),
    "empty file": ("", "nodes.csv is empty: a header with the column 'id' is needed"),
    "mixed width, short": ("id,label,f\na,x,1\nb,y\n", "nodes.csv: row 2 has 2 columns, but the header has 3"),
    "mixed width, long": ("id,label,f\na,x,1\nb,y,1,2\n", "nodes.csv: row 2 has 4 columns, but the header has 3"),
    "column twice": ("id,label,f,f\na,x,1,1\nb,y,2,2\n", "the column 'f' occurs more than once"),
    "strange split": ("id,label,split\na,x,train\nb,y,maybe\n", "column 'split' holds 'maybe'; train, val, test"),
    "cut in a quote": ('id,label\na,x\nb,"y', "nodes.csv is cut short or has a cell that is quoted on one side"),
}

BAD_EDGES = {
    "missing column": ("from,target\na,b\n", r"edges.csv: the column 'source' is missing \(found: from, target\)"),
    "unknown node": ("source,target\na,b\na,zoe\n", "edges.csv: row 2, target 'zoe' is not the id of a node"),
    "empty end": ("source,target\n,b\n", "row 1, source '' is not the id of a node"),
    "negative end": ("source,target\n-1,b\n", "row 1, source '-1' is not the id of a node"),
    "zero weight": ("source,target,weight\na,b,0\n", "edges.csv: row 1 has weight 0.0; weights are finite and above 0"),
    "negative weight": ("source,target,weight\na,b,-1.5\n", "row 1 has weight -1.5"),
    "infinite weight": ("source,target,weight\na,b,inf\n", "row 1 has weight inf"),
    "missing weight": ("source,target,weight\na,b,\n", "row 1, column 'weight' is empty or NaN"),
    "text weight": ("source,target,weight\na,b,big\n", "row 1, column 'weight' holds 'big', not a number"),
    "vanishing weight": ("source,target,weight\na,b,1e-300\n", "row 1 has weight 0.0"),
    "mixed width": ("source,target\na,b\na\n", "edges.csv: row 2 has 1 columns, but the header has 2"),
}


def write(folder: Path, nodes: str = NODES, edges: str = EDGES) -> Path:
    (folder / "nodes.csv").write_text(nodes, encoding="utf-8")
    (folder / "edges.csv").write_text(edges, encoding="utf-8")
    return folder


@pytest.mark.parametrize("case", BAD_NODES)
def test_bad_nodes(tmp_path: Path, case: str) -> None:
    text, message = BAD_NODES[case]
    with pytest.raises(DrgstError, match=message) as caught:
        drgst.open_graph(write(tmp_path, nodes=text, edges="source,target\n"))
    assert "nodes.csv" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("case", BAD_EDGES)
def test_bad_edges(tmp_path: Path, case: str) -> None:
    text, message = BAD_EDGES[case]
    with pytest.raises(DrgstError, match=message) as caught:
        drgst.open_graph(write(tmp_path, edges=text))
    assert "edges.csv" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_good_twin_of_all_these_loads(tmp_path: Path) -> None:
    graph = drgst.open_graph(write(tmp_path))
    assert (graph.num_nodes, graph.num_edges, graph.num_features) == (2, 1, 1)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"features": [[1.0], [1.0, 2.0]]}, "row 2 lists 2 features, but the first lists 1"),
        ({"features": [[1.0], None]}, "row 2 lists 0 features"),
        ({"features": [["a"], ["b"]]}, "not lists of numbers"),
        ({"features": [[1.0], [float("nan")]]}, "NaN or infinite"),
        ({"f": ["1", "2"]}, "column 'f' holds string, not numbers"),
        ({"f": [1.0, None]}, "row 2, column 'f' is empty"),
        ({"id": [1.5, None]}, "node 2 has no id"),
    ],
)
def test_bad_parquet(tmp_path: Path, columns: dict[str, list[object]], message: str) -> None:
    table = pa.table({"id": ["a", "b"], "label": ["x", "y"]} | columns)
    pq.write_table(table, tmp_path / "nodes.parquet")
    (tmp_path / "edges.csv").write_text("source,target\n")
    with pytest.raises(DrgstError, match=f"nodes.parquet.*{message}"):
        drgst.open_graph(tmp_path)


def test_a_parquet_file_cut_short(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": ["a", "b"], "label": ["x", "y"]}), tmp_path / "nodes.parquet")
    (tmp_path / "edges.csv").write_text("source,target\n")
    whole = (tmp_path / "nodes.parquet").read_bytes()
    for size in (0, 3, len(whole) // 2, len(whole) - 1):
        (tmp_path / "nodes.parquet").write_bytes(whole[:size])
        with pytest.raises(DrgstError, match=r"nodes.parquet"):
            drgst.open_graph(tmp_path)


def test_a_file_that_is_not_utf8(tmp_path: Path) -> None:
    (write(tmp_path) / "nodes.csv").write_bytes("id,label\nä,x\nb,y\n".encode("latin1"))
    with pytest.raises(DrgstError, match=r"nodes.csv can't be read"):
        drgst.open_graph(tmp_path)
