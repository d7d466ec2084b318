"""A graph in one ``.npz`` file without pickle.

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

import numpy as np
import scipy.sparse as sp

from drgst.errors import DataFileError, DrgstError
from drgst.files import PathLike, reading, replacing
from drgst.graph.core import Graph, check_weights, make_graph
from drgst.graph.relation import Relation
from drgst.graph.split import PARTS, Split
from drgst.io.folder import check_meta
from drgst.memory import check_memory

FORMAT, VERSION = "drgst-graph", 1
Arrays = Mapping[str, np.ndarray]
_DAMAGE = (
    *(KeyError, ValueError, TypeError, IndexError, AttributeError, EOFError, MemoryError),
    *(zipfile.BadZipFile, zlib.error, RecursionError, NotImplementedError, RuntimeError, OverflowError),
)


def save_graph(graph: Graph, path: PathLike) -> None:
    """Write ``graph`` to ``path`` (``.npz``), atomically."""
    if Path(path).suffix != ".npz":
        raise DataFileError(f"a graph is saved as .npz, not as {Path(path).name!r}")
    meta = {
        "format": FORMAT,
        "version": VERSION,
        "name": graph.name,
        "class_names": graph.class_names,
        "num_features": graph.num_features,
        "splits": [split.name for split in graph.splits],
        "notes": graph.notes,
        **({"prepared": True} if graph.prepared else {}),
        **({"relations": [relation.name for relation in graph.relations]} if graph.relations else {}),
    }
    arrays = {"meta": np.frombuffer(json.dumps(meta, ensure_ascii=False).encode(), dtype=np.uint8)}
    arrays |= {"labels": graph.labels, "node_ids": graph.node_ids}
    if isinstance(graph.features, sp.csr_array):
        arrays |= _pack("features", graph.features)
    else:
        arrays["features"] = graph.features
    arrays |= _pack("edges", sp.csr_array(sp.triu(graph.adjacency, k=1, format="csr")))
    for k, split in enumerate(graph.splits):
        arrays |= {f"split_{k}_{part}": getattr(split, part) for part in PARTS}
    for k, relation in enumerate(graph.relations):
        arrays |= {**_pack(f"relation_{k}", relation.incidence), f"relation_{k}_entities": relation.entities}
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
    with reading(path, *_DAMAGE, kind=kind):
        with zipfile.ZipFile(path) as archive:
            check_memory(sum(entry.file_size for entry in archive.infolist()), f"{path}, unpacked,")
        with np.load(path, allow_pickle=False) as file:
            yield file


def read_csr(arrays: Arrays, key: str, shape: Iterable[int], default: float | None = None) -> sp.csr_array:
    """The CSR matrix in ``key_data``, ``key_indices`` and ``key_indptr``; all indices are checked.

    With ``default``, ``key_data`` may be missing: all values are then ``default``.
    """
    indices, indptr = (arrays[f"{key}_{part}"].astype(np.int64) for part in ("indices", "indptr"))
    missing = default is not None and f"{key}_data" not in arrays
    data = np.full(indices.size, default, dtype=np.float32) if missing else arrays[f"{key}_data"]
    matrix = sp.csr_array((data, indices, indptr), shape=tuple(int(n) for n in shape))
    matrix.check_format(full_check=True)
    return matrix


def _graph(arrays: Arrays) -> Graph:
    meta = json.loads(arrays["meta"].tobytes())
    check_meta(meta, FORMAT, VERSION)
    count = arrays["labels"].size
    width = meta["num_features"]
    features = arrays["features"] if "features" in arrays else read_csr(arrays, "features", (count, width), 1)
    upper = read_csr(arrays, "edges", (count, count), 1)
    check_weights(upper.data)
    graph = make_graph(
        features,
        upper + upper.T,
        arrays["labels"],
        class_names=meta["class_names"],
        node_ids=arrays["node_ids"],
        name=meta["name"],
        splits=[
            Split(**{part: arrays[f"split_{k}_{part}"] for part in PARTS}, name=name)
            for k, name in enumerate(meta["splits"])
        ],
        unlabelled=True,  # a graph without labels can be saved, too
    )
    relations = tuple(_relation(arrays, k, name, count) for k, name in enumerate(meta.get("relations", ())))
    return graph.with_(notes=tuple(meta["notes"]), prepared=meta.get("prepared") is True, relations=relations)


def _relation(arrays: Arrays, k: int, name: str, count: int) -> Relation:
    entities = arrays[f"relation_{k}_entities"]
    return Relation.of(str(name), read_csr(arrays, f"relation_{k}", (count, entities.size), 1), entities)


def _pack(key: str, matrix: sp.csr_array) -> dict[str, np.ndarray]:
    """The arrays of a CSR matrix in the smallest integer types; values that are all 1 are left out."""
    packed = {f"{key}_indices": _small(matrix.indices), f"{key}_indptr": _small(matrix.indptr)}
    if (matrix.data != 1).any():
        packed[f"{key}_data"] = matrix.data
    return packed


def _small(values: np.ndarray) -> np.ndarray:
    return values.astype(np.min_scalar_type(int(values.max(initial=0))))
