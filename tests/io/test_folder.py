"""Graph folders: written and opened, from tables, and what is refused."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import drgst
from drgst.errors import DataFileError, DrgstError
from drgst.graph.core import Graph, make_graph
from drgst.graph.split import Split
from drgst.io.folder import META, STAMP, build_graph_folder, open_graph_folder, save_graph_folder
from drgst.io.write_tables import write_tables
from drgst.tables import source
from drgst.tables.read import read_tables


def arrays(graph: Graph) -> dict[str, Any]:
    x, a = graph.features, graph.adjacency
    found = {f"a.{part}": getattr(a, part) for part in ("indptr", "indices", "data")}
    found |= {"x": x} if isinstance(x, np.ndarray) else {"x": x.toarray()}
    return found | {"labels": graph.labels, "ids": graph.node_ids, "train": [s.train.tolist() for s in graph.splits]}


def assert_equal(one: Graph, other: Graph) -> None:
    for name, value in arrays(one).items():
        np.testing.assert_array_equal(value, arrays(other)[name], err_msg=name)
    assert one.class_names == other.class_names
    assert sp.issparse(one.features) == sp.issparse(other.features)


def graph(kind: str) -> Graph:
    rng = np.random.default_rng(0)
    a = sp.random_array((30, 30), density=0.1, rng=rng)
    if kind == "names":
        a.data[:] = np.round(0.5 + a.data, 3)
    else:
        a.data[:] = 1
    x: Any = (rng.random((30, 4)) * (rng.random((30, 4)) < 0.4)).astype(np.float32)
    x = {"sparse": sp.csr_array(x), "names": x, "none": None}[kind]
    ids = [f"n'{i}\"é" for i in range(30)] if kind == "names" else np.arange(30)[::-1] * 7
    labels = np.where(np.arange(30) < 20, np.arange(30) % 3, -1)
    split = Split.of([0, 1, 2], [3, 4], [5], 30, name="split")
    return make_graph(x, a, labels, class_names=["x", "y", "z"], node_ids=ids, splits=[split], name="g")


@pytest.mark.parametrize("kind", ["sparse", "names", "none"])
def test_a_graph_is_the_same_after_writing_and_opening(kind: str, tmp_path: Path) -> None:
    one = graph(kind)
    save_graph_folder(one, tmp_path / "new" / "g")
    other = drgst.open_graph(tmp_path / "new" / "g")
    assert_equal(one, other)
    assert other.name == "g"
    assert not other.labels.flags.writeable
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["g"]


@pytest.mark.parametrize("rows", [7, 100_000])
@pytest.mark.parametrize("kind", ["sparse", "names", "none"])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_tables_give_the_same_graph_as_in_memory(
    kind: str, suffix: str, rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "ROWS", rows)
    write_tables(graph(kind), tmp_path / "tables", suffix)  # type: ignore[arg-type]
    built = build_graph_folder(tmp_path / "tables", tmp_path / "out")
    assert_equal(built, read_tables(tmp_path / "tables"))


def test_directed_repeated_and_looped_edges(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("id,label\na,x\nb,y\nc,\n", encoding="utf-8")
    text = "source,target,weight\na,b,1\nb,a,3\na,b,2\nc,c,1\nc,a,0.5\n"
    (tmp_path / "edges.csv").write_text(text, encoding="utf-8")
    built = build_graph_folder(tmp_path, tmp_path / "out")
    assert_equal(built, read_tables(tmp_path))
    assert built.adjacency[0, 1] == 6
    assert built.notes == ("edges.csv: 1 self-loop dropped", "2 repeated or returning edges merged (sum)")


@pytest.mark.parametrize(
    ("edges", "words"),
    [
        ("source,target\na,q\n", "column 'target': 'q' is not the id of a node"),
        ("source,target\nq,a\n", "column 'source': 'q' is not the id of a node"),
        ("source,target,weight\na,b,-1\n", "the weight '-1' is negative"),
        ("source,target,weight\na,b,much\n", "much"),
        ("from,target\na,b\n", "unknown column 'source'"),
    ],
)
def test_bad_edges(edges: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("id,label\na,x\nb,y\n", encoding="utf-8")
    (tmp_path / "edges.csv").write_text(edges, encoding="utf-8")
    with pytest.raises(DrgstError, match=words):
        build_graph_folder(tmp_path, tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["edges.csv", "nodes.csv"]


def test_repeated_ids(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("id,label\na,x\na,y\n", encoding="utf-8")
    (tmp_path / "edges.csv").write_text("source,target\n", encoding="utf-8")
    with pytest.raises(DrgstError, match="the id 'a' occurs again, first in line 2"):
        build_graph_folder(tmp_path, tmp_path / "out")


def test_an_existing_path_is_not_replaced(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match="already exists"):
        save_graph_folder(graph("none"), tmp_path)


def first(value: float) -> Any:
    return lambda a: np.where(np.arange(a.size) == 0, value, a).astype(np.float32)


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("adjacency.data", first(np.nan), "weight nan"),
        ("adjacency.data", first(np.inf), "weight inf"),
        ("adjacency.data", first(0), "weight 0.0"),
        ("adjacency.data", first(-1), "weight -"),
        ("adjacency.data", lambda a: (a + np.arange(a.size)).astype(np.float32), "not symmetric"),
        ("adjacency.data", lambda a: a.astype(np.float64), "float64|'<f8'|<f8"),
        ("adjacency.indices", lambda a: a.astype(np.float32), "adjacency is damaged"),
        ("adjacency.indices", lambda a: a.astype(">i4"), ">i4"),
        ("adjacency.indices", lambda a: a[::-1].copy(), "increasing order|not symmetric|self-loops"),
        ("adjacency.indices", lambda a: a + 1000, "adjacency is damaged"),
        ("adjacency.indptr", lambda a: a[:-1].copy(), "adjacency is damaged"),
        ("labels", lambda a: a.astype(np.float32), "whole numbers"),
        ("labels", lambda a: a + 100, "has no class name"),
        ("node_ids", lambda a: np.zeros_like(a), "occurs more than once"),
        ("node_ids", lambda a: a - 1000, "negative"),
        ("features.data", lambda a: a * np.float32(np.nan), "NaN or infinite"),
    ],
)
def test_a_folder_from_elsewhere_is_checked_once(name: str, change: Any, words: str, tmp_path: Path) -> None:
    save_graph_folder(graph("sparse"), tmp_path / "g")
    meta = json.loads((tmp_path / "g" / META).read_text())
    array = change(np.fromfile(tmp_path / "g" / f"{name}.bin", dtype=meta["arrays"][name][0]))
    array.tofile(tmp_path / "g" / f"{name}.bin")
    meta["arrays"][name] = (array.dtype.str, array.shape)
    (tmp_path / "g" / META).write_text(json.dumps(meta))
    with pytest.raises(DrgstError, match=words) as caught:
        open_graph_folder(tmp_path / "g")
    assert str(tmp_path / "g") in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("version", 99),
        ("num_features", -1),
        ("num_features", 1e400),
        ("class_names", "xyz"),
        ("name", 3),
        ("arrays", {"labels": ["O", [30]]}),
        ("arrays", {"labels": ["int64", [29]]}),
        ("arrays", {"labels": ["int64", [-5, -6]]}),
        ("arrays", {"labels": ["int64", [2**70, 0]]}),
        ("arrays", {"../labels": ["int64", [30]]}),
        ("arrays", []),
        ("", None),
    ],
)
def test_a_damaged_description(field: str, value: Any, tmp_path: Path) -> None:
    save_graph_folder(graph("sparse"), tmp_path / "g")
    meta = json.loads((tmp_path / "g" / META).read_text())
    if field:
        meta[field] = {**meta[field], **value} if isinstance(value, dict) else value
    (tmp_path / "g" / META).write_text(json.dumps(meta) if field else "{")
    with pytest.raises(DataFileError):
        open_graph_folder(tmp_path / "g")


def test_a_missing_file_of_a_folder(tmp_path: Path) -> None:
    save_graph_folder(graph("sparse"), tmp_path / "g")
    (tmp_path / "g" / "adjacency.data.bin").unlink()
    with pytest.raises(DataFileError, match="g"):
        open_graph_folder(tmp_path / "g")


def test_a_checked_folder_is_stamped_and_a_changed_one_checked_again(tmp_path: Path) -> None:
    save_graph_folder(graph("sparse"), tmp_path / "g")
    stamp = (tmp_path / "g" / STAMP).read_text()
    (tmp_path / "g" / STAMP).unlink()
    assert_equal(open_graph_folder(tmp_path / "g"), graph("sparse"))
    assert (tmp_path / "g" / STAMP).read_text() == stamp
    weights = np.fromfile(tmp_path / "g" / "adjacency.data.bin", dtype=np.float32)
    (weights * -1).tofile(tmp_path / "g" / "adjacency.data.bin")
    with pytest.raises(DrgstError, match="weight -"):
        open_graph_folder(tmp_path / "g")


def test_what_a_killed_build_left_is_removed_by_the_next(tmp_path: Path) -> None:
    """Folders of other content or names are left alone, and rights follow the umask."""
    for name, file in ((".g-0a1b2c3d", "labels.bin"), (".g-00000000", "mine.txt"), (".h-0a1b2c3d", "labels.bin")):
        (tmp_path / name).mkdir()
        (tmp_path / name / file).touch()
        os.utime(tmp_path / name, (0, 0))
    before = os.umask(0o077)
    try:
        save_graph_folder(graph("none"), tmp_path / "g")
    finally:
        os.umask(before)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".g-00000000", ".h-0a1b2c3d", "g"]
    assert (tmp_path / "g").stat().st_mode & 0o777 == 0o700
