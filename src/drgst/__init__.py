"""drgst: self-training on graphs with few labels.

All public names are attributes of this package. Each is imported when it is first used, which keeps ``import drgst``
and ``drgst --help`` fast.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for type checkers: the same names as in _PUBLIC
    from drgst import datasets as datasets
    from drgst import lab as lab
    from drgst.datasets.fraud import fraud_tables as fraud_tables
    from drgst.datasets.load import load as load
    from drgst.datasets.load import open_graph as open_graph
    from drgst.datasets.registry import known_datasets as known_datasets
    from drgst.datasets.synthetic import block_model as block_model
    from drgst.datasets.synthetic import gaussian_circles as gaussian_circles
    from drgst.errors import DrgstError as DrgstError
    from drgst.estimator import DRGST as DRGST
    from drgst.estimator import SelfTraining as SelfTraining
    from drgst.estimator import load_model as load_model
    from drgst.estimator.crossval import cross_validate as cross_validate
    from drgst.estimator.pseudo_label import PseudoLabel as PseudoLabel
    from drgst.graph.core import Graph as Graph
    from drgst.graph.core import make_graph as make_graph
    from drgst.graph.relation import Relation as Relation
    from drgst.graph.split import Split as Split
    from drgst.graph.split import fold_splits as fold_splits
    from drgst.graph.split import per_class_split as per_class_split
    from drgst.graph.split import public_split as public_split
    from drgst.graph.split import random_split as random_split
    from drgst.graph.stats import statistics as statistics
    from drgst.io.convert import from_networkx as from_networkx
    from drgst.io.convert import from_scipy as from_scipy
    from drgst.io.convert import to_networkx as to_networkx
    from drgst.io.npz import load_graph as load_graph
    from drgst.io.npz import save_graph as save_graph
    from drgst.io.pyg import from_pyg as from_pyg
    from drgst.io.pyg import to_pyg as to_pyg
    from drgst.io.split_files import load_split as load_split
    from drgst.io.split_files import save_split as save_split
    from drgst.io.write_tables import write_tables as write_tables
    from drgst.recipes.registry import recipe as recipe
    from drgst.selftrain.callbacks import Callback as Callback
    from drgst.selftrain.recipe import Recipe as Recipe
    from drgst.tables.build import TableGraph as TableGraph
    from drgst.tables.faults import TableError as TableError
    from drgst.tables.options import Link as Link
    from drgst.tables.read import check_tables as check_tables
    from drgst.tables.read import from_tables as from_tables
    from drgst.tables.read import read_tables as read_tables
    from drgst.tables.schema import TableSchema as TableSchema

__version__ = "0.1.0"

_PUBLIC = {  # name -> module that defines it
    "Graph": "drgst.graph.core",
    "make_graph": "drgst.graph.core",
    "Split": "drgst.graph.split",
    "DrgstError": "drgst.errors",
    "DRGST": "drgst.estimator",
    "SelfTraining": "drgst.estimator",
    "load_model": "drgst.estimator",
    "cross_validate": "drgst.estimator.crossval",
    "fold_splits": "drgst.graph.split",
    "Recipe": "drgst.selftrain.recipe",
    "recipe": "drgst.recipes.registry",
    "load": "drgst.datasets.load",
    "known_datasets": "drgst.datasets.registry",
    "save_graph": "drgst.io.npz",
    "load_graph": "drgst.io.npz",
    "open_graph": "drgst.datasets.load",
    "from_pyg": "drgst.io.pyg",
    "to_pyg": "drgst.io.pyg",
    "from_networkx": "drgst.io.convert",
    "to_networkx": "drgst.io.convert",
    "from_scipy": "drgst.io.convert",
    "read_tables": "drgst.tables.read",
    "from_tables": "drgst.tables.read",
    "check_tables": "drgst.tables.read",
    "TableGraph": "drgst.tables.build",
    "TableSchema": "drgst.tables.schema",
    "TableError": "drgst.tables.faults",
    "Link": "drgst.tables.options",
    "Relation": "drgst.graph.relation",
    "write_tables": "drgst.io.write_tables",
    "block_model": "drgst.datasets.synthetic",
    "gaussian_circles": "drgst.datasets.synthetic",
    "fraud_tables": "drgst.datasets.fraud",
    "PseudoLabel": "drgst.estimator.pseudo_label",
    "datasets": "drgst.datasets",
    "lab": "drgst.lab",
    "Callback": "drgst.selftrain.callbacks",
    "statistics": "drgst.graph.stats",
    "public_split": "drgst.graph.split",
    "per_class_split": "drgst.graph.split",
    "random_split": "drgst.graph.split",
    "save_split": "drgst.io.split_files",
    "load_split": "drgst.io.split_files",
}

__all__ = ["__version__", *sorted(_PUBLIC)]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'drgst' has no attribute {name!r}")
    if name in ("datasets", "lab"):
        return importlib.import_module(_PUBLIC[name])
    return getattr(importlib.import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(_PUBLIC))
