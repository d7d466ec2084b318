"""A reader for Planetoid's pickle files that does not execute code from the pickle."""

from __future__ import annotations

import io
import pickle
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


def _empty_array(*_: object) -> np.ndarray:
    """Replaces numpy's ``_reconstruct``: an empty array, which the next step of the pickle fills."""
    return np.ndarray((0,), dtype="b")


_ALLOWED: dict[tuple[str, str], Any] = {
    ("collections", "defaultdict"): defaultdict,
    **{(module, kind.__name__): kind for module in ("__builtin__", "builtins") for kind in (list, dict)},
    ("numpy", "dtype"): np.dtype,
    **{(module, "_reconstruct"): _empty_array for module in _NUMPY_PATHS},
}


class _Unpickler(pickle.Unpickler):
    """Allows NumPy arrays, CSR matrices, dicts and lists, which is what the Planetoid files hold."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _ALLOWED:
            return _ALLOWED[module, name]
        if (module, name) == ("numpy", "ndarray"):
            return _ArrayType()
        if module in _CSR_PATHS and name == "csr_matrix":
            return type("RawCsr", (), {"is_raw_csr": True})  # a new class each time: a pickle can't change a shared one
        raise DataFileError(f"the pickle asks for {module}.{name}, which is not allowed")


def load_pickle(path: PathLike) -> Any:
    """The numeric array, :class:`scipy.sparse.csr_array` or dict of lists in a Planetoid raw file.

    Anything else is an error before it is imported or called.
    """
    with reading(path, Exception, kind="a complete Planetoid file"):  # a damaged pickle can fail in any way
        content = io.BytesIO(Path(path).read_bytes())
        try:
            return _checked(_Unpickler(content, encoding="latin1").load())  # the files are from Python 2
        except DataFileError as error:
            raise DataFileError(f"{path}: {error}") from error


def _checked(value: Any) -> Any:
    if getattr(value, "is_raw_csr", False) and not isinstance(value, type):
        return _csr(vars(value))
    if isinstance(value, np.ndarray):
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
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "iuf":
        raise DataFileError("holds an array that is not of numbers")
    return array
