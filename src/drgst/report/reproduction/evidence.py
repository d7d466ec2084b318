"""What the claims are judged by, and the claims."""

from __future__ import annotations

from dataclasses import dataclass, replace

from drgst.bench.correlation import Correlation
from drgst.bench.results import READ, CellName, Row, Runs, Wanted, choose
from drgst.bench.store import Store
from drgst.report.claims import ablation, margin, relations, sweeps, time
from drgst.report.claims.base import Claim
from drgst.report.figures import confidence_gain
from drgst.report.figures.request import Request
from drgst.report.figures.sweep import lines
from drgst.report.figures.toy_run import Toy
from drgst.report.reproduction.scale import Scale


@dataclass(frozen=True, eq=False)
class Evidence:
    """Runs of the store, ρ of several networks, and the toy."""

    rows: list[Row]
    cells: dict[CellName, Runs]
    correlations: dict[str, list[Correlation]]
    toy: Toy | None


def read_rows(store: Store, datasets: tuple[str, ...]) -> list[Row]:
    """The runs that did not fail on these data sets, with what is known of each stage."""
    rows = store.all_rows((*READ, "stage_rows"))
    return [row for row in rows if row["error"] is None and row["dataset"] in datasets]


def gather(rows: list[Row], scale: Scale, request: Request, toy: Toy | None) -> Evidence:
    """Train the networks of the first claim, and choose the runs of the others."""
    return Evidence(rows, choose(rows, Wanted(scale.variant)), correlations(scale, request), toy)


def correlations(scale: Scale, request: Request) -> dict[str, list[Correlation]]:
    """Kind of gain -> ρ of confidence and gain, one for each network."""
    found: dict[str, list[Correlation]] = {}
    for seed in range(scale.networks):
        run = replace(request, seed=seed).run("gcn", max(scale.per_class))
        for shown in confidence_gain.panels(run):
            if shown.correlation is not None:
                found.setdefault(shown.kind, []).append(shown.correlation)
    return found


def claims(evidence: Evidence, scale: Scale, dataset: str) -> list[Claim]:
    """Every claim of the paper, in its order."""
    swept = [row for row in evidence.rows if row["dataset"] == dataset]
    where = f"GCN on {dataset}, {max(scale.per_class)} labels a class"
    made = [relations.confidence(evidence.correlations, where)]
    if evidence.toy is not None:
        made.append(relations.toy(evidence.toy))
    return [
        *made,
        margin.fewer_labels(evidence.cells),
        ablation.order(evidence.cells),
        sweeps.threshold(lines(swept, "threshold"), dataset),
        sweeps.beta(lines(swept, "beta"), dataset),
        time.twice(evidence.cells),
    ]
