"""The verdict on each claim of the paper, from the runs of a store and a few runs made for it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from drgst.files import write_text
from drgst.lab.claims import accuracy, relations, sweeps, time
from drgst.lab.claims.effect import Claim
from drgst.lab.figures import confidence_gain
from drgst.lab.figures.request import Request
from drgst.lab.figures.sweep import lines
from drgst.lab.figures.toy_run import Toy
from drgst.lab.statistics.correlation import Correlation
from drgst.lab.statistics.results import Row, runs_by_cell

NETWORKS = 5  # networks whose correlation of confidence and gain is measured


def decide_claims(rows: Sequence[Row], request: Request, toy: Toy | None, networks: int = NETWORKS) -> list[Claim]:
    """Every claim of the paper; the data set of ``request`` is that of the claims about a single one."""
    cells = runs_by_cell(rows, request.wanted)
    swept = [row for row in rows if row["dataset"] == request.dataset_name]
    labels = request.per_class or confidence_gain.PER_CLASS
    where = f"GCN on {request.dataset_name}, {labels} labels per class"
    return [
        relations.confidence(correlations(request, networks), where),
        *([relations.toy(toy)] if toy else []),
        accuracy.best_method(cells),
        accuracy.fewer_labels(cells),
        accuracy.self_training_helps(cells),
        accuracy.ablation_order(cells),
        sweeps.threshold(lines(swept, "threshold", request.wanted), request.dataset_name),
        sweeps.beta(lines(swept, "beta", request.wanted), request.dataset_name),
        time.twice(cells),
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
