"""All claims of the paper, and those on information gain: its correlation with confidence, and with the weight γ."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from drgst.files import write_text
from drgst.lab.claims import runs
from drgst.lab.claims.effect import BELOW, Claim, Effect, decide, measure
from drgst.lab.figures import confidence_gain
from drgst.lab.figures.registry import Request
from drgst.lab.figures.sweep import lines
from drgst.lab.figures.toy import Toy
from drgst.lab.statistics import Correlation, rank_correlation
from drgst.lab.store.cells import runs_by_cell
from drgst.lab.store.schema import Row

NETWORKS = 5  # networks whose correlation of confidence and gain is measured


def decide_claims(rows: Sequence[Row], request: Request, toy: Toy | None, networks: int = NETWORKS) -> list[Claim]:
    """Every claim of the paper; the data set of ``request`` is that of the claims about a single one."""
    cells = runs_by_cell(rows, request.wanted)
    swept = [row for row in rows if row["dataset"] == request.dataset_name]
    labels = request.per_class or confidence_gain.PER_CLASS
    where = f"GCN on {request.dataset_name}, {labels} labels per class"
    return [
        confidence_and_gain(correlations(request, networks), where),
        *([gamma_and_gain(toy)] if toy else []),
        runs.best_method(cells),
        runs.fewer_labels(cells),
        runs.self_training_helps(cells),
        runs.ablation_order(cells),
        runs.lower_threshold(lines(swept, "threshold", request.wanted), request.dataset_name),
        runs.lower_beta(lines(swept, "beta", request.wanted), request.dataset_name),
        runs.twice_the_time(cells),
    ]


def correlations(request: Request, networks: int) -> dict[str, list[Correlation]]:
    """Kind of gain -> ρ of confidence and gain, one per network."""
    found: dict[str, list[Correlation]] = {}
    for seed in range(networks):
        run = replace(request, seed=seed).run("gcn", confidence_gain.PER_CLASS)
        for shown in confidence_gain.panels(run):
            if shown.correlation is not None:
                found.setdefault(shown.kind, []).append(shown.correlation)
    return found


def write_claims(claims: Sequence[Claim], path: Path) -> None:
    """Write the claims as JSON."""
    write_text(path, json.dumps([claim.document() for claim in claims], indent=2, ensure_ascii=False) + "\n")


def confidence_and_gain(found: Mapping[str, Sequence[Correlation]], where: str) -> Claim:
    """``found``: kind of gain -> ρ of confidence and gain, one per network."""
    remarks = [
        f"Gain by {kind}, {where}, the 95 % bootstrap interval over nodes of each network: "
        f"ρ = {', '.join(str(c) for c in each)}."
        for kind, each in found.items()
    ]
    effects = [
        effect
        for kind, each in found.items()
        for effect in measure(f"Gain by {kind}", [c.rho for c in each], BELOW, "ρ", "networks")
    ]
    return Claim(
        "Confident nodes bring little information",
        "A clear negative correlation between confidence and information gain (Fig. 1a, Cora).",
        "Spearman's ρ of confidence and gain over the nodes outside the training set, mean over networks: the 95 % "
        "interval (Student's t) lies below 0, for dropout and for dropedge.",
        effects,
        remarks,
    )


def gamma_and_gain(found: Toy, seed: int = 0) -> Claim:
    """γ and B over the pseudo-labelled nodes of the Gaussian class, and both against the distance from its centre."""
    rng, nodes = np.random.default_rng(seed), found.pseudo_labelled
    gamma, radius = found.gamma(nodes), np.linalg.norm(nodes, axis=1)
    pairs = {
        "γ and gain": (gamma, found.gain),
        "distance and γ": (radius, gamma),
        "distance and gain": (radius, found.gain),
    }
    effects = [
        Effect(name, "ρ", c.rho, c.low, c.high, c.pairs, "nodes", decide(c.low, c.high))
        for name, (x, y) in pairs.items()
        if (c := rank_correlation(x, y, rng)) is not None
    ]
    return Claim(
        "Gain falls where the weight γ should fall",
        "γ = P_pop / P_st becomes smaller towards the centre, away from the decision boundary, and so does information "
        "gain (Fig. 2).",
        "Spearman's ρ of γ and gain over the pseudo-labelled nodes, and of either with the distance from the centre: "
        "all three 95 % bootstrap intervals lie above 0.",
        effects,
        [_remark(found)],
    )


def _remark(found: Toy) -> str:
    if not len(found.pseudo_labelled):
        return "No node was pseudo-labelled as the Gaussian class."
    ours, theirs = (np.median(np.linalg.norm(part, axis=1)) for part in (found.pseudo_labelled, found.labelled))
    return (
        f"{len(found.pseudo_labelled):,} nodes were pseudo-labelled as the Gaussian class by confidence; "
        f"{100 * found.accuracy:.1f} % belong to it. Their median distance from the centre is {ours:.2f}, that of the "
        f"labelled nodes {theirs:.2f}."
    )
