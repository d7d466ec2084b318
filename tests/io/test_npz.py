"""Own graphs in one file."""

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import drgst
from drgst import memory
from drgst.errors import DataFileError, DrgstError, MemoryLimitError
from drgst.graph.core import Graph, make_graph
from drgst.graph.split import Split


def small(**changes: Any) -> Graph:
    adjacency = np.array([[0, 2, 0], [2, 0, 0.5], [0, 0.5, 0]])
    return make_graph(np.array([[0.1, 2], [3, 4], [5, 6]]), adjacency, [0, 1, -1], **changes)


def test_everything_comes_back(tmp_path: Path) -> None:
    splits = [Split.of([0], [], [1], 3, name="a"), Split.of([1], [0], [2], 3, "all-but-validation", name="b")]
    graph = small(class_names=["é", "b"], node_ids=["x", "y", "ü"], name="mine", splits=splits, notes=["once"])
    drgst.save_graph(graph, tmp_path / "deep" / "g.npz")
    again = drgst.load_graph(tmp_path / "deep" / "g.npz")
    assert isinstance(again.features, np.ndarray)
    assert again.features.tobytes() == graph.features.tobytes()
    assert (again.adjacency != graph.adjacency).nnz == 0
    for part in ("labels", "node_ids"):
        assert np.array_equal(getattr(again, part), getattr(graph, part))
    assert (again.name, again.class_names, again.notes) == (graph.name, graph.class_names, graph.notes)
    for mine, theirs in zip(graph.splits, again.splits, strict=True):
        assert mine.name == theirs.name
        for part in ("train", "val", "test", "pool"):
            assert np.array_equal(getattr(mine, part), getattr(theirs, part))


def test_sparse_features_keep_their_values_and_width(tmp_path: Path) -> None:
    features = sp.csr_array(np.array([[0, 0.5, 0], [1, 0, 0], [0, 0, 0]]))
    graph = make_graph(features, np.eye(3), [0, 1, -1])
    drgst.save_graph(graph, tmp_path / "g.npz")
    again = drgst.load_graph(tmp_path / "g.npz")
    assert again.features.toarray().tolist() == features.toarray().tolist()
    assert again.num_edges == 0


def test_the_suffix_is_npz(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match=r"saved as .npz"):
        drgst.save_graph(small(), tmp_path / "g.zip")


def rewrite(path: Path, **changes: Any) -> Path:
    drgst.save_graph(small(), path)
    with np.load(path) as file:
        arrays = {key: file[key] for key in file.files} | changes
    np.savez(path, **{key: value for key, value in arrays.items() if value is not None})
    return path


def meta(**changes: Any) -> np.ndarray:
    """The header of a graph file."""
    header = {"format": "drgst-graph", "version": 1, "name": "g", "class_names": ["a", "b"], "num_features": 2}
    return np.frombuffer(json.dumps({**header, "splits": [], "notes": [], **changes}).encode(), dtype=np.uint8)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"labels": None}, "not a drgst graph"),
        ({"labels": np.array([0, 1])}, "not a drgst graph"),
        ({"labels": np.array([0, 7, 1])}, "no class name"),
        ({"labels": np.array([0, 0.5, 1])}, "0.5 is not whole"),
        ({"labels": np.array([b"a", b"b", b"c"])}, r"g\.npz"),
        ({"meta": None}, "not a drgst graph"),
        ({"meta": np.frombuffer(b"{", dtype=np.uint8)}, "not a drgst graph"),
        ({"meta": np.frombuffer(b"[" * 100_000, dtype=np.uint8)}, "recursion"),
        ({"meta": meta(format="x", version=9)}, "holds 'x'"),
        ({"meta": meta(class_names=["\ud800", "b"])}, "class name .*ud800' is not valid text"),
        ({"edges_indices": np.array([1, 99])}, "not a drgst graph"),
        ({"edges_data": np.array([0.0, 1.0], dtype=np.float32)}, "an edge has weight 0.0"),
        ({"edges_data": np.array([-1.0, 1.0], dtype=np.float32)}, "an edge has weight -1.0"),
        ({"features": np.full((3, 2), np.nan)}, "NaN"),
        ({"features": np.ones((4, 2))}, "the graph has 3 nodes"),
        ({"features": np.ones((3, 2)) * 1j}, "features must be numbers: they are complex"),
        ({"features": np.array([[{}, 1], [1, 1], [1, 1]], dtype=object)}, "allow_pickle=False"),
        ({"node_ids": np.array([1, 1, 2])}, "more than once"),
        ({"node_ids": np.array([0.5, 1, 2])}, "node ids are of type float64"),
        ({"node_ids": np.array([-1, 0, 1])}, "node id -1 is negative"),
        ({"node_ids": np.array(["a", "", "b"])}, "node 2 has no id"),
        ({"node_ids": np.array([True, False, True])}, "node ids are of type bool"),
    ],
)
def test_files_changed_by_hand_are_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(DrgstError, match=message) as caught:
        drgst.open_graph(rewrite(tmp_path / "g.npz", **changes))
    assert "g.npz" in str(caught.value)


