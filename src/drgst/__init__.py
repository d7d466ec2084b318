"""drgst: self-training on graphs with few labels.

All public names are attributes of this package. Each is imported when it is first used, which keeps ``import drgst``
and ``drgst --help`` fast.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_PUBLIC = {  # name -> module that defines it
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
    "open_graph": "drgst.graph.datasets.load",
    "from_pyg": "drgst.graph.io.pyg",
    "to_pyg": "drgst.graph.io.pyg",
    "from_networkx": "drgst.graph.io.convert",
    "to_networkx": "drgst.graph.io.convert",
    "from_scipy": "drgst.graph.io.convert",
    "read_tables": "drgst.graph.io.tables",
    "from_tables": "drgst.graph.io.tabular.build",
    "check_tables": "drgst.graph.io.tabular.build",
    "TableGraph": "drgst.graph.io.tabular.build",
    "TableSchema": "drgst.graph.io.tabular.schema",
    "TableError": "drgst.graph.io.tabular.problems",
    "write_tables": "drgst.graph.io.tables",
    "view": "drgst.graph.transforms.views",
    "suggest_view": "drgst.graph.transforms.suggest",
    "block_model": "drgst.graph.datasets.synthetic",
    "gaussian_circles": "drgst.graph.datasets.synthetic",
    "fraud_tables": "drgst.graph.datasets.fraud",
    "datasets": "drgst.graph.datasets",
    "statistics": "drgst.graph.stats",
    "public_split": "drgst.graph.split",
    "per_class_split": "drgst.graph.split",
    "random_split": "drgst.graph.split",
    "save_split": "drgst.graph.io.split_files",
    "load_split": "drgst.graph.io.split_files",
}

__all__ = ["__version__", *sorted(_PUBLIC)]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'drgst' has no attribute {name!r}")
    if name == "datasets":
        return importlib.import_module(_PUBLIC[name])
    return getattr(importlib.import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(_PUBLIC))
