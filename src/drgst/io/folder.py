"""A graph folder: the arrays of a graph as files that are mapped into memory and shared by processes.

``graph.json`` holds names, splits, notes, and type and shape of each array; ``adjacency.indptr.bin`` and so on hold the
arrays themselves, row by row. A folder opens in the time that a look at all edges takes, whatever its features.
"""

from __future__ import annotations

import json
import math
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from drgst.errors import DataFileError, GraphError
from drgst.files import PathLike, reading
from drgst.graph.core import Graph
from drgst.graph.split import PARTS, Split

META = "graph.json"
FORMAT, VERSION = "drgst-graph-folder", 1
_DAMAGE = (KeyError, ValueError, TypeError, AttributeError, RecursionError)
_TYPES = ("float32", "int32", "int64")


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


def write_rest(folder: Path, graph: Graph, shapes: Mapping[str, tuple[str, tuple[int, ...]]]) -> None:
    """Labels, ids, splits and ``graph.json``; ``shapes`` are those of the arrays that are in the folder already."""
    arrays = {"labels": graph.labels, "node_ids": graph.node_ids}
    for k, split in enumerate(graph.splits):
        arrays |= {f"split.{k}.{part}": getattr(split, part) for part in PARTS}
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
        "arrays": {**shapes, **{name: (str(array.dtype), array.shape) for name, array in arrays.items()}},
    }
    (folder / META).write_text(json.dumps(meta, ensure_ascii=False, indent=1), encoding="utf-8")


def open_graph_folder(path: PathLike) -> Graph:
    """The graph in a folder, its arrays mapped into memory.

    Sizes, labels and the targets of all edges are checked. Symmetry, unique ids and finite features, which the writer
    checked, are not checked again.
    """
    folder = Path(path)
    with reading(folder, *_DAMAGE, kind="a graph folder"):
        meta = json.loads((folder / META).read_text(encoding="utf-8"))
        if meta["format"] != FORMAT or meta["version"] != VERSION:
            raise ValueError(f"it holds {meta['format']!r} version {meta['version']!r}, not {FORMAT} version {VERSION}")
        arrays = {name: _mapped(folder, name, *entry) for name, entry in meta["arrays"].items()}
        labels = arrays["labels"]
        features = arrays.get("features")
        if features is None:
            features = _csr(arrays, "features", (labels.size, int(meta["num_features"])))
        splits = [
            Split(**{part: arrays[f"split.{k}.{part}"] for part in PARTS}, name=str(name))
            for k, name in enumerate(meta["splits"])
        ]
        fields = {"class_names": tuple(map(str, meta["class_names"])), "notes": tuple(map(str, meta["notes"]))}
        adjacency = _csr(arrays, "adjacency", (labels.size, labels.size))
        try:
            return Graph.unchecked(
                features=features,
                adjacency=adjacency,
                labels=labels,
                node_ids=arrays["node_ids"],
                name=str(meta["name"]),
                splits=tuple(splits),
                prepared=meta.get("prepared") is True,
                **fields,
            ).with_(labels=labels, splits=tuple(splits))
        except GraphError as error:
            raise GraphError(f"{folder}: {error}") from error


@contextmanager
def new_folder(path: PathLike) -> Iterator[Path]:
    """A temporary folder beside ``path`` that becomes ``path`` at the end, or is removed after an error."""
    target = Path(path)
    if target.exists():
        raise DataFileError(f"{target} exists already; a graph folder is written to a new path")
    with reading(target.parent):
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        yield temporary
        temporary.chmod(0o755)
        temporary.rename(target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _mapped(folder: Path, name: str, dtype: str, shape: Any) -> np.ndarray:
    """The array ``name``, read-only."""
    kind, size = np.dtype(dtype), tuple(int(n) for n in shape)
    if kind.name not in _TYPES and kind.kind != "U":
        raise ValueError(f"array {name} is of type {dtype}")
    path = folder / f"{name}.bin"
    if path.stat().st_size != kind.itemsize * math.prod(size) or min(size, default=0) < 0:
        raise ValueError(f"{path.name} does not have the size that {META} gives")
    if not math.prod(size):
        return np.empty(size, dtype=kind)
    return np.memmap(path, dtype=kind, mode="r", shape=size)


def _csr(arrays: Mapping[str, np.ndarray], key: str, shape: tuple[int, int]) -> sp.csr_array:
    """A CSR matrix whose indices all lie inside its shape."""
    indptr, indices, data = (arrays[f"{key}.{part}"] for part in ("indptr", "indices", "data"))
    inside = indices.min(initial=0) >= 0 and indices.max(initial=-1) < shape[1]
    if not inside or (np.diff(indptr) < 0).any() or data.dtype != np.float32:
        raise ValueError(f"the matrix {key} is damaged")
    return sp.csr_array((data, indices, indptr), shape=shape)
