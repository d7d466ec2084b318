"""A graph folder: the arrays of a graph as files that are mapped into memory and shared by processes.

``graph.json`` holds names, splits, notes, and type and shape of each array; ``adjacency.indptr.bin`` and so on hold the
arrays themselves, row by row. All invariants of the graph are checked when a folder is opened for the first time. The
file ``checked`` then identifies the files that were checked, so that only the bounds of indices and the labels are
checked again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from drgst.errors import DataFileError, located
from drgst.files import PathLike, hold, read_text, reading, sweep
from drgst.graph.core import Graph, check_weights
from drgst.graph.invariants import FIELDS
from drgst.io.npz import CSR, check_description, check_order, description, graph_arrays, graph_fields, read_csr

META, STAMP = "graph.json", "checked"
FORMAT, VERSION = "drgst-graph-folder", 1
_DAMAGE = (KeyError, ValueError, TypeError, AttributeError, RecursionError, OverflowError)
_TYPES = ("float32", "int32", "int64")
_FILES = r".*\.bin|graph\.json|checked"  # of a folder that is being made
_LAST_CHARACTER = 0x10FFFF


def is_graph_folder(path: Path) -> bool:
    """Whether ``path`` is a folder of this format."""
    return (path / META).is_file()


def build_graph_folder(tables: PathLike, out: PathLike) -> Graph:
    """Write the graph of :func:`drgst.read_tables` to the graph folder ``out``, and open it."""
    from drgst.tables.read import read_tables  # pyarrow is slow to import

    with new_folder(out) as folder:
        _write(read_tables(tables), folder)
    return open_graph_folder(out)


def save_graph_folder(graph: Graph, path: PathLike) -> None:
    """Write ``graph`` to the new folder ``path``."""
    with new_folder(path) as folder:
        _write(graph, folder)


def _write(graph: Graph, folder: Path) -> None:
    arrays, matrices = graph_arrays(graph, ".")
    for key, matrix in (matrices | {"adjacency": graph.adjacency}).items():
        arrays |= {f"{key}.{part}": getattr(matrix, part) for part in CSR}
    for name, array in arrays.items():
        np.ascontiguousarray(array).tofile(folder / f"{name}.bin")
    shapes = {name: (str(array.dtype), array.shape) for name, array in arrays.items()}
    meta = description(graph, FORMAT, VERSION) | {"arrays": shapes}
    (folder / META).write_text(json.dumps(meta, ensure_ascii=False, indent=1), encoding="utf-8")
    _stamp(folder)  # the graph was checked when it was made


def open_graph_folder(path: PathLike) -> Graph:
    """The graph in a folder, its arrays mapped into memory; all invariants are checked the first time."""
    folder = Path(path)
    with reading(folder, *_DAMAGE, kind="a graph folder"), located(folder):
        meta = json.loads(read_text(folder / META))
        check_description(meta, FORMAT, VERSION)
        arrays = {name: _mapped(folder, name, *entry) for name, entry in meta["arrays"].items()}
        labels = arrays["labels"]
        if labels.dtype != np.int64 or labels.ndim != 1 or arrays["node_ids"].dtype.kind not in "iU":
            raise ValueError("labels and ids must be vectors of whole numbers, or ids texts")
        adjacency = read_csr(arrays, "adjacency", (labels.size, labels.size), sep=".")
        fields = graph_fields(arrays, meta, ".")
        if fields["features"].ndim != 2 or fields["features"].dtype != np.float32:
            raise ValueError("the matrix features is damaged")
        graph = Graph.unchecked(adjacency=adjacency, **fields)
        checked = _is_checked(folder)
        if not checked:
            for name, matrix in (("adjacency", adjacency), ("features", graph.features)):
                if sp.issparse(matrix):
                    check_order(matrix, name)
            check_weights(adjacency.data)
        graph = graph.with_(**{name: getattr(graph, name) for name in (("labels", "splits") if checked else FIELDS)})
    if not checked:
        _stamp(folder)
    return graph


def _stamp(folder: Path) -> None:
    """Note that the files of a folder were checked; a folder that can't be written is checked each time."""
    with contextlib.suppress(OSError):
        (folder / STAMP).write_text(_identity(folder), encoding="ascii")


def _is_checked(folder: Path) -> bool:
    try:
        return read_text(folder / STAMP) == _identity(folder)
    except (OSError, DataFileError):
        return False


def _identity(folder: Path) -> str:
    """A hash of inode, size and times of the files, which the system sets: a folder from elsewhere has others."""
    files = sorted(path for path in folder.iterdir() if path.name == META or path.suffix == ".bin")
    found = [(path.name, path.stat()) for path in files]
    parts = [(name, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns) for name, s in found]
    return hashlib.sha256(repr(parts).encode()).hexdigest()


@contextmanager
def new_folder(path: PathLike) -> Iterator[Path]:
    """A temporary folder beside ``path`` that becomes ``path`` at the end, or is removed after an error.

    Those that killed processes left for the same path are removed, too.
    """
    target = Path(path)
    if target.exists():
        raise DataFileError(f"{target} already exists; a graph folder needs a new path")
    with reading(target.parent):
        target.parent.mkdir(parents=True, exist_ok=True)
        sweep(target.parent, re.escape(f".{target.name}-") + "[a-z0-9_]{8}", only=_FILES)
        temporary = target.with_name(f".{target.name}-{secrets.token_hex(4)}")
        temporary.mkdir()
        held = hold(temporary)
    try:
        yield temporary
        temporary.rename(target)
    finally:
        os.close(held)
        shutil.rmtree(temporary, ignore_errors=True)


def _mapped(folder: Path, name: str, dtype: str, shape: Any) -> np.ndarray:
    """The array ``name``, read-only."""
    if not isinstance(dtype, str) or not isinstance(shape, list) or not all(type(n) is int for n in shape):
        raise ValueError(f"array {name} needs a type and a list of sizes")
    if name != Path(name).name:
        raise ValueError(f"{name!r} is not the name of an array")
    kind = np.dtype(dtype)
    if (kind.name not in _TYPES and kind.kind != "U") or not kind.isnative or not kind.itemsize:
        raise ValueError(f"array {name} is of type {dtype} (allowed: {', '.join(_TYPES)} and text)")
    path = folder / f"{name}.bin"
    if min(shape, default=-1) < 0 or path.stat().st_size != kind.itemsize * math.prod(shape):
        raise ValueError(f"{path.name} does not have the size that {META} gives")
    if not math.prod(shape):
        return np.empty(shape, dtype=kind)
    array = np.memmap(path, dtype=kind, mode="r", shape=tuple(shape))
    if kind.kind == "U" and np.memmap(path, dtype=np.uint32, mode="r").max() > _LAST_CHARACTER:
        raise ValueError(f"array {name} is not text")
    return array
