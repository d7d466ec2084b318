"""Readers of downloaded files: archives, integers, Flickr, CoraFull and the eight files of Planetoid."""

import io
import os
import pickle
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import drgst
from drgst.datasets.load import read_graph2gauss
from drgst.datasets.readers import (
    PICKLES,
    extract,
    open_archive,
    read_binary_rows,
    read_flickr,
    read_integers,
    read_planetoid,
)
from drgst.datasets.registry import FILES
from drgst.errors import DataFileError, GraphError
from drgst.files import sha256


def test_a_valid_entry_is_written(tmp_path: Path) -> None:
    """Where it is told, whatever the entry is called."""
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("../evil", "x" * 3_000_000)
    with open_archive(tmp_path / "a.zip") as archive:
        extract(archive, "../evil", tmp_path / "out" / "file")
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["a.zip", "file"]
    assert (tmp_path / "out" / "file").read_text() == "x" * 3_000_000


def test_an_entry_with_a_wrong_checksum_leaves_nothing(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a", "recognisable")
    data = (tmp_path / "a.zip").read_bytes()
    (tmp_path / "a.zip").write_bytes(data.replace(b"recognisable", b"recognizable"))
    with pytest.raises(DataFileError, match=r"a.zip is damaged"), open_archive(tmp_path / "a.zip") as archive:
        extract(archive, "a", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_integers(tmp_path: Path) -> None:
    (tmp_path / "one").write_text("3\n\n 1 \n")
    assert read_integers(tmp_path / "one").tolist() == [3, 1]
    assert read_integers(io.BytesIO(b"0\t1\n2 3\n"), columns=2, name="edges").tolist() == [[0, 1], [2, 3]]
    assert read_integers(io.BytesIO(b""), columns=2, name="edges").shape == (0, 2)


@pytest.mark.parametrize(
    ("text", "columns", "message"),
    [
        (b"1 2\n3\n", 2, "x must hold 2 whole numbers on each line"),
        (b"1 2\n3 4\n", 1, "x must hold 1 whole numbers on each line"),
        (b"1.5\n", 1, "x must hold 1 whole numbers"),
        (b"99999999999999999999\n", 1, "x must hold 1 whole numbers"),
        (b"1\n-2\n", 1, "x holds the negative number -2"),
    ],
)
def test_other_text_is_refused(text: bytes, columns: int, message: str) -> None:
    with pytest.raises(DataFileError, match=message):
        read_integers(io.BytesIO(text), columns, "x")


def write_flickr(
    folder: Path, features: str = "0 1\n1 0\n0 0\n", edges: str = "0\t1\n1\t2\n", labels: str = "0\n1\n1\n"
) -> Path:
    with zipfile.ZipFile(folder / "flickr.zip", "w") as archive:
        archive.writestr("flickr/flickr.feature", features)
        archive.writestr("flickr/flickr.edge", edges)
        archive.writestr("flickr/flickr.label", labels)
    for part, nodes in (("train", "0\n1\n"), ("val", ""), ("test", "2\n2\n")):
        (folder / f"{part}20.txt").write_text(nodes)
    return folder


def test_a_small_zip(tmp_path: Path) -> None:
    graph = read_flickr(write_flickr(tmp_path))
    assert graph.features.toarray().tolist() == [[0, 1], [1, 0], [0, 0]]
    assert graph.num_edges == 2
    assert (graph.split.name, graph.split.test.tolist()) == ("public", [2])  # listed twice, counted once


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"0 1\n0 1 0\n", "line 2: 3 values, but 2 on the lines before"),
        (b"0 1\n0 2\n", "line 2: only 0 and 1"),
        (b"0 1\n0;1\n", "line 2: only 0 and 1"),
        (b"0 1\nnan 1\n", "line 2: only 0 and 1"),
        (b"", "is empty"),
    ],
)
def test_other_rows_are_refused_with_their_line(text: bytes, message: str) -> None:
    with pytest.raises(DataFileError, match=f"x.txt.*{message}"):
        read_binary_rows(io.BytesIO(text), "x.txt")


def test_parts_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match="edge leads to node 9"):
        read_flickr(write_flickr(tmp_path, edges="0\t9\n"))
    with pytest.raises(DataFileError, match=r"flickr.edge must hold 2 whole numbers"):
        read_flickr(write_flickr(tmp_path, edges="0\t1\n2\n"))
    with pytest.raises(GraphError, match="features have shape"):
        read_flickr(write_flickr(tmp_path, features="0 1\n"))


