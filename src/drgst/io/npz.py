"""A graph as arrays with names and a description in JSON, in one ``.npz`` file without pickle; also for graph folders.

The file holds ``meta`` (JSON as bytes), ``labels``, ``node_ids``, ``features`` (dense) or ``features_indices``,
``features_indptr`` and, unless all values are 1, ``features_data``; the upper triangle of the adjacency in the same
three arrays with the prefix ``edges_``; the parts of split k as ``split_k_train`` and so on; and of relation k the
incidence in three arrays with the prefix ``relation_k_`` and ``relation_k_entities``.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
import scipy.sparse as sp

from drgst.errors import DataFileError, DrgstError, GraphError
from drgst.files import PathLike, open_regular, reading, replacing
from drgst.graph.core import Graph, check_weights, make_graph
from drgst.graph.relation import Relation
from drgst.graph.split import PARTS, Split
from drgst.memory import check_memory

Arrays = Mapping[str, np.ndarray]
CSR = ("indptr", "indices", "data")


def description(graph: Graph, form: str, version: int) -> dict[str, Any]:
    """What is not in arrays, for JSON."""
    return {
        "format": form,
        "version": version,
        "name": graph.name,
        "class_names": graph.class_names,
        "num_features": graph.num_features,
        "splits": [split.name for split in graph.splits],
        "notes": graph.notes,
        **({"prepared": True} if graph.prepared else {}),
        **({"relations": [relation.name for relation in graph.relations]} if graph.relations else {}),
    }


def check_description(meta: Any, form: str, version: int) -> None:
    """Refuse the description of another format, and fields of another type."""
    if meta["format"] != form or meta["version"] != version:
        raise ValueError(f"it holds {meta['format']!r} version {meta['version']!r}, not {form} version {version}")
    for key in ("class_names", "splits", "notes"):
        if not isinstance(meta[key], list) or not all(isinstance(name, str) for name in meta[key]):
            raise TypeError(f"{key} must be a list of texts")
    if not isinstance(meta["name"], str) or type(meta["num_features"]) is not int or meta["num_features"] < 0:
        raise TypeError("name must be a text, and num_features a number of 0 or above")


def graph_arrays(graph: Graph, sep: str) -> tuple[dict[str, np.ndarray], dict[str, sp.csr_array]]:
    """The arrays, and the CSR matrices but the adjacency; ``sep`` joins the words of a name."""
    arrays = {"labels": graph.labels, "node_ids": graph.node_ids}
    matrices = {}
    if isinstance(graph.features, sp.csr_array):
        matrices["features"] = graph.features
    else:
        arrays["features"] = graph.features
    for k, split in enumerate(graph.splits):
        arrays |= {sep.join(("split", str(k), part)): getattr(split, part) for part in PARTS}
    for k, relation in enumerate(graph.relations):
        key = sep.join(("relation", str(k)))
        matrices[key], arrays[f"{key}{sep}entities"] = relation.incidence, relation.entities
    return arrays, matrices


def graph_fields(arrays: Arrays, meta: Mapping[str, Any], sep: str) -> dict[str, Any]:
    """The fields of a graph but its adjacency."""
    count = arrays["labels"].size
    relations = []
    for k, name in enumerate(meta.get("relations", ())):
        key = sep.join(("relation", str(k)))
        entities = arrays[f"{key}{sep}entities"]
        matrix = read_csr(arrays, key, (count, entities.size), 1, sep)
        check_order(matrix, key)
        relations.append(Relation(str(name), matrix, entities))
    splits = (
        Split(**{part: arrays[sep.join(("split", str(k), part))] for part in PARTS}, name=name)
        for k, name in enumerate(meta["splits"])
    )
    sparse = "features" not in arrays
    return {
        "features": read_csr(arrays, "features", (count, meta["num_features"]), 1, sep)
        if sparse
        else arrays["features"],
        "labels": arrays["labels"],
        "class_names": tuple(meta["class_names"]),
        "node_ids": arrays["node_ids"],
        "name": meta["name"],
        "splits": tuple(splits),
        "notes": tuple(meta["notes"]),
        "prepared": meta.get("prepared") is True,
        "relations": tuple(relations),
    }


def read_csr(
    arrays: Arrays, key: str, shape: Iterable[int], default: float | None = None, sep: str = "_"
) -> sp.csr_array:
    """The CSR matrix in ``key_data``, ``key_indices`` and ``key_indptr``; all indices are checked.

    With ``default``, ``key_data`` may be missing: all values are then ``default``.
    """
    indptr, indices = (arrays[f"{key}{sep}{part}"] for part in CSR[:2])
    missing = default is not None and f"{key}{sep}data" not in arrays
    data = np.full(indices.size, default, dtype=np.float32) if missing else arrays[f"{key}{sep}data"]
    kinds = {indptr.dtype.kind, indices.dtype.kind}
    if {indptr.ndim, indices.ndim, data.ndim} != {1} or not kinds <= {"i", "u"}:
        raise ValueError(f"the matrix {key} is damaged")
    if "u" in kinds:
        indptr, indices = indptr.astype(np.int64), indices.astype(np.int64)
    try:
        matrix = sp.csr_array((data, indices, indptr), shape=tuple(int(n) for n in shape))
        matrix.check_format(full_check=True)
    except ValueError as error:
        raise ValueError(f"the matrix {key} is damaged: {error}") from error
    return matrix


def check_order(matrix: sp.csr_array, name: str) -> None:
    """Refuse a matrix of other numbers than float32, or whose columns do not increase within a row."""
    if matrix.dtype != np.float32:
        raise GraphError(f"the matrix {name} is of type {matrix.dtype}, not float32")
    if not matrix.has_canonical_format:
        raise GraphError(f"the columns of a row of the matrix {name} are not in increasing order")


FORMAT, VERSION = "drgst-graph", 1
_DAMAGE = (
    *(KeyError, ValueError, TypeError, IndexError, AttributeError, EOFError, MemoryError),
    *(zipfile.BadZipFile, zlib.error, RecursionError, NotImplementedError, RuntimeError, OverflowError),
    *(SyntaxError, TokenError),  # of the header of an array
)


def save_graph(graph: Graph, path: PathLike) -> None:
    """Write ``graph`` to ``path`` (``.npz``), atomically."""
    if Path(path).suffix != ".npz":
        raise DataFileError(f"a graph is saved as .npz, not as {Path(path).name!r}")
    meta = json.dumps(description(graph, FORMAT, VERSION), ensure_ascii=False).encode()
    arrays, matrices = graph_arrays(graph, "_")
    arrays["meta"] = np.frombuffer(meta, dtype=np.uint8)
    matrices["edges"] = sp.csr_array(sp.triu(graph.adjacency, k=1, format="csr"))
    for key, matrix in matrices.items():  # in the smallest integer types, and without values that are all 1
        packed = {part: _small(getattr(matrix, part)) for part in CSR[:2]}
        packed |= {"data": matrix.data} if (matrix.data != 1).any() else {}
        arrays |= {f"{key}_{part}": array for part, array in packed.items()}
    with replacing(path) as temporary, open(temporary, "wb") as handle:
        np.savez_compressed(handle, allow_pickle=False, **arrays)


def load_graph(path: PathLike) -> Graph:
    """Read a graph that :func:`save_graph` wrote; all invariants are checked."""
    with open_npz(path, "a drgst graph") as arrays:
        try:
            return _graph(arrays)
        except DrgstError as error:
            raise type(error)(f"{path}: {error}") from error


@contextmanager
def open_npz(path: PathLike, kind: str) -> Iterator[Arrays]:
    """The arrays of a ``.npz`` file, read without pickle; ``kind`` is the expected content, with its article."""
    with reading(path, *_DAMAGE, kind=kind), open_regular(path) as handle:
        with zipfile.ZipFile(handle) as archive:
            check_memory(sum(entry.file_size for entry in archive.infolist()), f"{path}, unpacked,")
        handle.seek(0)
        with np.load(handle, allow_pickle=False) as file:
            yield file


def _graph(arrays: Arrays) -> Graph:
    meta = json.loads(arrays["meta"].tobytes())
    check_description(meta, FORMAT, VERSION)
    fields = graph_fields(arrays, meta, "_")
    upper = read_csr(arrays, "edges", (fields["labels"].size,) * 2, 1)
    check_weights(upper.data)
    names = ("features", "labels", "class_names", "node_ids", "name", "splits")
    graph = make_graph(adjacency=upper + upper.T, unlabelled=True, **{name: fields.pop(name) for name in names})
    return graph.with_(**fields)


def _small(values: np.ndarray) -> np.ndarray:
    return values.astype(np.min_scalar_type(int(values.max(initial=0))))
