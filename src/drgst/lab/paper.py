"""Published results of the paper, and the order and labels of its data sets and methods."""

from __future__ import annotations

import csv
import re
from functools import cache
from importlib import resources

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
KINDS = {"do": "dropout", "de": "dropedge"}
TUNED = "-tuned"  # ends the name of a recipe with settings tuned by validation


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
