"""Claims on accuracy: DR-GST against the baselines, its ablations, and its margin with fewer labels."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise, product

from drgst.lab.claims.effect import Claim, Effect, differences, measure
from drgst.lab.experiments import DRGST, ablations
from drgst.lab.paper import METHODS
from drgst.lab.tables.accuracy import Cells

BASELINES = tuple(recipe for recipe in METHODS if recipe not in DRGST)
SELF_TRAINING = ("sts", "m3s", "abn")
PAIRED = "on the same draws, over all data sets and label counts: the 95 % interval (Student's t) lies above 0"


def best_method(cells: Cells) -> Claim:
    """DR-GST against each baseline of the paper."""
    return Claim(
        "DR-GST outperforms every baseline",
        "DR-GST outperforms all the baselines by a considerable margin across most cases (Table 1).",
        f"Mean difference to each baseline {PAIRED}, for dropout and for dropedge.",
        [e for pair in product(DRGST, BASELINES) for e in _over(cells, *pair)],
    )


def self_training_helps(cells: Cells) -> Claim:
    """The self-training baselines against a GCN."""
    return Claim(
        "Self-training improves a GCN",
        "Self-training frameworks (STs, M3S and ABN) can generally improve GCNs (Table 1).",
        f"Mean difference to gcn {PAIRED}.",
        [e for recipe in SELF_TRAINING for e in _over(cells, recipe, "gcn")],
    )


def ablation_order(cells: Cells) -> Claim:
    """DR-GST > -ig > -lc > -w/o, step by step, in the cells in which a student is trained."""
    cells = {cell: runs for cell, runs in cells.items() if any(row["stages"] != 0 for row in runs.rows)}
    remarks = []
    for recipe in DRGST:
        remarks += [f"Both parts together, {e}" for e in _over(cells, recipe, f"{recipe}-wo")]
        ordered, total = _ordered(cells, recipe)
        if total:
            remarks.append(f"The means are in the claimed order in {ordered} of {total} cells of {recipe}.")
    return Claim(
        "Both parts help, information gain more",
        "The order is DR-GST > DR-GST-ig > DR-GST-lc > DR-GST-w/o (Figs. 5 and 6).",
        f"Mean difference of each step {PAIRED}, for dropout and for dropedge. Cells whose published settings train no "
        "student are left out: all four are the teacher there.",
        [e for recipe in DRGST for pair in pairwise(ablations(recipe)) for e in _over(cells, *pair)],
        remarks,
    )


def fewer_labels(cells: Cells) -> Claim:
    """The margin over a GCN with the fewest labels per class minus that with the most."""
    effects, remarks = [], []
    for recipe in DRGST:
        values: list[float] = []
        for dataset in sorted({cell[0] for cell in cells}):
            labels = sorted(k for d, k, r in cells if (d, r) == (dataset, recipe))
            margins = {k: m for k in labels if (m := _margins(cells, dataset, k, recipe))}
            if len(margins) > 1:
                first, last = margins[min(margins)], margins[max(margins)]
                values += [first[draw] - last[draw] for draw in sorted(first.keys() & last.keys())]
                means = ", ".join(f"{100 * sum(m.values()) / len(m):+.1f} at {k}" for k, m in margins.items())
                remarks.append(f"Margin of {recipe} over gcn on {dataset}, by labels per class: {means}.")
        effects += measure(f"{recipe}, margin with fewest labels minus margin with most", values)
    return Claim(
        "The margin grows as labels get fewer",
        "A larger performance margin between DR-GST and GCNs with fewer labels per class (Fig. 4).",
        "Margin over gcn on the same draws with the fewest labels per class, minus that with the most: the 95 % "
        "interval (Student's t) lies above 0, for dropout and for dropedge.",
        effects,
        remarks,
    )


def _over(cells: Cells, one: str, other: str) -> list[Effect]:
    return measure(f"{one} over {other}", differences(cells, one, other))


def _ordered(cells: Cells, recipe: str) -> tuple[int, int]:
    """The number of cells whose means are in the claimed order, and of cells with all four recipes."""
    recipes = ablations(recipe)
    places = [place for place in {cell[:2] for cell in cells} if all((*place, r) in cells for r in recipes)]
    means = [[cells[*place, r].mean("test_accuracy")[0] or 0.0 for r in recipes] for place in places]
    return sum(all(a > b for a, b in pairwise(row)) for row in means), len(means)


def _margins(cells: Cells, dataset: str, k: int, recipe: str) -> Mapping[int, float]:
    """Draw -> margin over a GCN."""
    base = cells.get((dataset, k, "gcn"))
    if base is None:
        return {}
    a, b = cells[dataset, k, recipe].figure("test_accuracy"), base.figure("test_accuracy")
    return {draw: a[draw] - b[draw] for draw in a.keys() & b.keys()}
