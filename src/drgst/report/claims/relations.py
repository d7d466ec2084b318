"""Claims on information gain itself: against confidence, and against γ of the toy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from drgst.bench.correlation import Correlation, rank_correlation
from drgst.report.claims.base import Claim, direction, verdict
from drgst.report.figures.toy_run import Toy


def confidence(found: Mapping[str, Sequence[Correlation]], where: str) -> Claim:
    """``found``: kind of gain -> ρ of confidence and gain, one for each network."""
    is_numeric, held = [], []
    for kind, each in found.items():
        below = [c.high < 0 for c in each]
        held += below
        shown = ", ".join(str(c) for c in each)
        is_numeric.append(f"Gain by {kind}, {where}: ρ = {shown}; {sum(below)} of {len(each)} intervals lie below 0.")
    return Claim(
        "Confident nodes bring little information",
        "A clear negative correlation between confidence and information gain (Fig. 1a, Cora).",
        "Spearman's ρ of confidence and gain over the nodes that did not train; the 95 % bootstrap interval of every "
        "network lies below 0.",
        is_numeric,
        verdict(held),
    )


def toy(found: Toy, seed: int = 0) -> Claim:
    """γ and B over the pseudo-labelled nodes of the Gaussian class, and both against the way to its centre."""
    pairs = _pairs(found, np.random.default_rng(seed))
    is_numeric = [
        _picked(found),
        *(f"Over the picked nodes, {words}: ρ = {c}: {direction(c.low, c.high)}." for words, c in pairs.items()),
    ]
    return Claim(
        "Gain falls where the weight γ should fall",
        "γ = P_pop / P_st becomes smaller towards the centre, away from the decision boundary, and so does information "
        "gain (Fig. 2).",
        "Spearman's ρ of γ and gain over the pseudo-labelled nodes, and of either with the distance from the centre; "
        "all three 95 % intervals lie above 0.",
        is_numeric,
        verdict([c.low > 0 for c in pairs.values()]),
    )


def _pairs(found: Toy, rng: np.random.Generator) -> dict[str, Correlation]:
    """Empty where too few were picked to tell."""
    gamma, radius = found.gamma(found.picked), np.linalg.norm(found.picked, axis=1)
    pairs = {
        "γ and gain": (gamma, found.gain),
        "distance and γ": (radius, gamma),
        "distance and gain": (radius, found.gain),
    }
    made = {words: rank_correlation(*pair, rng) for words, pair in pairs.items()}
    return {words: c for words, c in made.items() if c is not None}


def _picked(found: Toy) -> str:
    if not len(found.picked):
        return "No node was picked for the Gaussian class."
    ours, theirs = (float(np.median(np.linalg.norm(part, axis=1))) for part in (found.picked, found.labelled))
    return (
        f"{len(found.picked):,} nodes were picked by confidence for the Gaussian class; {100 * found.right:.1f} % "
        f"belong to it. Their median distance from the centre is {ours:.2f}, that of the labelled ones {theirs:.2f}."
    )
