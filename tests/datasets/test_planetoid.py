"""Planetoid's eight files: pickles are read without calling what they name, and anything else is refused by name."""

import collections
import os
import pickle
import pickletools
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from drgst.datasets.planetoid import PICKLES, read_planetoid
from drgst.datasets.unpickle import load_pickle
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


def test_arrays_matrices_and_dicts_come_back(tmp_path: Path, dump_python2: Callable[[Any, Path], None]) -> None:
    array = np.arange(6, dtype=np.int32).reshape(2, 3)
    matrix = sp.csr_matrix(np.array([[0, 1.5], [2, 0]], dtype=np.float32))
    lists = collections.defaultdict(list, {3: [1, 2], 4: []})
    for name, value in (("a", array), ("m", matrix), ("d", lists)):
        dump_python2(value, tmp_path / name)
    assert np.array_equal(load_pickle(tmp_path / "a"), array)
    loaded = load_pickle(tmp_path / "m")
    assert isinstance(loaded, sp.csr_array)
    assert np.array_equal(loaded.toarray(), matrix.toarray())
    assert load_pickle(tmp_path / "d") == {3: [1, 2], 4: []}


class _Calls:
    def __init__(self, function: Callable[..., Any], *args: Any) -> None:
        self.call = function, args

    def __reduce__(self) -> tuple[Any, ...]:
        return self.call


@pytest.mark.parametrize(
    ("function", "named"),
    [
        (os.system, r"(posix|nt)\.system"),
        (eval, "eval"),
        (getattr, "getattr"),
        (os.mkdir, "mkdir"),
        (np.load, r"numpy.*load"),
    ],
)
def test_a_pickle_that_calls_something_is_refused_and_not_called(
    tmp_path: Path, function: Callable[..., Any], named: str
) -> None:
    mark = tmp_path / "called"
    argument = f"touch {mark}" if function is os.system else str(mark)
    (tmp_path / "evil").write_bytes(pickle.dumps(_Calls(function, argument), protocol=2))
    with pytest.raises(DataFileError, match=f"evil: the pickle asks for .*{named}"):
        load_pickle(tmp_path / "evil")
    assert not mark.exists()


def test_what_the_files_only_name_can_not_be_called(tmp_path: Path) -> None:
    """``numpy.ndarray`` is named in the files; calling it with a huge shape must not allocate."""
    program = pickle.GLOBAL + b"numpy\nndarray\n" + b"(I1000000000000\ntR."
    assert [op.name for op, _, _ in pickletools.genops(program)][-2] == "REDUCE"
    (tmp_path / "huge").write_bytes(program)
    with pytest.raises(DataFileError, match="huge is damaged"):
        load_pickle(tmp_path / "huge")


def _array(kind: bytes, shape: bytes, data: bytes) -> bytes:
    """A pickle of an array with the given type, shape and content."""
    start = b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntS'b'\ntR"
    dtype = b"cnumpy\ndtype\n(S'" + kind + b"'\nI0\nI1\ntR(I3\nS'|'\nNNNI-1\nI-1\nI0\ntb"
    return start + b"(I1\n" + shape + dtype + b"I00\n" + data + b"tb."


@pytest.mark.parametrize(
    ("kind", "shape", "data"),
    [
        (b"O8", b"(I1\nt", b"(l"),  # NumPy reads the first item of an empty list: the interpreter crashes
        (b"O8", b"(I3\nt", b"S'abc'\n"),
        (b"f8", b"(I4\nt", b"S'abc'\n"),
        (b"i8", b"(I-1\nt", b"S''\n"),
        (b"i8", b"N", b"N"),
        (b"V8", b"(I1\nt", b"S'abcdefgh'\n"),
        (b"i8", b"(I1000000000000\nt", b"S''\n"),
    ],
)
def test_a_crafted_array_is_refused(tmp_path: Path, kind: bytes, shape: bytes, data: bytes) -> None:
    (tmp_path / "x").write_bytes(_array(kind, shape, data))
    code = f"from drgst.datasets.unpickle import load_pickle; load_pickle({str(tmp_path / 'x')!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)  # it may crash
    assert done.returncode == 1, done
    assert "DataFileError" in done.stderr


def test_a_crafted_array_can_also_be_a_good_one(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(_array(b"u1", b"(I3\nt", b"S'abc'\n"))
    assert load_pickle(tmp_path / "x").tolist() == [97, 98, 99]


def test_a_number_of_a_remembered_object_costs_no_memory(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"]r\xff\xff\xff\x7f.")  # six bytes that ask for 32 GB
    with pytest.raises(DataFileError, match="x: the pickle numbers an object 2147483647"):
        load_pickle(tmp_path / "x")


def test_a_matrix_whose_indices_leave_it_is_refused(tmp_path: Path, dump_python2: Callable[[Any, Path], None]) -> None:
    matrix = sp.csr_matrix(np.eye(3, dtype=np.float32))
    matrix.indices[1] = 7
    dump_python2(matrix, tmp_path / "m")
    with pytest.raises(DataFileError, match="m is damaged"):
        load_pickle(tmp_path / "m")


def test_other_contents_are_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(pickle.dumps("hello", protocol=2))
    with pytest.raises(DataFileError, match="holds a str"):
        load_pickle(tmp_path / "text")
    with pytest.raises(DataFileError, match=r"can't read .*absent"):
        load_pickle(tmp_path / "absent")


def test_every_prefix_of_a_file_is_refused(tmp_path: Path, dump_python2: Callable[[Any, Path], None]) -> None:
    dump_python2(sp.csr_matrix(np.eye(3)), tmp_path / "whole")
    whole = (tmp_path / "whole").read_bytes()
    for size in range(len(whole)):
        (tmp_path / "part").write_bytes(whole[:size])
        with pytest.raises(DataFileError, match="part"):
            load_pickle(tmp_path / "part")
