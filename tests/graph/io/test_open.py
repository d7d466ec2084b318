"""One door for names and paths."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import drgst
from drgst.errors import DataFileError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "my_nodes.csv").write_text("id,label\na,x\nb,y\n")
    (tmp_path / "my_edges.csv").write_text("source,target\na,b\n")
    return tmp_path


def test_names_paths_and_tables(folder: Path, fresh_cache: Path) -> None:
    graph = drgst.open_graph(folder / "my_nodes.csv")
    assert graph.num_edges == 1
    assert drgst.open_graph(str(folder / "my_edges.csv")).num_edges == 1
    drgst.save_graph(graph, folder / "g.npz")
    assert drgst.open_graph(folder / "g.npz").num_edges == 1
    drgst.write_tables(graph, folder / "sub")
    assert drgst.open_graph(folder / "sub").name == "sub"
    assert drgst.open_graph("Cora").num_nodes == 2708


def test_a_public_npz_of_the_graph2gauss_layout(tmp_path: Path) -> None:
    matrix = sp.csr_matrix(np.array([[0, 1], [0, 0]]))
    arrays = {f"{k}_{p}": getattr(matrix, p) for k in ("adj", "attr") for p in ("data", "indices", "indptr", "shape")}
    np.savez(tmp_path / "amazon.npz", labels=np.array([0, 1]), **arrays)
    graph = drgst.open_graph(tmp_path / "amazon.npz")
    assert (graph.name, graph.num_edges) == ("amazon", 1)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("coar", "unknown data set or path 'coar'; did you mean 'cora'"),
        ("my_nodes.txt", "is not a graph: .npz"),
        ("other.csv", "a table must be called nodes.csv or edges.csv"),
        ("lonely_nodes.csv", "can't read .*lonely_edges.csv"),
        ("empty", "holds neither nodes.csv nor nodes.parquet"),
        ("broken.npz", "broken.npz is not a whole .npz"),
        ("nul\0", "can't read|unknown"),
        ("x" * 5000, "can't read|unknown"),
    ],
)
def test_what_is_no_graph_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, said: str) -> None:
    monkeypatch.chdir(folder)
    (folder / "empty").mkdir()
    (folder / "broken.npz").write_bytes(b"PK\x03\x04 and no more")
    for other in ("my_nodes.txt", "other.csv", "lonely_nodes.csv"):
        (folder / other).write_text("id,label\na,x\nb,y\n")
    with pytest.raises(DataFileError, match=said):
        drgst.open_graph(name)
