"""Planetoid's pickles: what they need is read, anything else is refused by name and never called."""

from __future__ import annotations

import collections
import os
import pickle
import pickletools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from drgst.errors import DataFileError
from drgst.graph.datasets.unpickle import load_pickle


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