def test_a_zip_without_the_file_or_cut_short_is_named(tmp_path: Path) -> None:
    path = write_flickr(tmp_path) / "flickr.zip"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataFileError, match=r"flickr.zip is damaged or not a complete zip archive"):
        read_flickr(tmp_path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("flickr/other", "")
    with pytest.raises(DataFileError, match=r"flickr.zip is damaged or not .*: There is no item named"):
        read_flickr(tmp_path)


@pytest.mark.data
def test_the_real_zip_takes_little_memory(data_root: Path) -> None:
    """Under 1 GB, in a process of its own; benchmarks/limits.py has the time."""
    program = (  # ru_maxrss counts the peak of the process that started it too, where /proc knows better
        "import sys, resource; from pathlib import Path; from drgst.datasets.readers import read_flickr\n"
        "read_flickr(Path(sys.argv[1])); status = Path('/proc/self/status')\n"
        "lines = status.read_text().splitlines() if status.exists() else []\n"
        "peak = [line.split()[1] for line in lines if line.startswith('VmHWM')]\n"
        "print(peak[0] if peak else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(data_root / "Flickr")], capture_output=True, text=True, check=True
    )
    kilobytes = float(done.stdout)
    assert kilobytes * (1024 if sys.platform == "linux" else 1) < 1e9


def write_corafull(path: Path, **changes: Any) -> Path:
    """Three papers, 0 cites 1 and 1 cites 2, four words; an object array as in the public file is there, unread."""
    adjacency = sp.csr_matrix(np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=np.float32))
    words = sp.csr_matrix(np.array([[0, 2, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]], dtype=np.float32))
    arrays: dict[str, Any] = {"labels": np.array([0, 1, 1])}
    for key, matrix in (("adj", adjacency), ("attr", words)):
        arrays |= {f"{key}_{part}": getattr(matrix, part) for part in ("data", "indices", "indptr", "shape")}
    arrays["idx_to_node"] = np.array({0: "a"}, dtype=object)
    arrays |= changes
    np.savez(path, **{key: value for key, value in arrays.items() if value is not None})
    return path


def test_a_label_that_means_more_classes_than_nodes_is_refused(tmp_path: Path) -> None:
    path = write_corafull(tmp_path / "cora.npz", labels=np.array([0, 1, 2**40]))
    with pytest.raises(GraphError, match=r"cora.npz: label 1099511627776 means .* classes for 3 nodes \(109,951.2 GB"):
        read_graph2gauss(path, "g")


def test_a_small_file_of_the_format(tmp_path: Path) -> None:
    graph = read_graph2gauss(write_corafull(tmp_path / "cora.npz"), "g")
    assert graph.features.toarray().tolist() == [[0, 2, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]]
    assert graph.adjacency.toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert graph.labels.tolist() == [0, 1, 1]
    assert graph.notes == ("directed edges were made undirected",)


