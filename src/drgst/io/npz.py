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
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from drgst.errors import DataFileError, DrgstError
from drgst.files import PathLike, reading, replacing
from drgst.graph.core import Graph, check_weights, make_graph
from drgst.io.arrays import CSR, Arrays, check_description, description, graph_arrays, graph_fields, read_csr
from drgst.memory import check_memory

FORMAT, VERSION = "drgst-graph", 1
_DAMAGE = (
    *(KeyError, ValueError, TypeError, IndexError, AttributeError, EOFError, MemoryError),
    *(zipfile.BadZipFile, zlib.error, RecursionError, NotImplementedError, RuntimeError, OverflowError),
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
    with reading(path, *_DAMAGE, kind=kind):
        with zipfile.ZipFile(path) as archive:
            check_memory(sum(entry.file_size for entry in archive.infolist()), f"{path}, unpacked,")
        with np.load(path, allow_pickle=False) as file:
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
