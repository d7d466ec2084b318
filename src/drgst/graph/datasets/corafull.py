"""CoraFull (Bojchevski, Günnemann, ICLR 2018): the ``cora.npz`` of graph2gauss, or its edges and labels alone."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from drgst.errors import DataFileError
from drgst.graph.core import Graph, make_graph
from drgst.graph.datasets.textfiles import read_integers

NO_FEATURES = (
    "the features of CoraFull could not be had (they are in cora.npz of graph2gauss): this graph has its edges, "
    "labels and split only, and nothing that learns from features can be run on it"
)


def read_graph2gauss(path: Path, name: str = "corafull") -> Graph:
    """The graph in a file of graph2gauss: CSR arrays ``adj_*`` and ``attr_*``, and ``labels``; no pickle is read.

    Edges are unweighted and directed there; words keep the values of the file.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            adjacency = _csr(file, "adj")
            features = _csr(file, "attr")
            labels = file["labels"]
    except OSError as error:
        raise DataFileError(f"can't read {path}: {error.strerror or error}") from error
    except KeyError as error:
        raise DataFileError(f"{path} is not a graph2gauss file: {error.args[0]}") from error
    except (ValueError, TypeError, EOFError, MemoryError, zipfile.BadZipFile, zlib.error) as error:
        raise DataFileError(f"{path} is damaged or not a graph2gauss file: {error}") from error
    adjacency.eliminate_zeros()
    adjacency.data = np.ones(adjacency.nnz, dtype=np.float32)
    return make_graph(features, adjacency, labels, name=name)


def read_edges_and_labels(folder: Path) -> Graph:
    """CoraFull without its features, from ``CoraFull.edge`` and ``CoraFull.label``; the notes say what is missing."""
    labels = read_integers(folder / "CoraFull.label")
    edges = read_integers(folder / "CoraFull.edge", columns=2)
    if edges.size and edges.max() >= labels.size:
        raise DataFileError(f"{folder}/CoraFull.edge names node {edges.max()}, but there are {labels.size} labels")
    ones = np.ones(len(edges), dtype=np.float32)
    adjacency = sp.coo_array((ones, (edges[:, 0], edges[:, 1])), shape=(labels.size, labels.size))
    return make_graph(None, adjacency, labels, name="corafull", notes=[NO_FEATURES])


def _csr(file: np.lib.npyio.NpzFile, key: str) -> sp.csr_array:
    parts = tuple(file[f"{key}_{part}"] for part in ("data", "indices", "indptr"))
    matrix = sp.csr_array(parts, shape=tuple(int(n) for n in file[f"{key}_shape"]))
    matrix.check_format(full_check=True)
    return matrix
