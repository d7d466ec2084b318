"""The paper: its data sets, methods and published results, and the settings that its experiments vary."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

LABELS = (3, 5, 10, 20)
DATASETS = ("cora", "citeseer", "pubmed", "corafull", "flickr")  # in the paper's order
METHODS = {  # recipe -> its name in the paper's Table 1
    "gcn": "GCN",
    "gat": "GAT",
    "appnp": "APPNP",
    "sts": "STs",
    "m3s": "M3S",
    "abn": "ABN",
    "drgst-do": "DR-GST_do",
    "drgst-de": "DR-GST_de",
}
DRGST = ("drgst-do", "drgst-de")
CURVES = ("gcn", "gat", "appnp", *DRGST)  # recipes of the figure of accuracy against labels per class
SWEEPS: dict[str, tuple[float, ...]] = {  # setting -> values of the figure for Cora
    "threshold": (0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7),
    "beta": (1 / 3, 1 / 2, 2 / 3, 1.0),
}
KINDS = {"do": "dropout", "de": "dropedge"}
TUNED = "-tuned"  # ends the name of a recipe with settings tuned by validation


def ablations(recipe: str) -> tuple[str, ...]:
    """DR-GST in full, with information gain only, with loss correction only, with neither."""
    return recipe, f"{recipe}-ig", f"{recipe}-lc", f"{recipe}-wo"


ABLATED = frozenset(name for recipe in DRGST for name in ablations(recipe)[1:])


def variant_name(changes: Mapping[str, Any]) -> str:
    """The name of runs with these changed settings in the store, such as ``beta=0.5,threshold=0.4``; "" for none."""
    return ",".join(f"{name}={value}" for name, value in sorted(changes.items()))


@cache
def main_table() -> dict[tuple[str, int, str], float]:
    """(dataset, labels per class, recipe) -> test accuracy in percent, mean of ten runs."""
    recipes = {method: recipe for recipe, method in METHODS.items()}
    path = resources.files("drgst.lab") / "data" / "table_main.csv"
    with path.open(encoding="utf-8") as handle:
        return {
            (row["dataset"].lower(), int(row["labels_per_class"]), recipes[row["method"]]): float(
                row["accuracy_percent"]
            )
            for row in csv.DictReader(handle)
        }


def dataset_order(name: str) -> tuple[int, str]:
    """Sort key: the paper's data sets in its order, then others by name."""
    return (DATASETS.index(name), "") if name in DATASETS else (len(DATASETS), name)


def recipe_order(name: str) -> tuple[int, str]:
    """Sort key: the paper's methods in its order, each with its tuned variant after it, then others by name."""
    order, own = list(METHODS), name.removesuffix(TUNED)
    return (order.index(own), name.removeprefix(own)) if own in order else (len(order), name)


def dataset_label(name: str) -> str:
    """``cora`` -> ``Cora``; a name that the paper does not have is left as it is."""
    return {"corafull": "CoraFull"}.get(name, name.capitalize()) if name in DATASETS else name


def recipe_label(name: str) -> str:
    """``drgst-do-wo`` -> ``DR-GST-w/o (dropout)``; a recipe that the paper does not have is left as it is."""
    found = re.fullmatch(r"drgst-(do|de)(-ig|-lc|-wo|-tuned)?", name)
    if found:
        kind, suffix = KINDS[found[1]], found[2] or ""
        return f"DR-GST ({kind}, tuned)" if suffix == TUNED else f"DR-GST{suffix.replace('wo', 'w/o')} ({kind})"
    return METHODS.get(name, name)
