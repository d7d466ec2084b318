"""Claims on information gain itself: against confidence, and against γ of the toy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from drgst.evaluate.correlation import Correlation, rank_correlation
from drgst.report.claims.base import Claim, direction, verdict
from drgst.report.figures.toy_run import Toy


def confidence(found: Mapping[str, Sequence[Correlation]], where: str) -> Claim:
    """``found``: kind of gain -> ρ of confidence and gain, one for each network."""
    measured, held = [], []
    for kind, each in found.items():
        below = [c.high < 0 for c in each]
        held += below
        shown = ", ".join(str(c) for c in each)
        measured.append(f"Gain by {kind}, {where}: ρ = {shown}; {sum(below)} of {len(each)} intervals lie below 0.")
    return Claim(
        "Confident nodes bring little information",
        "A clear negative correlation between confidence and information gain (Fig. 1a, Cora).",
        "Spearman's ρ of confidence and gain over the nodes that did not train; the 95 % bootstrap interval of every "
        "network lies below 0.",
        measured,
        verdict(held),
    )


def toy(found: Toy, seed: int = 0) -> Claim:
    """γ and B over the pseudo-labelled nodes of the Gaussian class, and both against the way to its centre."""
    rng = np.random.default_rng(seed)
    gamma, radius = found.gamma(found.picked), np.linalg.norm(found.picked, axis=1)
    pairs = {
        "γ and gain": rank_correlation(gamma, found.gain, rng),
        "distance from the centre and γ": rank_correlation(radius, gamma, rng),
        "distance from the centre and gain": rank_correlation(radius, found.gain, rng),
    }
    known = {words: c for words, c in pairs.items() if c is not None}
    shift = "; ".join(f"{words}: ρ = {c}, {direction(c.low, c.high)}" for words, c in known.items())
    spread = [float(np.median(np.linalg.norm(part, axis=1))) for part in (found.labelled, found.picked)]
    measured = [
        f"{len(found.picked):,} nodes were picked by confidence for the Gaussian class; {100 * found.right:.1f} % "
        f"belong to it. Their median distance from the centre is {spread[1]:.2f}, that of the labelled ones "
        f"{spread[0]:.2f}.",
        f"Over the picked nodes: {shift}.",
    ]
    return Claim(
        "Gain falls where the weight γ should fall",
        "γ = P_pop / P_st becomes smaller towards the centre, away from the decision boundary, and so does information "
        "gain (Fig. 2).",
        "Spearman's ρ of γ and gain over the pseudo-labelled nodes, and of either with the distance from the centre; "
        "all three 95 % intervals lie above 0.",
        measured,
        verdict([c.low > 0 for c in known.values()] if len(known) == len(pairs) else [False] * bool(known)),
    )
