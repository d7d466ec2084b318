"""The reader of graph2gauss files, on a small file of that format."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import drgst
from drgst.datasets.corafull import read_graph2gauss
from drgst.datasets.registry import FILES
from drgst.errors import DataFileError, GraphError
from drgst.files import sha256


def write(path: Path, **changes: Any) -> Path:
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
    path = write(tmp_path / "cora.npz", labels=np.array([0, 1, 2**40]))
    with pytest.raises(GraphError, match=r"cora.npz: label 1099511627776 means .* classes for 3 nodes \(109,951.2 GB"):
        read_graph2gauss(path)


def test_a_small_file_of_the_format(tmp_path: Path) -> None:
    graph = read_graph2gauss(write(tmp_path / "cora.npz"))
    assert graph.features.toarray().tolist() == [[0, 2, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]]
    assert graph.adjacency.toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert graph.labels.tolist() == [0, 1, 1]
    assert graph.notes == ("directed edges were made undirected",)


def test_load_takes_it_from_the_data_folder(tmp_path: Path, fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole way of ``load("corafull")`` with the registry's hashes replaced by those of the small files."""
    folder = tmp_path / "root" / "CoraFull"
    folder.mkdir(parents=True)
    write(folder / "cora.npz")
    for part, text in (("train", "0\n1\n"), ("val", "2\n2\n"), ("test", "")):
        (folder / f"{part}20.txt").write_text(text)

    for name in ("cora.npz", "train20.txt", "val20.txt", "test20.txt"):
        path = f"CoraFull/{name}"
        monkeypatch.setitem(FILES, path, replace(FILES[path], sha256=sha256(tmp_path / "root" / path)))
    graph = drgst.load("corafull", tmp_path / "root")
    assert graph.num_features == 4
    assert graph.split is not None
    assert graph.split.val.tolist() == [2]  # listed twice, counted once


def test_a_wrong_file_there_is_refused_and_not_passed_over(tmp_path: Path, fresh_cache: Path) -> None:
    folder = tmp_path / "root" / "CoraFull"
    folder.mkdir(parents=True)
    write(folder / "cora.npz")
    with pytest.raises(DataFileError, match=r"CoraFull/cora.npz is refused: its sha256"):
        drgst.load("corafull", tmp_path / "root")


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
        read_graph2gauss(write(tmp_path / "g.npz", **changes))


def test_a_file_cut_short_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "g.npz")
    path.write_bytes(path.read_bytes()[:300])
    with pytest.raises(DataFileError, match=r"g.npz"):
        read_graph2gauss(path)
