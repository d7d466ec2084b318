"""A graph folder: the arrays of a graph as files that are mapped into memory and shared by processes.

``graph.json`` holds names, splits, notes, and type and shape of each array; ``adjacency.indptr.bin`` and so on hold the
arrays themselves, row by row. All invariants of the graph are checked when a folder is opened for the first time, some
rows at a time. The file ``checked`` then identifies the files that were checked, so that only the bounds of indices and
the labels are checked again.
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
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from drgst.errors import DataFileError, GraphError, located
from drgst.files import PathLike, hold, reading, sweep
from drgst.graph.core import Graph, check_weights
from drgst.graph.invariants import FIELDS
from drgst.graph.relation import Relation
from drgst.graph.split import PARTS, Split

META, STAMP = "graph.json", "checked"
FORMAT, VERSION = "drgst-graph-folder", 1
_DAMAGE = (KeyError, ValueError, TypeError, AttributeError, RecursionError, OverflowError)
_TYPES = ("float32", "int32", "int64")
_FILES = r".*\.bin|graph\.json|checked|work|edges\.db.*|duckdb_temp.*"  # of a folder that is being made
_BLOCK = 1 << 22  # entries that are checked at a time
_LAST_CHARACTER = 0x10FFFF


def is_graph_folder(path: Path) -> bool:
    """Whether ``path`` is a folder of this format."""
    return (path / META).is_file()


def save_graph_folder(graph: Graph, path: PathLike) -> None:
    """Write ``graph`` to the new folder ``path``."""
    x, a = graph.features, graph.adjacency
    with new_folder(path) as folder:
        arrays = {f"adjacency.{part}": getattr(a, part) for part in ("indptr", "indices", "data")}
        if isinstance(x, np.ndarray):
            arrays["features"] = x
        else:
            arrays |= {f"features.{part}": getattr(x, part) for part in ("indptr", "indices", "data")}
        for name, array in arrays.items():
            np.ascontiguousarray(array).tofile(folder / f"{name}.bin")
        shapes = {name: (str(array.dtype), array.shape) for name, array in arrays.items()}
        write_rest(folder, graph, shapes)
        stamp(folder)  # the graph was checked when it was made


def write_rest(folder: Path, graph: Graph, shapes: Mapping[str, tuple[str, tuple[int, ...]]]) -> None:
    """Labels, ids, splits and ``graph.json``; ``shapes`` are those of the arrays that are in the folder already."""
    arrays = {"labels": graph.labels, "node_ids": graph.node_ids}
    for k, split in enumerate(graph.splits):
        arrays |= {f"split.{k}.{part}": getattr(split, part) for part in PARTS}
    for k, relation in enumerate(graph.relations):
        arrays |= {f"relation.{k}.{part}": getattr(relation.incidence, part) for part in ("indptr", "indices", "data")}
        arrays[f"relation.{k}.entities"] = relation.entities
    for name, array in arrays.items():
        array.tofile(folder / f"{name}.bin")
    meta = {
        "format": FORMAT,
        "version": VERSION,
        "name": graph.name,
        "class_names": graph.class_names,
        "num_features": graph.num_features,
        "splits": [split.name for split in graph.splits],
        "notes": graph.notes,
        "prepared": graph.prepared,
        **({"relations": [relation.name for relation in graph.relations]} if graph.relations else {}),
        "arrays": {**shapes, **{name: (str(array.dtype), array.shape) for name, array in arrays.items()}},
    }
    (folder / META).write_text(json.dumps(meta, ensure_ascii=False, indent=1), encoding="utf-8")


def open_graph_folder(path: PathLike) -> Graph:
    """The graph in a folder, its arrays mapped into memory; all invariants are checked the first time."""
    folder = Path(path)
    with reading(folder, *_DAMAGE, kind="a graph folder"), located(folder):
        meta = json.loads((folder / META).read_text(encoding="utf-8"))
        check_meta(meta, FORMAT, VERSION)
        arrays = {name: _mapped(folder, name, *entry) for name, entry in meta["arrays"].items()}
        labels, ids = arrays["labels"], arrays["node_ids"]
        if labels.dtype != np.int64 or labels.ndim != 1 or ids.dtype.kind not in "iU":
            raise ValueError("labels and ids must be vectors of whole numbers, or ids texts")
        features = arrays.get("features")
        if features is None:
            features = _csr(arrays, "features", (labels.size, meta["num_features"]))
        elif features.ndim != 2 or features.dtype != np.float32:
            raise ValueError("the matrix features is damaged")
        splits = [
            Split(**{part: arrays[f"split.{k}.{part}"] for part in PARTS}, name=name)
            for k, name in enumerate(meta["splits"])
        ]
        graph = Graph.unchecked(
            features=features,
            adjacency=_csr(arrays, "adjacency", (labels.size, labels.size)),
            labels=labels,
            node_ids=ids,
            name=meta["name"],
            class_names=tuple(meta["class_names"]),
            splits=tuple(splits),
            notes=tuple(meta["notes"]),
            prepared=meta.get("prepared") is True,
            relations=tuple(_relation(arrays, k, name) for k, name in enumerate(meta.get("relations", ()))),
        )
        checked = _is_checked(folder)
        if not checked:
            _check_blocks(graph)
        concerned = ("labels", "splits") if checked else [name for name in FIELDS if name not in _IN_BLOCKS]
        graph = graph.with_(**{name: getattr(graph, name) for name in concerned})
    if not checked:
        stamp(folder)
    return graph


def _relation(arrays: Mapping[str, np.ndarray], k: int, name: str) -> Relation:
    entities = arrays[f"relation.{k}.entities"]
    return Relation(str(name), _csr(arrays, f"relation.{k}", (arrays["labels"].size, entities.size)), entities)


def check_meta(meta: Any, form: str, version: int) -> None:
    """Refuse the description of a graph in JSON if it is of another format or a field is of another type."""
    if meta["format"] != form or meta["version"] != version:
        raise ValueError(f"it holds {meta['format']!r} version {meta['version']!r}, not {form} version {version}")
    for key in ("class_names", "splits", "notes"):
        if not isinstance(meta[key], list) or not all(isinstance(name, str) for name in meta[key]):
            raise TypeError(f"{key} must be a list of texts")
    if not isinstance(meta["name"], str) or type(meta["num_features"]) is not int or meta["num_features"] < 0:
        raise TypeError("name must be a text, and num_features a number of 0 or above")


def stamp(folder: Path) -> None:
    """Note that the files of a folder were checked; a folder that can't be written is checked each time."""
    with contextlib.suppress(OSError):
        (folder / STAMP).write_text(_identity(folder), encoding="ascii")


