"""A graph as arrays with names and a description in JSON, which ``.npz`` files and graph folders hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from drgst.errors import GraphError
from drgst.graph.core import Graph
from drgst.graph.relation import Relation
from drgst.graph.split import PARTS, Split

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
