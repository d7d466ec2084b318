"""Readers of downloaded files: zip archives, the raw files of Planetoid, and Flickr as published with AM-GCN."""

from __future__ import annotations

import pickle
import shutil
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.sparse as sp

from drgst.errors import DataFileError, located
from drgst.files import reading, replacing
from drgst.graph.core import Graph, edge_matrix, make_graph
from drgst.graph.split import Split
from drgst.io.split_files import from_id_files


@contextmanager
def open_archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """The zip archive at ``path``; damage is an error. Its entries are read by names that we know."""
    damage = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, KeyError)
    with reading(path, *damage, kind="a complete zip archive"), zipfile.ZipFile(path) as archive:
        yield archive


def extract(archive: zipfile.ZipFile, member: str, target: Path) -> None:
    """Write one entry to ``target``, atomically; the name of the entry is not used."""
    with archive.open(member) as source, replacing(target) as temporary, open(temporary, "wb") as out:
        shutil.copyfileobj(source, out)


def read_integers(source: Path | IO[bytes], columns: int = 1, name: str | None = None) -> np.ndarray:
    """Integers of 0 or above with ``columns`` per line: (L,) for one column, else (L, columns)."""
    where = name or str(source)
    with reading(where):
        lines = (source.read_bytes() if isinstance(source, Path) else source.read()).splitlines()
    try:
        table = [[int(cell) for cell in line.split()] for line in lines if line.strip()]
        values = np.array(table, dtype=np.int64).reshape(len(table), columns)
    except (ValueError, OverflowError) as error:
        raise DataFileError(f"{where} must hold {columns} whole numbers on each line") from error
    if values.size and values.min() < 0:
        raise DataFileError(f"{where} holds the negative number {values.min()}")
    return values[:, 0] if columns == 1 else values


PICKLES = ("x", "y", "tx", "ty", "allx", "ally", "graph")
VALIDATION = 500
_RECONSTRUCT = np.ones(1).__reduce__()[0]  # makes an array without content, which its state then fills
_ALLOWED: dict[str, Any] = {  # as Python 2 named them
    "collections.defaultdict": defaultdict,
    "__builtin__.list": list,
    "numpy.core.multiarray._reconstruct": _RECONSTRUCT,
    "numpy._core.multiarray._reconstruct": _RECONSTRUCT,
    "numpy.ndarray": np.ndarray,
    "numpy.dtype": np.dtype,
}


class _Csr:
    """The attributes of a ``csr_matrix`` of any version of SciPy."""


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if module.startswith("scipy.sparse") and name == "csr_matrix":
            return _Csr
        if f"{module}.{name}" not in _ALLOWED:
            raise DataFileError(f"the pickle asks for {module}.{name}, which is not allowed")
        return _ALLOWED[f"{module}.{name}"]


def read_planetoid(folder: Path, name: str, class_names: Sequence[str] | None = None) -> Graph:
    """The graph in ``folder/ind.NAME.*`` with its public split; features are not normalised.

    Row j of ``tx`` belongs to node ``test.index[j]``; ``allx`` holds the nodes before them. Citeseer's test range has
    gaps: nodes without words, edges or label. They stay unlabelled (PyTorch Geometric gives them class 0) and belong
    to the pool; a note mentions them.
    """
    parts = {part: _load(folder / f"ind.{name}.{part}") for part in PICKLES}
    test = read_integers(folder / f"ind.{name}.test.index")
    try:
        owner = np.concatenate([np.arange(parts["allx"].shape[0]), test])
        count = int(owner.max()) + 1
        features = sp.vstack([parts["allx"], parts["tx"]]).tocoo()
        features = sp.csr_array((features.data, (owner[features.row], features.col)), shape=(count, features.shape[1]))
        labels = np.full(count, -1, dtype=np.int64)
        labels[owner] = np.vstack([parts["ally"], parts["ty"]]).argmax(axis=1)
        train = np.arange(parts["y"].shape[0])
        adjacency = _adjacency(parts["graph"], count)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise DataFileError(f"the files {folder}/ind.{name}.* do not fit each other: {error}") from error
    split = Split.of(train, train.size + np.arange(VALIDATION), test, count, name="public")
    missing = count - np.unique(owner).size
    notes = [f"{missing} nodes have no words and no label in the files; they stay unlabelled"] if missing else []
    return make_graph(features, adjacency, labels, class_names=class_names, name=name, splits=[split], notes=notes)


def _adjacency(neighbours: dict[int, list[int]], count: int) -> sp.coo_array:
    """A_ij = 1 for every j in the list of i."""
    sizes = np.fromiter((len(js) for js in neighbours.values()), dtype=np.int64, count=len(neighbours))
    row = np.repeat(np.fromiter(neighbours, dtype=np.int64, count=len(neighbours)), sizes)
    col = np.fromiter((j for js in neighbours.values() for j in js), dtype=np.int64, count=int(sizes.sum()))
    return edge_matrix(row, col, count)


def _load(path: Path) -> Any:
    """An array, a :class:`scipy.sparse.csr_array` or a dict of lists."""
    damage = Exception  # a damaged pickle can fail in any way
    with reading(path, damage, kind="a complete Planetoid file"), located(path), path.open("rb") as file:
        found = _Unpickler(file, encoding="latin1").load()
    if not isinstance(found, _Csr):
        return found
    state = vars(found)
    return sp.csr_array((state["data"], state["indices"], state["indptr"]), shape=state["_shape"])


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
