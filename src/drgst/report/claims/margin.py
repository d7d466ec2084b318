"""A larger margin over networks alone with fewer labels."""

from __future__ import annotations

from drgst.report.claims.base import Cells, Claim, Difference, direction, verdict
from drgst.report.experiments import FAMILIES

BASE = "gcn"


def fewer_labels(cells: Cells) -> Claim:
    """Margin over a GCN with the fewest labels a class against that with the most, data set by data set."""
    is_numeric, held = [], []
    for recipe in FAMILIES.values():
        differences, words = _ends(cells, recipe)
        found = Difference.of(differences)
        if found is None:
            continue
        held.append(found.low > 0)
        is_numeric.append(
            f"{recipe} over {BASE}: {words}. Margin with fewest labels less that with most: {found}: "
            f"{direction(found.low, found.high)}."
        )
    return Claim(
        "The margin grows as labels get fewer",
        "A larger performance margin between DR-GST and GCNs with fewer labels a class (Fig. 4).",
        f"Margin over {BASE} on the same draws, with the fewest labels a class less that with the most: the 95 % "
        "interval (Student's) lies above 0, for dropout and for dropedge.",
        is_numeric,
        verdict(held),
    )


def _ends(cells: Cells, recipe: str) -> tuple[list[float], str]:
    """Margin at one end less that at the other, draw by draw, over all data sets; and the mean margins in words."""
    differences: list[float] = []
    words = []
    for dataset in sorted({cell[0] for cell in cells}):
        margins = {k: m for d, k, r in sorted(cells) if (d, r) == (dataset, recipe) and (m := _margins(cells, d, k, r))}
        if len(margins) < 2:
            continue
        first, last = margins[min(margins)], margins[max(margins)]
        differences += [first[draw] - last[draw] for draw in sorted(first.keys() & last.keys())]
        shown = ", ".join(f"{k}: {100 * sum(m.values()) / len(m):+.1f}" for k, m in margins.items())
        words.append(f"{dataset} {shown}")
    return differences, "; ".join(words)


def _margins(cells: Cells, dataset: str, k: int, recipe: str) -> dict[int, float]:
    """Draw -> margin over the network alone."""
    base = cells.get((dataset, k, BASE))
    if base is None:
        return {}
    a, b = cells[dataset, k, recipe].figure("test_accuracy"), base.figure("test_accuracy")
    return {draw: a[draw] - b[draw] for draw in a.keys() & b.keys()}
