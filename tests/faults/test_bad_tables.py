"""Every bad table of the specification: one sentence that names the file and what is wrong."""

import gzip
import io
import os
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import drgst
from drgst.errors import DrgstError

NODES = "id,label,f\na,x,1\nb,y,2\n"
EDGES = "source,target\na,b\n"

BAD_NODES = {
    "missing id": ("name,label\na,x\nb,y\n", r"nodes.csv: unknown column 'id' \(known: label, name\)"),
    "duplicate ids": ("id,label\na,x\nb,y\na,x\n", "line 4, column 'id': the id 'a' occurs again, first in line 2"),
    "the same number twice": ("id,label\n1,x\n2,y\n1.0,x\n", "line 4, column 'id': the id '1' occurs again"),
    "empty id": ("id,label\na,x\n,y\n", "line 3, column 'id': the id is empty"),
    "negative id": ("id,label\n-3,x\n4,y\n", "line 2, column 'id': the id '-3' is negative"),
    "id too long": (f"id,label\n{'a' * 300},x\nb,y\n", "line 2, column 'id': the id has 300 characters"),
    "id with a zero byte": ("id,label\na,x\n" + "b,y\n" * 20_000 + "c\0,y\n", "line 20003, .*'id': .* zero byte"),
    "sparse text": ("id,label,features\na,x,1:2\nb,y,1:tall\n", "line 3, .*: '1:tall' is not index:value pairs"),
    "sparse negative index": ("id,label,features\na,x,-1:2\nb,y,\n", "line 2, .*: '-1:2' is not index:value"),
    "sparse huge index": ("id,label,features\na,x,99999999999:2\nb,y,\n", "'99999999999:2' is not index:value"),
    "sparse NaN": ("id,label,features\na,x,1:nan\nb,y,\n", "'1:nan' is not index:value"),
    "sparse twice": ("id,label,features\na,x,1:2 1:3\nb,y,\n", "'1:2 1:3' is not index:value"),
    "sparse too wide": ("id,label,features:2\na,x,5:2\nb,y,\n", "'5:2' is not index:value"),
    "sparse width": ("id,label,features:many\na,x,5:2\nb,y,\n", "must be called features, or features: and their"),
    "both kinds": ("id,label,features,f\na,x,5:2,1\nb,y,,2\n", "column 'f': there can't be another column of features"),
    "no labels": ("id,label\na,\nb,\n", "nodes.csv, column 'label': no node has a label: .*; drgst suggest"),
    "no label column": ("id,age\na,1\nb,2\n", "nodes.csv, column 'label': no node has a label: .*; drgst suggest"),
    "misspelt label column": ("id,Label\na,x\nb,y\n", "unknown column 'label'; did you mean 'Label'"),
    "labels of -1": ("id,label\na,-1\nb,-1\n", "no node has a label"),
    "one class": ("id,label\na,x\nb,x\n", "only one class has a label"),
    "negative label": ("id,label\na,-2\nb,1\n", "label -2 is not allowed"),
    "empty graph": ("id,label\n", "nodes.csv: has no rows below its header"),
    "header without line end": ("id,label", "nodes.csv: has no rows below its header"),
    "empty file": ("", "nodes.csv: is empty: a header line with column names is needed"),
    "mixed width, short": ("id,label,f\na,x,1\nb,y\n", "line 3: has 2 cells, but the header has 3"),
    "mixed width, long": ("id,label,f\na,x,1\nb,y,1,2\n", "line 3: has 4 cells, but the header has 3"),
    "mixed width after a long cell": (f"id,label,f\na,x,{'1' * 140_000}\nb,y\n", "line 3: has 2 cells"),
    "column twice": ("id,label,f,f\na,x,1,1\nb,y,2,2\n", "line 1, column 'f': 2 columns have this name"),
    "strange split": ("id,label,split\na,x,train\nb,y,maybe\n", "line 3, column 'split': 'maybe' is not a part of"),
    "cut in a quote": ('id,label\na,x\nb,"y', "line 3: a quoted cell starts here and never ends"),
}

