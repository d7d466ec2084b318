"""A graph in one ``.npz`` file, without pickle: ``save_graph`` and ``load_graph``.

The file holds ``meta`` (JSON as bytes), ``labels``, ``node_ids``, ``features`` (dense) or ``features_indices``,
``features_indptr`` and, unless all values are 1, ``features_data``; the upper triangle of the adjacency in the same
three arrays under ``edges_``; and the parts of split k as ``split_k_train`` and so on.
"""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from drgst.errors import DataFileError, DrgstError
from drgst.files import replacing
from drgst.graph.core import Graph, make_graph
from drgst.graph.split import Split

FORMAT = "drgst-graph"
VERSION = 1
_PARTS = ("train", "val", "test", "pool")


def save_graph(graph: Graph, path: str | os.PathLike[str]) -> None:
    """Write ``graph`` to ``path`` (``.npz``), whole or not at all."""
    if Path(path).suffix != ".npz":
        raise DataFileError(f"a graph is saved as .npz, not as {Path(path).name!r}")
    arrays = {"meta": _meta(graph), "labels": graph.labels, "node_ids": graph.node_ids}
    if isinstance(graph.features, sp.csr_array):
        arrays |= _pack("features", graph.features)
    else:
        arrays["features"] = graph.features
    arrays |= _pack("edges", sp.csr_array(sp.triu(graph.adjacency, k=1, format="csr")))
    for k, split in enumerate(graph.splits):
        arrays |= {f"split_{k}_{part}": getattr(split, part) for part in _PARTS}
    with replacing(path) as temporary, open(temporary, "wb") as handle:
        np.savez_compressed(handle, allow_pickle=False, **arrays)


def load_graph(path: str | os.PathLike[str]) -> Graph:
    """The graph that :func:`save_graph` wrote; everything is checked anew."""
    source = Path(path)
    try:
        with np.load(source, allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files}
    except OSError as error:
        raise DataFileError(f"can't read {source}: {error.strerror or error}") from error
    except (ValueError, EOFError, KeyError, MemoryError, AttributeError, zipfile.BadZipFile, zlib.error) as error:
        raise DataFileError(f"{source} is not a whole .npz file without pickles: {error}") from error
    try:
        return _graph(arrays)
    except DrgstError as error:
        raise type(error)(f"{source}: {error}") from error
    except (KeyError, ValueError, TypeError, IndexError, AttributeError) as error:
        raise DataFileError(f"{source} is not a drgst graph: {error}") from error


def _meta(graph: Graph) -> np.ndarray:
    meta = {
        "format": FORMAT,
        "version": VERSION,
        "name": graph.name,
        "class_names": graph.class_names,
        "num_features": graph.num_features,
        "splits": [split.name for split in graph.splits],
        "notes": graph.notes,
    }
    return np.frombuffer(json.dumps(meta, ensure_ascii=False).encode(), dtype=np.uint8)


def _graph(arrays: dict[str, np.ndarray]) -> Graph:
    meta = json.loads(arrays["meta"].tobytes())
    if meta["format"] != FORMAT or meta["version"] != VERSION:
        raise DataFileError(f"holds {meta['format']!r} version {meta['version']!r}; {FORMAT} version {VERSION} is read")
    count = arrays["labels"].size
    features: Any = arrays.get("features")
    if features is None:
        features = _unpack("features", arrays, (count, meta["num_features"]))
    upper = _unpack("edges", arrays, (count, count))
    splits = [
        Split(**{part: arrays[f"split_{k}_{part}"] for part in _PARTS}, name=name)
        for k, name in enumerate(meta["splits"])
    ]
    graph = make_graph(
        features,
        upper + upper.T,
        arrays["labels"],
        class_names=meta["class_names"],
        node_ids=arrays["node_ids"],
        name=meta["name"],
        splits=splits,
        unlabelled=True,  # what was saved was a graph
    )
    return graph.with_(notes=tuple(meta["notes"]))


def _pack(key: str, matrix: sp.csr_array) -> dict[str, np.ndarray]:
    """The arrays of a CSR matrix in the smallest whole numbers that hold them; ones are left out."""
    packed = {f"{key}_indices": _small(matrix.indices), f"{key}_indptr": _small(matrix.indptr)}
    if (matrix.data != 1).any():
        packed[f"{key}_data"] = matrix.data
    return packed


def _unpack(key: str, arrays: dict[str, np.ndarray], shape: tuple[int, int]) -> sp.csr_array:
    indices = arrays[f"{key}_indices"].astype(np.int64)
    indptr = arrays[f"{key}_indptr"].astype(np.int64)
    data = arrays.get(f"{key}_data", np.ones(indices.size, dtype=np.float32))
    matrix = sp.csr_array((data, indices, indptr), shape=shape)
    matrix.check_format(full_check=True)
    return matrix


def _small(values: np.ndarray) -> np.ndarray:
    return values.astype(np.min_scalar_type(int(values.max(initial=0))))
