"""Planetoid's eight files: pickles are read without calling what they name, and anything else is refused by name."""

import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drgst.datasets.planetoid import PICKLES, read_planetoid
from drgst.errors import DataFileError


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
