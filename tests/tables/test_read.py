"""Graphs as two tables, written by hand and by drgst."""

from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

import drgst
from drgst.errors import DataFileError
from drgst.graph.core import Graph, make_graph
from drgst.graph.split import Split
from drgst.io.folder import build_graph_folder
from drgst.tables.read import open_tables

PEOPLE = """\
id,label,split,age,"likes, tea"
ann,cats,train,31,1
bob,dogs,train,4.5e1,0
"cy, jr",cats,val,27,1
dora,,,60,0
eve,dogs,test,38,0
"""
FRIENDS = """\
source,target,weight,since
ann,bob,1,2001
bob,"cy, jr",0.5,2002
bob,ann,2,2003
eve,eve,1,2004
"""


def write(folder: Path, nodes: str = PEOPLE, edges: str = FRIENDS) -> Path:
    (folder / "nodes.csv").write_text(nodes, encoding="utf-8")
    (folder / "edges.csv").write_text(edges, encoding="utf-8")
    return folder


def test_a_graph_written_by_hand(tmp_path: Path) -> None:
    graph = drgst.read_tables(write(tmp_path))
    assert graph.node_ids.tolist() == ["ann", "bob", "cy, jr", "dora", "eve"]
    assert graph.class_names == ("cats", "dogs")
    assert graph.labels.tolist() == [0, 1, 0, -1, 1]
    assert graph.features.tolist() == [[31, 1], [45, 0], [27, 1], [60, 0], [38, 0]]
    assert graph.adjacency[0, 1] == graph.adjacency[1, 0] == 3  # the sum of both directions
    assert graph.adjacency[1, 2] == 0.5
    assert graph.degrees.tolist() == [1, 2, 1, 0, 0]  # isolated nodes stay
    assert [p.tolist() for p in (graph.split.train, graph.split.val, graph.split.test)] == [[0, 1], [2], [4]]
    assert graph.split.pool.tolist() == [3]
    assert graph.name == tmp_path.name
    for word in ("column 'since' not used", "1 self-loop dropped", "1 repeated or returning edge merged (sum)"):
        assert any(word in note for note in graph.notes)


def test_numbers_as_ids_and_labels(tmp_path: Path) -> None:
    graph = drgst.read_tables(write(tmp_path, "id,label\n10,3\n7,-1\n2,12.0\n5,\n", "source,target\n7,10\n"))
    assert graph.node_ids.tolist() == [10, 7, 2, 5]
    assert graph.node_ids.dtype == np.int64
    assert graph.class_names == ("3", "12")
    assert graph.labels.tolist() == [0, -1, 1, -1]
    assert graph.num_features == 0
    assert graph.splits == ()
    assert graph.adjacency[0, 1] == 1


def test_ids_with_leading_zeros_are_names(tmp_path: Path) -> None:
    graph = drgst.read_tables(write(tmp_path, "id,label\n007,a\n7,b\n", "source,target\n007,7\n"))
    assert graph.node_ids.tolist() == ["007", "7"]
    assert graph.num_edges == 1


def test_parquet_with_lists_and_two_files_named(tmp_path: Path) -> None:
    nodes = pa.table({"id": [1, 2, 3], "label": ["x", None, "y"], "features": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]})
    pq.write_table(nodes, tmp_path / "my_nodes.parquet")
    (tmp_path / "my_edges.csv").write_text("source,target\n1,3\n")
    graph = drgst.read_tables(tmp_path / "my_nodes.parquet", tmp_path / "my_edges.csv", name="mine")
    assert graph.name == "mine"
    assert graph.features.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert graph.adjacency[0, 2] == 1
    assert graph.labels.tolist() == [0, -1, 1]


def test_as_many_lists_as_classes(tmp_path: Path) -> None:
    nodes = pa.table({"id": [1, 2], "label": ["x", "y"], "features": [[1.0, 2.0], [3.0, 4.0]]})
    pq.write_table(nodes, tmp_path / "nodes.parquet")
    (tmp_path / "edges.csv").write_text("source,target\n1,2\n")
    assert drgst.read_tables(tmp_path).features.tolist() == [[1, 2], [3, 4]]