BAD_EDGES = {
    "missing column": ("from,target\na,b\n", r"edges.csv: unknown column 'source' \(known: from, target\)"),
    "unknown node": ("source,target\na,b\na,zoe\n", "line 3, column 'target': 'zoe' is not the id of a node"),
    "empty end": ("source,target\n,b\n", "line 2, column 'source': the end of the edge is empty"),
    "negative end": ("source,target\n-1,b\n", "line 2, column 'source': '-1' is not the id of a node"),
    "negative weight": ("source,target,weight\na,b,-1.5\n", "line 2, column 'weight': the weight '-1.5' is negative"),
    "infinite weight": ("source,target,weight\na,b,inf\n", "the weight 'inf' is not a number"),
    "text weight": ("source,target,weight\na,b,big\n", "the weight 'big' is not a number"),
    "mixed width": ("source,target\na,b\na\n", "edges.csv, line 3: has 1 cell, but the header has 2"),
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
        ({"features": [[1.0], [1.0, 2.0]]}, r"row 2, column 'features': '\[1.0, 2.0\]' is not"),
        ({"features": [[1.0], None]}, "row 2, column 'features': 'None' is not"),
        ({"features": [["a"], ["b"]]}, "not lists of numbers"),
        ({"features": [[1.0], [float("nan")]]}, "row 2, column 'features'"),
        ({"id": [1.5, None]}, "row 2, column 'id': the id is empty"),
        ({"label": [["x"], ["y"]]}, "the column 'label' holds list<"),
        ({"f": pa.array([0, 1], pa.timestamp("us", "No/Such_Zone"))}, "column 'f': a cell can't be read"),
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


def test_a_file_that_is_not_utf8_is_read_as_windows_1252(tmp_path: Path) -> None:
    (write(tmp_path) / "nodes.csv").write_bytes("id,label,f\na,ä,1\nb,y,2\n".encode("latin1"))
    graph = drgst.open_graph(tmp_path)
    assert graph.class_names == ("y", "ä")
    assert graph.notes[0] == "nodes.csv is not UTF-8; it was read as cp1252"


def test_pipes_devices_and_folders_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "folder.csv").mkdir()
    for path in (tmp_path / "pipe.csv", Path("/dev/zero"), tmp_path / "folder.csv"):
        (fault,) = drgst.check_tables(path, label="y")
        assert "can't be read" in str(fault)


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(NODES.encode())))
    assert drgst.from_tables("-", label="label").graph.node_ids.tolist() == ["a", "b"]


BOMBS = {
    "csv": b"id,label\n" + b"1,a\n" * (1 << 20),
    "parquet": pa.table({"id": pa.nulls(1 << 20, pa.int64()), "label": pa.nulls(1 << 20, pa.int64())}),
    "a long list.parquet": pa.table({"id": [1], "label": ["a"], "features": [[0.0] * (1 << 20)]}),
    "a long text.parquet": pa.table({"id": [1], "label": ["a"], "f": ["a" * (1 << 21)]}),
}


@pytest.mark.parametrize("kind", BOMBS)
def test_a_small_file_that_unpacks_to_more_than_the_memory_is_refused(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, bomb = tmp_path / f"nodes.{kind.rpartition('.')[2]}", BOMBS[kind]
    if isinstance(bomb, bytes):
        path.write_bytes(gzip.compress(bomb))
    else:
        pq.write_table(bomb, path)
    assert path.stat().st_size < 2 * 10**5
    for place in ("drgst.memory", "drgst.tables.text_file"):
        monkeypatch.setattr(f"{place}.available_memory", lambda: 1 << 20)
    with pytest.raises(DrgstError, match=f"{path.name}: unpacked, it would need .* but 1.0 MB are available"):
        drgst.from_tables(path, label="label")


def test_parquet_without_rows(tmp_path: Path) -> None:
    none = pa.array([], pa.string())
    pq.write_table(pa.table({"id": none, "label": none}), tmp_path / "nodes.parquet")
    (tmp_path / "edges.csv").write_text("source,target\n")
    with pytest.raises(DrgstError, match=r"nodes.parquet: has no rows below its header"):
        drgst.open_graph(tmp_path)


def test_too_much_text_in_a_column(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("drgst.tables.cells.MOST_TEXT", 1 << 20)
    table = pa.table({"id": ["a", "b"], "label": ["x", "y"], "f": ["a" * (1 << 20), "b"]})
    (fault,) = drgst.check_tables(table, label="label")
    assert "column 'f': its distinct texts take 1 MB; 1 MB are allowed" in str(fault)


def test_a_table_of_too_many_columns_is_refused_at_once() -> None:
    table = pa.table({"id": [1, 2], "label": ["a", "b"]} | {f"c{k}": [1, 2] for k in range(1 << 15)})
    assert "nodes: has 32,770 columns; 32,768 are allowed" in str(drgst.check_tables(table, label="label")[0])


@pytest.mark.slow
def test_wide_tables_are_read_in_seconds(tmp_path: Path) -> None:
    columns = {f"c{j}": [f"K{(j + i) % 9}-{i % 7}" for i in range(400)] for j in range(10_000)}
    nodes = pa.table({"id": list(range(400)), "label": ["a", "b"] * 200} | columns)
    start = time.process_time()
    assert drgst.from_tables(nodes, label="label").graph.num_nodes == 400
    assert time.process_time() - start < 20