@pytest.mark.parametrize(
    ("local", "central"),
    [({8: 99}, {10: 99}), ({6: 1}, {8: 1}), ({}, {6: 179}), ({}, {9: 8, 46: 0xD3})],
    ids=["unknown method", "encrypted", "unknown version", "name that is not UTF-8"],
)
def test_zip_entries_that_can_not_be_unpacked(tmp_path: Path, local: dict[int, int], central: dict[int, int]) -> None:
    """Bytes of the headers of every entry: before its data, and in the directory at the end."""
    path = tmp_path / "g.npz"
    drgst.save_graph(small(), path)
    raw = bytearray(path.read_bytes())
    for mark, changes in ((b"PK\x03\x04", local), (b"PK\x01\x02", central)):
        start = raw.find(mark)
        while start >= 0:
            for offset, value in changes.items():
                raw[start + offset] = value
            start = raw.find(mark, start + 4)
    path.write_bytes(raw)
    with pytest.raises(DataFileError, match=r"g\.npz is damaged or not a"):
        drgst.open_graph(path)


@pytest.mark.parametrize(
    "header", ["(" * 100, "  {\n 1", "__import__('os')", "{'descr': '|O', 'fortran_order': False, "]
)
def test_headers_that_numpy_can_not_parse_are_refused(tmp_path: Path, header: str) -> None:
    array = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode()
    drgst.save_graph(small(), tmp_path / "g.npz")
    with zipfile.ZipFile(tmp_path / "g.npz") as whole, zipfile.ZipFile(tmp_path / "bad.npz", "w") as bad:
        for name in whole.namelist():
            bad.writestr(name, array if name == "labels.npy" else whole.read(name))
    with pytest.raises(DataFileError, match="is damaged or not a drgst graph"):
        drgst.load_graph(tmp_path / "bad.npz")


def test_an_array_that_is_called_npz_is_refused(tmp_path: Path) -> None:
    with open(tmp_path / "g.npz", "wb") as handle:
        np.save(handle, np.ones(3))
    with pytest.raises(DataFileError, match=r"g.npz is damaged or not a drgst graph"):
        drgst.load_graph(tmp_path / "g.npz")


def test_a_small_file_that_unpacks_to_more_than_the_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "g.npz"
    drgst.save_graph(small().with_(features=np.zeros((3, 1 << 19), dtype=np.float32)), path)
    assert path.stat().st_size < 10**5
    monkeypatch.setattr(memory, "available_memory", lambda: 1 << 20)
    with pytest.raises(MemoryLimitError, match=r"g.npz, unpacked, would need 6.0 MB of memory, but 1.0 MB are"):
        drgst.load_graph(path)


def test_every_kind_of_cut_is_refused(tmp_path: Path) -> None:
    drgst.save_graph(small(), tmp_path / "g.npz")
    whole = (tmp_path / "g.npz").read_bytes()
    for size in range(0, len(whole), 13):
        (tmp_path / "g.npz").write_bytes(whole[:size])
        with pytest.raises(DataFileError, match=r"g.npz"):
            drgst.load_graph(tmp_path / "g.npz")
