"""Planetoid's pickles: what they need is read, anything else is refused by name and never called."""

from __future__ import annotations

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

from drgst.datasets.unpickle import load_pickle
from drgst.errors import DataFileError


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
