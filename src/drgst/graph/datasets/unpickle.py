"""Planetoid's raw files are pickles; this reads them without letting a pickle call anything."""

from __future__ import annotations

import io
import os
import pickle
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from drgst.errors import DataFileError

_CSR_PATHS = ("scipy.sparse.csr", "scipy.sparse._csr", "scipy.sparse")
_NUMPY_PATHS = ("numpy.core.multiarray", "numpy._core.multiarray")
_CONTAINERS: dict[tuple[str, str], Any] = {
    ("collections", "defaultdict"): defaultdict,
    ("__builtin__", "list"): list,
    ("builtins", "list"): list,
    ("__builtin__", "dict"): dict,
    ("builtins", "dict"): dict,
}


class _ArrayType:
    """Stands for ``numpy.ndarray``, which these files only name; a pickle can't call this."""


def _empty_array(*_: object) -> np.ndarray:
    """In place of numpy's ``_reconstruct``: an empty array that the pickle's next step fills."""
    return np.ndarray((0,), dtype="b")


class _Unpickler(pickle.Unpickler):
    """Admits numpy arrays, CSR matrices, dict and list: what the Planetoid files hold, and nothing else."""

    def __init__(self, data: bytes) -> None:
        super().__init__(io.BytesIO(data), encoding="latin1")  # written by Python 2

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _CONTAINERS:
            return _CONTAINERS[module, name]
        if (module, name) == ("numpy", "dtype"):
            return np.dtype
        if (module, name) == ("numpy", "ndarray"):
            return _ArrayType()
        if module in _NUMPY_PATHS and name == "_reconstruct":
            return _empty_array
        if module in _CSR_PATHS and name == "csr_matrix":
            return type("RawCsr", (), {"is_raw_csr": True})  # a fresh class: a pickle can't leave a mark on it
        raise DataFileError(f"the pickle asks for {module}.{name}, which is not allowed")


def load_pickle(path: str | os.PathLike[str]) -> Any:
    """The numeric array, :class:`scipy.sparse.csr_array` or dict of lists in a Planetoid raw file.

    Anything else in the pickle is refused with its name before it is imported or called; a damaged file is refused
    with its path.
    """
    source = Path(path)
    try:
        return _checked(_Unpickler(source.read_bytes()).load())
    except DataFileError as error:
        raise DataFileError(f"{source}: {error}") from error
    except OSError as error:
        raise DataFileError(f"can't read {source}: {error.strerror or error}") from error
    except Exception as error:  # a damaged pickle can fail in any way
        raise DataFileError(f"{source} is damaged or cut short: {error}") from error


def _checked(value: Any) -> Any:
    if getattr(value, "is_raw_csr", False) and not isinstance(value, type):
        return _csr(vars(value))
    if isinstance(value, np.ndarray):
        return _numeric(value)
    if isinstance(value, dict):
        return dict(value)
    raise DataFileError(f"holds a {type(value).__name__}; an array, a CSR matrix or a dict is expected")


def _csr(state: dict[str, Any]) -> sp.csr_array:
    """CSR from the attributes a pickle stored, every index checked: scipy's products would trust them."""
    data, indices, indptr = (_numeric(state[part]) for part in ("data", "indices", "indptr"))
    matrix = sp.csr_array((data, indices, indptr), shape=state["_shape"])
    matrix.check_format(full_check=True)
    return matrix


def _numeric(array: Any) -> np.ndarray:
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "iuf":
        raise DataFileError("holds an array that is not of numbers")
    return array