def graphs() -> list[Graph]:
    rng = np.random.default_rng(0)
    weights = np.triu(rng.random((6, 6)) * (rng.random((6, 6)) < 0.5), k=1)
    dense = rng.normal(size=(6, 3)).astype(np.float32)
    sparse = sp.csr_array(np.where(rng.random((6, 4)) < 0.4, rng.normal(size=(6, 4)), 0))
    splits = [Split.of([0, 1], [2], [3], 6, name="split"), Split.of([3, 4], [], [0], 6, name="b")]
    ids = ["a", "b,c", 'd"e', "f g", "ü", "x\ny"]
    common = {"adjacency": weights + weights.T, "labels": [0, 1, 2, 0, -1, 1]}
    return [
        make_graph(dense, **common, class_names=["a", "b", "z"], node_ids=ids, splits=splits),
        make_graph(sparse, **common),
        make_graph(None, **common),
    ]


@pytest.mark.parametrize("format", ["csv", "parquet"])
@pytest.mark.parametrize("graph", graphs(), ids=["dense", "sparse", "bare"])
def test_tables_come_back(tmp_path: Path, graph: Graph, format: Literal["csv", "parquet"]) -> None:  # noqa: A002
    drgst.write_tables(graph, tmp_path / "out", format)
    again = drgst.read_tables(tmp_path / "out")
    assert type(again.features) is type(graph.features)
    assert again.features.shape == graph.features.shape
    assert np.abs(again.features - graph.features).max() == 0 if graph.num_features else True
    assert (again.adjacency != graph.adjacency).nnz == 0
    assert np.array_equal(again.labels, graph.labels)
    assert again.class_names == graph.class_names
    assert np.array_equal(again.node_ids, graph.node_ids)
    for mine, theirs in zip(graph.splits, again.splits, strict=True):
        assert mine.name == theirs.name
        for part in ("train", "val", "test", "pool"):
            assert np.array_equal(getattr(mine, part), getattr(theirs, part))


def test_names_that_look_like_formulas_are_inert_in_the_file_and_come_back(tmp_path: Path) -> None:
    names, ids = ("=1+1", "'@x"), np.array(["-a", "+b", "'=c", "d"])
    graph = make_graph(None, np.ones((4, 4)), [0, 1, 0, -1], class_names=names, node_ids=ids)
    drgst.write_tables(graph, tmp_path / "out")
    text = (tmp_path / "out" / "nodes.csv").read_text()
    assert [line.split(",")[0] for line in text.splitlines()[1:]] == ['"\'-a"', '"\'+b"', "\"''=c\"", '"d"']
    again = drgst.read_tables(tmp_path / "out")
    assert again.node_ids.tolist() == ids.tolist()
    assert set(again.class_names) == set(names)
    assert (again.adjacency != graph.adjacency).nnz == 0


def test_categories_that_no_row_has_are_neither_classes_nor_faults() -> None:
    nodes = pa.table({"id": ["a", "b"], "label": pa.array(["x", "y", "gone"]).dictionary_encode().slice(0, 2)})
    edges = pa.table({"source": pa.array(["a", "gone"]).dictionary_encode().slice(0, 1), "target": ["b"]})
    graph = drgst.from_tables(nodes, edges, label="label").graph
    assert (graph.class_names, graph.num_edges) == (("x", "y"), 1)


def test_two_formats_in_one_folder_are_refused(tmp_path: Path) -> None:
    drgst.write_tables(graphs()[0], tmp_path, "csv")
    with pytest.raises(DataFileError, match=r"already holds nodes.csv"):
        drgst.write_tables(graphs()[0], tmp_path, "parquet")
    (tmp_path / "nodes.parquet").write_bytes(b"")
    with pytest.raises(DataFileError, match=r"holds both nodes.csv and nodes.parquet"):
        drgst.read_tables(tmp_path)
    with pytest.raises(DataFileError, match="unknown table format 'xml'"):
        drgst.write_tables(graphs()[0], tmp_path, "xml")  # type: ignore[arg-type]