def _is_checked(folder: Path) -> bool:
    try:
        return (folder / STAMP).read_text(encoding="ascii") == _identity(folder)
    except (OSError, UnicodeError):
        return False


def _identity(folder: Path) -> str:
    """A hash of inode, size and times of the files, which the system sets: a folder from elsewhere has others."""
    files = sorted(path for path in folder.iterdir() if path.name == META or path.suffix == ".bin")
    found = [(path.name, path.stat()) for path in files]
    parts = [(name, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns) for name, s in found]
    return hashlib.sha256(repr(parts).encode()).hexdigest()


_IN_BLOCKS = ("features", "adjacency")


def _check_blocks(graph: Graph) -> None:
    """The invariants of X and A, some rows at a time."""
    x = graph.features
    values = x.data if isinstance(x, sp.csr_array) else x
    rows = max(1, _BLOCK // max(1, math.prod(values.shape[1:])))
    for start in range(0, values.shape[0], rows):
        if not np.isfinite(values[start : start + rows]).all():
            raise GraphError("a feature is NaN or infinite")
    for name, matrix in (("adjacency", graph.adjacency), ("features", x)):
        for block in _blocks(matrix) if isinstance(matrix, sp.csr_array) else ():
            _check_entries(matrix, name, block)


def _blocks(matrix: sp.csr_array) -> Iterator[slice]:
    """Slices of rows with about as many entries each."""
    start, count = 0, matrix.shape[0]
    while start < count:
        stop = int(np.searchsorted(matrix.indptr, matrix.indptr[start] + _BLOCK, side="right")) - 1
        stop = min(max(stop, start + 1), count)
        yield slice(start, stop)
        start = stop


def _check_entries(a: sp.csr_array, name: str, rows: slice) -> None:
    """Columns increase within each row; of the adjacency also a_uu = 0 and a_uv = a_vu > 0."""
    first, last = int(a.indptr[rows.start]), int(a.indptr[rows.stop])
    u = np.repeat(np.arange(rows.start, rows.stop), np.diff(a.indptr[rows.start : rows.stop + 1]))
    v, w = np.asarray(a.indices[first:last]).astype(np.int64), np.asarray(a.data[first:last])
    if ((np.diff(v) <= 0) & (u[1:] == u[:-1])).any():
        raise GraphError(f"the columns of a row of the matrix {name} are not in increasing order")
    if name != "adjacency":
        return
    check_weights(w)
    if (u == v).any():
        raise GraphError("the adjacency has self-loops")
    low, high = a.indptr[v].astype(np.int64), a.indptr[v + 1].astype(np.int64)
    end = high.copy()
    while (open_ := low < high).any():  # the place of u in row v by bisection
        middle = (low + high) // 2
        less = open_ & (a.indices[np.minimum(middle, a.nnz - 1)] < u)
        low, high = np.where(less, middle + 1, low), np.where(open_ & ~less, middle, high)
    place = np.minimum(low, a.nnz - 1)
    if not ((low < end) & (a.indices[place] == u) & (a.data[place] == w)).all():
        raise GraphError("the adjacency is not symmetric")


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


def _csr(arrays: Mapping[str, np.ndarray], key: str, shape: tuple[int, int]) -> sp.csr_array:
    """A CSR matrix whose indices all lie inside its shape."""
    indptr, indices, data = (arrays[f"{key}.{part}"] for part in ("indptr", "indices", "data"))
    vectors = all(array.ndim == 1 for array in (indptr, indices, data))
    whole = indptr.dtype.kind == indices.dtype.kind == "i" and data.dtype == np.float32
    if not vectors or not whole or indptr.size != shape[0] + 1 or indices.size != data.size:
        raise ValueError(f"the matrix {key} is damaged")
    inside = indices.min(initial=0) >= 0 and indices.max(initial=-1) < shape[1]
    if not inside or indptr[0] != 0 or indptr[-1] != indices.size or (np.diff(indptr) < 0).any():
        raise ValueError(f"the matrix {key} is damaged")
    return sp.csr_array((data, indices, indptr), shape=shape)
