"""drgst: self-training on graphs with few labels.

All public names are attributes of this package. Each is imported when it is first used, which keeps ``import drgst``
and ``drgst --help`` fast.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for type checkers: the same names as in _MODULES
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

__version__ = "0.2.0"

_MODULES = {  # module -> the public names that it defines
    "drgst.datasets": "datasets",
    "drgst.datasets.fraud": "fraud_tables",
    "drgst.datasets.load": "load open_graph",
    "drgst.datasets.registry": "known_datasets",
    "drgst.datasets.synthetic": "block_model gaussian_circles",
    "drgst.errors": "DrgstError",
    "drgst.estimator": "DRGST SelfTraining load_model",
    "drgst.estimator.crossval": "cross_validate",
    "drgst.estimator.pseudo_label": "PseudoLabel",
    "drgst.graph.core": "Graph make_graph",
    "drgst.graph.relation": "Relation",
    "drgst.graph.split": "Split fold_splits per_class_split public_split random_split",
    "drgst.graph.stats": "statistics",
    "drgst.io.convert": "from_networkx from_scipy to_networkx",
    "drgst.io.npz": "load_graph save_graph",
    "drgst.io.pyg": "from_pyg to_pyg",
    "drgst.io.split_files": "load_split save_split",
    "drgst.io.write_tables": "write_tables",
    "drgst.lab": "lab",
    "drgst.recipes.registry": "recipe",
    "drgst.selftrain.callbacks": "Callback",
    "drgst.selftrain.recipe": "Recipe",
    "drgst.tables.build": "TableGraph",
    "drgst.tables.faults": "TableError",
    "drgst.tables.options": "Link",
    "drgst.tables.read": "check_tables from_tables read_tables",
    "drgst.tables.schema": "TableSchema",
}
_PUBLIC = {name: module for module, names in _MODULES.items() for name in names.split()}

__all__ = ["__version__", *sorted(_PUBLIC)]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'drgst' has no attribute {name!r}")
    if name in ("datasets", "lab"):
        return importlib.import_module(_PUBLIC[name])
    return getattr(importlib.import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(_PUBLIC))
