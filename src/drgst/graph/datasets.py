"""The public data sets by name: ``drgst.load("cora")``."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from importlib import resources

from drgst.graph.core import Graph
from drgst.graph.npz import load_graph
from drgst.graph.registry import find_dataset, known_datasets

__all__ = ["known_datasets", "load"]

Root = str | os.PathLike[str] | None
_log = logging.getLogger("drgst")


def load(name: str, root: Root = None) -> Graph:
    """One of the five data sets of the paper, with its public split in ``graph.splits``; features are raw."""
    dataset = find_dataset(name)
    return _READERS[dataset.name](root)


def _cora(root: Root) -> Graph:
    _log.info("cora: the copy embedded in drgst")
    with resources.as_file(resources.files("drgst.graph") / "data" / "cora.npz") as path:
        return load_graph(path)


_READERS: dict[str, Callable[[Root], Graph]] = {"cora": _cora}