def test_load_takes_it_from_the_data_folder(tmp_path: Path, fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole way of ``load("corafull")`` with the registry's hashes replaced by those of the small files."""
    folder = tmp_path / "root" / "CoraFull"
    folder.mkdir(parents=True)
    write_corafull(folder / "cora.npz")
    for part, text in (("train", "0\n1\n"), ("val", "2\n2\n"), ("test", "")):
        (folder / f"{part}20.txt").write_text(text)

    for name in ("cora.npz", "train20.txt", "val20.txt", "test20.txt"):
        path = f"CoraFull/{name}"
        monkeypatch.setitem(FILES, path, replace(FILES[path], sha256=sha256(tmp_path / "root" / path)))
    graph = drgst.load("corafull", tmp_path / "root")
    assert graph.num_features == 4
    assert graph.split.val.tolist() == [2]  # listed twice, counted once


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"labels": None}, "not a graph2gauss file"),
        ({"attr_data": None}, "not a graph2gauss file"),
        ({"adj_indices": np.array([1, 99])}, "damaged"),
        ({"labels": np.array(["a", "b", "c"], dtype=object)}, "damaged"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(DataFileError, match=f"g.npz.*{message}"):
        read_graph2gauss(write_corafull(tmp_path / "g.npz", **changes), "g")


def test_rows_edges_gaps_and_the_public_split(tmp_path: Path, tiny_planetoid: Callable[[Path], Path]) -> None:
    """Rows of tx go to the nodes that test.index names; node 508, which it lacks, stays as an empty node."""
    graph = read_planetoid(tiny_planetoid(tmp_path), "tiny")
    assert graph.num_nodes == 510
    assert graph.features[[509, 506, 507]].sum(axis=1).tolist() == [1, 2, 3]
    assert graph.labels[[0, 1, 509, 506, 507, 508]].tolist() == [0, 1, 1, 0, 1, -1]
    assert graph.features[[508]].nnz == graph.degrees[508] == 0
    assert graph.notes[0].startswith("1 nodes have no words")
    pairs = {(int(i), int(j)) for i, j in zip(*graph.adjacency.nonzero(), strict=True) if i < j}
    assert pairs == {(0, 1), (0, 509), (3, 506)}
    split = graph.split
    assert split.train.tolist() == [0, 1]
    assert np.array_equal(split.val, np.arange(2, 502))
    assert split.test.tolist() == [506, 507, 509]
    assert split.pool.tolist() == [502, 503, 504, 505, 508]


@pytest.mark.parametrize("part", [*PICKLES, "test.index"])
def test_a_missing_or_cut_file_is_named(tmp_path: Path, tiny_planetoid: Callable[[Path], Path], part: str) -> None:
    path = tiny_planetoid(tmp_path) / f"ind.tiny.{part}"
    whole = path.read_bytes()
    path.unlink()
    with pytest.raises(DataFileError, match=f"can't read .*ind.tiny.{part}"):
        read_planetoid(tmp_path, "tiny")
    path.write_bytes(whole[:1] if part == "test.index" else whole[: len(whole) // 2])
    with pytest.raises(DataFileError, match="tiny"):
        read_planetoid(tmp_path, "tiny")


@pytest.mark.data
@pytest.mark.parametrize("name", ["cora", "citeseer", "pubmed"])
def test_the_real_files_agree_with_pyg(data_root: Path, tmp_path: Path, name: str) -> None:
    """Node order, features, labels, edges and masks as PyTorch Geometric reads the same files."""
    import shutil

    from torch_geometric.datasets import Planetoid

    title = {"cora": "Cora", "citeseer": "CiteSeer", "pubmed": "PubMed"}[name]
    shutil.copytree(data_root / name.capitalize() / "raw", tmp_path / title / "raw")
    theirs = Planetoid(str(tmp_path), title)[0]
    ours = read_planetoid(data_root / name.capitalize() / "raw", name)
    assert np.array_equal(ours.features.toarray(), theirs.x.numpy())
    known = ours.labels >= 0  # PyG gives Citeseer's 15 nodes without a label class 0
    assert (~known).sum() == (15 if name == "citeseer" else 0)
    assert np.array_equal(ours.labels[known], theirs.y.numpy()[known])
    edges = np.vstack(ours.adjacency.nonzero())
    assert {tuple(e) for e in edges.T.tolist()} == {tuple(e) for e in theirs.edge_index.numpy().T.tolist()}
    for part in ("train", "val", "test"):
        assert np.array_equal(getattr(ours.split, part), np.flatnonzero(theirs[f"{part}_mask"].numpy()))


class _Calls:
    def __init__(self, function: Callable[..., Any], *args: Any) -> None:
        self.call = function, args

    def __reduce__(self) -> tuple[Any, ...]:
        return self.call


@pytest.mark.parametrize(
    ("function", "named"), [(os.system, r"(posix|nt)\.system"), (eval, "eval"), (np.load, r"numpy.*load")]
)
def test_a_pickle_that_calls_something_is_refused_and_not_called(
    tmp_path: Path, tiny_planetoid: Callable[[Path], Path], function: Callable[..., Any], named: str
) -> None:
    mark = tmp_path / "called"
    argument = f"touch {mark}" if function is os.system else str(mark)
    (tiny_planetoid(tmp_path) / "ind.tiny.x").write_bytes(pickle.dumps(_Calls(function, argument), protocol=2))
    with pytest.raises(DataFileError, match=f"ind.tiny.x: the pickle asks for .*{named}"):
        read_planetoid(tmp_path, "tiny")
    assert not mark.exists()


def test_another_content_is_refused(tmp_path: Path, tiny_planetoid: Callable[[Path], Path]) -> None:
    (tiny_planetoid(tmp_path) / "ind.tiny.allx").write_bytes(pickle.dumps("hello", protocol=2))
    with pytest.raises(DataFileError, match="do not fit each other"):
        read_planetoid(tmp_path, "tiny")
