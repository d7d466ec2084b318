"""Flickr (Meng et al., WSDM 2019) as published with AM-GCN: a zip archive with dense text features of 182 MB."""

from __future__ import annotations

from pathlib import Path
from typing import IO

import numpy as np
import scipy.sparse as sp

from drgst.datasets.raw_files import open_archive, read_integers
from drgst.errors import DataFileError
from drgst.graph.core import Graph, edge_matrix, make_graph
from drgst.graph.split import Split
from drgst.io.split_files import from_id_files


def read_flickr(folder: Path) -> Graph:
    """The graph in ``folder/flickr.zip`` with the split in ``folder/{train,val,test}20.txt``."""
    path = folder / "flickr.zip"
    with open_archive(path) as archive:
        with archive.open("flickr/flickr.label") as handle:
            labels = read_integers(handle, name=f"{path}:flickr.label")
        with archive.open("flickr/flickr.edge") as handle:
            edges = read_integers(handle, columns=2, name=f"{path}:flickr.edge")
        with archive.open("flickr/flickr.feature") as handle:
            features = read_binary_rows(handle, f"{path}:flickr.feature")
    if edges.size and edges.max() >= labels.size:
        raise DataFileError(f"{path}: an edge leads to node {edges.max()}, but there are {labels.size} labels")
    adjacency = edge_matrix(edges[:, 0], edges[:, 1], labels.size)
    graph = make_graph(features, adjacency, labels, name="flickr")
    return graph.with_(splits=(read_split(folder, graph),))


def read_split(folder: Path, graph: Graph) -> Split:
    """The split of the paper's authors in ``{train,val,test}20.txt``."""
    train, val, test = (folder / f"{part}20.txt" for part in ("train", "val", "test"))
    return from_id_files(graph, train, val, test, "public")


def read_binary_rows(handle: IO[bytes], name: str) -> sp.csr_array:
    """X from lines of ``0`` and ``1`` separated by single characters; one line is in memory at a time."""
    columns: list[np.ndarray] = []
    width = None
    for number, line in enumerate(handle, start=1):
        row = np.frombuffer(line.rstrip(b"\r\n"), dtype=np.uint8)
        values, gaps = row[::2], row[1::2]
        if not np.isin(gaps, (9, 32, 44)).all() or ((values != 48) & (values != 49)).any():  # tab, blank, comma; 0, 1
            raise DataFileError(f"{name}, line {number}: only 0 and 1, separated by one character, are allowed")
        if width not in (None, values.size):
            raise DataFileError(f"{name}, line {number}: {values.size} values, but {width} on the lines before")
        width = values.size
        columns.append(np.flatnonzero(values == 49))
    if not width:
        raise DataFileError(f"{name} is empty")
    indptr = np.concatenate([[0], np.cumsum([c.size for c in columns])])
    indices = np.concatenate(columns)
    return sp.csr_array((np.ones(indices.size, dtype=np.float32), indices, indptr), shape=(len(columns), width))
