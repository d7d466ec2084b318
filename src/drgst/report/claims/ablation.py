"""DR-GST > -ig > -lc > -w/o."""

from __future__ import annotations

from itertools import pairwise

from drgst.report.claims.base import Cells, Claim, direction, paired, verdict
from drgst.report.experiments import FAMILIES, family


def order(cells: Cells) -> Claim:
    """Each step of the order, on all draws of all data sets and label counts, for both kinds of gain."""
    is_numeric, held = [], []
    for whole in FAMILIES.values():
        for one, other in pairwise(family(whole)):
            found = paired(cells, one, other)
            if found is None:
                continue
            held.append(found.low > 0)
            is_numeric.append(f"{one} over {other}: {found}: {direction(found.low, found.high)}.")
        ends = paired(cells, whole, f"{whole}-wo")
        if ends is not None:
            is_numeric.append(f"Both parts together, {whole} over {whole}-wo: {ends}.")
        counts = _as_claimed(cells, whole)
        if counts[1]:
            is_numeric.append(f"The means are in the claimed order in {counts[0]} of {counts[1]} cells of {whole}.")
    return Claim(
        "Both parts help, information gain more",
        "The order is DR-GST > DR-GST-ig > DR-GST-lc > DR-GST-w/o (Figs. 5 and 6).",
        "Each step, as the mean difference on the same draws: its 95 % interval (Student's) lies above 0, for dropout "
        "and for dropedge.",
        is_numeric,
        verdict(held),
    )


def _as_claimed(cells: Cells, whole: str) -> tuple[int, int]:
    """Cells whose means are in the claimed order, of those with all four."""
    recipes = family(whole)
    places = [place for place in {cell[:2] for cell in cells} if all((*place, r) in cells for r in recipes)]
    means = [[cells[(*place, r)].mean("test_accuracy")[0] or 0.0 for r in recipes] for place in places]
    return sum(all(a > b for a, b in pairwise(row)) for row in means), len(means)