WAYS = {
    "quoted": ('id,label,f\n"a,1",x,1\n"b ""q""",y,2\n"c\nd",,3\n', 'source,target\n"a,1","b ""q"""\n"c\nd","a,1"\n'),
    "semicolons": ("id;label;f\r\n1;x;1,5\r\n2;y;2,5\r\n", "source;target;weight\r\n1;2;0,5\r\n2;1;1.234,5\r\n"),
    "repeated": ("id,label\na,x\nb,y\nc,\n", "source,target,weight\na,b,5\nb,a,3\nc,c,1\nc,a,0\nb,c,\n"),
    "both ways": ("id,label\na,x\nb,y\nc,\n", "source,target,weight\na,b,5\nb,a,5\nc,a,2\na,c,2\n"),
    "names beside weight": ("id,label\na,x\nb,y\n", "source,target,WEIGHT,weight\na,b,7,2\n"),
    "inert": ("id,label\n'=a,'+x\n'@b,y\n", "source,target\n'=a,'@b\n"),
    "apostrophes": ("id,label\n'a',x\n'b',''\nc,x\n", "source,target\n'a','b'\n"),
    "decimals": ("id,label\n1.0,0\n2.0,1.0\n", "source,target\n1,2\n2.0,1\n"),
    "words": ("id,label,city\nnone,x,Oslo\n-,y,\nna,none,Oslo\n", "source,target\nnone,-\nna,-\n"),
    "split": ("id,label,split,split:b,f\na,x,train,test,1\nb,y,val,train,2\nc,,,,3\n", "source,target\na,b\n"),
    "sparse": ("id,label,features:9\na,x,3:0.5 1\nb,y,\nc,,0:-1\n", "source,target\na,b\n"),
    "windows": ("id,label\nä,x\nb,y\n".encode("cp1252"), "source,target\nä,b\n".encode("cp1252")),
}


NAMES = ("g[1]", "g*", "weight=7", "split=train")


@pytest.mark.parametrize(("case", "name"), [(c, "g") for c in WAYS] + [("repeated", n) for n in NAMES])
def test_every_way_in_gives_the_same_graph(tmp_path: Path, case: str, name: str) -> None:
    (tmp_path / "g1").mkdir()
    (tmp_path / "g1" / "nodes.csv").write_text("id,label\nother,x\n")
    folder = tmp_path / name
    folder.mkdir()
    for path, text in zip((folder / "nodes.csv", folder / "edges.csv"), WAYS[case], strict=True):
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    one = drgst.read_tables(folder)
    others = {
        "open_graph": drgst.open_graph(folder),
        "from_tables": drgst.from_tables(folder / "nodes.csv", folder / "edges.csv", label="label").graph,
        "check": open_tables(folder).graph,
        "build": build_graph_folder(folder, tmp_path / "out"),
    }
    assert drgst.check_tables(folder / "nodes.csv", folder / "edges.csv", label="label") == []
    for way, other in others.items():
        assert (one.adjacency != other.adjacency).nnz == 0, way
        assert one.node_ids.tolist() == other.node_ids.tolist(), way
        assert one.labels.tolist() == other.labels.tolist(), way
        assert one.class_names == other.class_names, way
        assert [s.train.tolist() for s in one.splits] == [s.train.tolist() for s in other.splits], way
        if way != "from_tables":
            assert one.prepared == other.prepared, way
            assert sp.issparse(one.features) == sp.issparse(other.features), way
            assert (one.features != other.features).sum() == 0, way
            assert sorted(one.notes) == sorted(other.notes), way


def test_numbers_stay_as_they_are_unless_a_cell_is_something_else(tmp_path: Path) -> None:
    raw = drgst.read_tables(write(tmp_path))
    assert not raw.prepared
    assert raw.features[:, 0].tolist() == [31, 45, 27, 60, 38]
    encoded = drgst.read_tables(write(tmp_path, PEOPLE.replace("38", "")))
    assert encoded.prepared
    assert any("columns are encoded" in note for note in encoded.notes)
    made = drgst.from_tables(tmp_path / "nodes.csv", tmp_path / "edges.csv", label="label", edge_columns=False)
    assert (made.graph.features == encoded.features).all()
    with pytest.raises(DataFileError, match="does not say how they were encoded in fitting"):
        drgst.read_tables(tmp_path, classes=("cats", "dogs"))


def test_a_class_that_would_be_read_as_missing_is_not_written(tmp_path: Path) -> None:
    graph = make_graph(None, np.ones((2, 2)), [0, 1], class_names=["None", "b"])
    with pytest.raises(DataFileError, match="the class 'None' can't be written to a table"):
        drgst.write_tables(graph, tmp_path)
