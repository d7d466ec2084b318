"""Own graphs in one file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import drgst
from drgst.errors import DataFileError, DrgstError
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


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"labels": None}, "not a drgst graph"),
        ({"meta": None}, "not a drgst graph"),
        ({"meta": np.frombuffer(b"{", dtype=np.uint8)}, "not a drgst graph"),
        ({"meta": np.frombuffer(json.dumps({"format": "x", "version": 9}).encode(), dtype=np.uint8)}, "holds 'x'"),
        ({"edges_indices": np.array([1, 99])}, "not a drgst graph"),
        ({"features": np.full((3, 2), np.nan)}, "NaN"),
        ({"labels": np.array([0, 7, 1])}, "no class name"),
        ({"node_ids": np.array([1, 1, 2])}, "more than once"),
        ({"features": np.array([[{}, 1], [1, 1], [1, 1]], dtype=object)}, "allow_pickle=False"),
    ],
)
def test_files_changed_by_hand_are_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(DrgstError, match=f"g.npz.*{message}"):
        drgst.load_graph(rewrite(tmp_path / "g.npz", **changes))


def test_every_kind_of_cut_is_refused(tmp_path: Path) -> None:
    drgst.save_graph(small(), tmp_path / "g.npz")
    whole = (tmp_path / "g.npz").read_bytes()
    for size in range(0, len(whole), 13):
        (tmp_path / "g.npz").write_bytes(whole[:size])
        with pytest.raises(DataFileError, match=r"g.npz"):
            drgst.load_graph(tmp_path / "g.npz")
