"""drgst: self-training on graphs with a handful of labels.

Everything public is reachable from here; each name is imported when it is first used, so that ``import drgst``
and ``drgst --help`` stay quick.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_PUBLIC = {  # name -> the module that defines it
    "Graph": "drgst.graph.core",
    "make_graph": "drgst.graph.core",
    "Split": "drgst.graph.split",
    "DrgstError": "drgst.errors",
    "DRGST": "drgst.estimator",
    "SelfTraining": "drgst.estimator",
    "load_model": "drgst.estimator",
    "Recipe": "drgst.selftrain.recipe",
    "recipe": "drgst.recipes.registry",
    "load": "drgst.graph.datasets.load",
    "known_datasets": "drgst.graph.datasets.registry",
    "save_graph": "drgst.graph.io.npz",
    "load_graph": "drgst.graph.io.npz",
    "open_graph": "drgst.graph.io.open",
    "from_pyg": "drgst.graph.io.pyg",
    "to_pyg": "drgst.graph.io.pyg",
    "from_networkx": "drgst.graph.io.convert",
    "to_networkx": "drgst.graph.io.convert",
    "from_scipy": "drgst.graph.io.convert",
    "read_tables": "drgst.graph.io.tables",
    "write_tables": "drgst.graph.io.table_write",
    "view": "drgst.graph.transforms.views",
    "suggest_view": "drgst.selftrain.learners.multiview.suggest",
    "block_model": "drgst.graph.datasets.synthetic",
    "gaussian_circles": "drgst.graph.datasets.synthetic",
    "statistics": "drgst.graph.stats",
    "public_split": "drgst.graph.splits",
    "per_class_split": "drgst.graph.splits",
    "random_split": "drgst.graph.splits",
    "save_split": "drgst.graph.io.split_files",
    "load_split": "drgst.graph.io.split_files",
}

__all__ = ["__version__", *sorted(_PUBLIC)]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'drgst' has no attribute {name!r}")
    return getattr(importlib.import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(_PUBLIC))
