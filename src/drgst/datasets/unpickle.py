"""A reader for Planetoid's pickle files that does not execute code from the pickle."""

from __future__ import annotations

import io
import pickle
import pickletools
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from drgst.errors import DataFileError
from drgst.files import PathLike, reading

_CSR_PATHS = ("scipy.sparse.csr", "scipy.sparse._csr", "scipy.sparse")
_NUMPY_PATHS = ("numpy.core.multiarray", "numpy._core.multiarray")


class _ArrayType:
    """Replaces ``numpy.ndarray``, which the files only name; a pickle can't call it."""


class _Raw:
    """Replaces an object of NumPy: keeps what the pickle gives, unread. NumPy itself trusts a state and can crash."""

    def __init__(self, *args: object) -> None:
        self.args = args
        self.state: Any = ()

    def __setstate__(self, state: Any) -> None:
        self.state = state


class _RawType(_Raw):
    """Replaces ``numpy.dtype``."""


class _RawArray(_Raw):
    """Replaces the result of numpy's ``_reconstruct``."""


_ALLOWED: dict[tuple[str, str], Any] = {
    ("collections", "defaultdict"): defaultdict,
    **{(module, kind.__name__): kind for module in ("__builtin__", "builtins") for kind in (list, dict)},
}
_RAW = {("numpy", "dtype"): _RawType, **{(module, "_reconstruct"): _RawArray for module in _NUMPY_PATHS}}


class _Unpickler(pickle.Unpickler):
    """Allows NumPy arrays, CSR matrices, dicts and lists, which is what the Planetoid files hold."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _ALLOWED:
            return _ALLOWED[module, name]
        if (module, name) in _RAW:
            return type("Raw", (_RAW[module, name],), {})  # a new class each time: a pickle can't change a shared one
        if (module, name) == ("numpy", "ndarray"):
            return _ArrayType()
        if module in _CSR_PATHS and name == "csr_matrix":
            return type("RawCsr", (), {"is_raw_csr": True})
        raise DataFileError(f"the pickle asks for {module}.{name}, which is not allowed")


def load_pickle(path: PathLike) -> Any:
    """The numeric array, :class:`scipy.sparse.csr_array` or dict of lists in a Planetoid raw file.

    Anything else is an error before it is imported or called.
    """
    with reading(path, Exception, kind="a complete Planetoid file"):  # a damaged pickle can fail in any way
        content = Path(path).read_bytes()
        try:
            _check_memo(content)
            unpickler = _Unpickler(io.BytesIO(content), encoding="latin1")  # the files are from Python 2
            return _checked(unpickler.load())
        except DataFileError as error:
            raise DataFileError(f"{path}: {error}") from error


def _check_memo(content: bytes) -> None:
    """Refuse a number of a remembered object that is beyond the file: the unpickler would allocate a table up to it."""
    for code, argument, _ in pickletools.genops(content):
        if code.name.endswith("PUT") and argument is not None and argument > len(content):
            raise DataFileError(f"the pickle numbers an object {argument}, but has {len(content)} bytes")


def _checked(value: Any) -> Any:
    if getattr(value, "is_raw_csr", False) and not isinstance(value, type):
        return _csr(vars(value))
    if isinstance(value, _RawArray):
        return _numeric(value)
    if isinstance(value, dict):
        return dict(value)
    raise DataFileError(f"holds a {type(value).__name__}; an array, a CSR matrix or a dict is expected")


def _csr(state: dict[str, Any]) -> sp.csr_array:
    """The CSR matrix of the attributes in a pickle; all indices are checked, as SciPy's products rely on them."""
    data, indices, indptr = (_numeric(state[part]) for part in ("data", "indices", "indptr"))
    matrix = sp.csr_array((data, indices, indptr), shape=state["_shape"])
    matrix.check_format(full_check=True)
    return matrix


def _numeric(array: Any) -> np.ndarray:
    """The array of a state (version, shape, dtype, whether in Fortran order, bytes)."""
    if not isinstance(array, _RawArray) or not isinstance(array.state[2], _RawType):
        raise DataFileError("holds an array that is not of numbers")
    _, shape, kind, fortran, data = array.state
    name = f"{kind.state[1]}{kind.args[0]}"
    if not re.fullmatch(r"[<>|=]([iu][1248]|f[248])", name):
        raise DataFileError(f"holds an array of the type {name!r}, not of numbers")
    if not all(isinstance(count, int) and count >= 0 for count in shape):
        raise DataFileError(f"holds an array of the shape {shape}")
    content = data.encode("latin1") if isinstance(data, str) else data
    return np.frombuffer(content, dtype=name).reshape(shape, order="F" if fortran else "C").copy()
