"""The claims of the paper: DR-GST against baselines and its ablations, settings, time, and information gain."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path

import numpy as np

from drgst.files import write_text
from drgst.lab.claims.effect import BELOW, Claim, Effect, decide, differences, margins, measure
from drgst.lab.figures import confidence_gain
from drgst.lab.figures.registry import Request
from drgst.lab.figures.sweep import Line, lines
from drgst.lab.figures.toy import Toy
from drgst.lab.paper import DRGST, METHODS, ablations
from drgst.lab.statistics import Correlation, rank_correlation
from drgst.lab.store.cells import Cells, runs_by_cell
from drgst.lab.store.schema import Row

BASELINES = tuple(recipe for recipe in METHODS if recipe not in DRGST)
SELF_TRAINING = ("sts", "m3s", "abn")
PAIRED = "on the same draws, over all data sets and label counts: the 95 % interval (Student's t) lies above 0"
STEP = 0.1  # of a setting, in which its effect is given
LOW, HIGH = 1.5, 2.5  # "approximately twice"


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
            found = {k: m for k in labels if (m := margins(cells, (dataset, k), recipe, "gcn"))}
            if len(found) > 1:
                first, last = found[min(found)], found[max(found)]
                values += [first[draw] - last[draw] for draw in sorted(first.keys() & last.keys())]
                means = ", ".join(f"{100 * sum(m.values()) / len(m):+.1f} at {k}" for k, m in found.items())
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


def lower_threshold(lines: Sequence[Line], dataset: str) -> Claim:
    """Accuracy against τ."""
    return _lower(
        "A lower threshold is better",
        "The best performance is achieved with a smaller τ: confident nodes contribute less (Fig. 7: 0.40 to 0.70).",
        f"τ on {dataset}",
        lines,
    )


def lower_beta(lines: Sequence[Line], dataset: str) -> Claim:
    """Accuracy against β."""
    return _lower(
        "A lower β is better",
        "With the increase of β performance shows a downward trend (Fig. 8: 1/3 to 1). A larger β gives pseudo-labels "
        "less weight in Eq. 13, though the text says the reverse.",
        f"β on {dataset}",
        lines,
    )


def _lower(title: str, paper: str, setting: str, lines: Sequence[Line]) -> Claim:
    remarks = []
    for line in lines:
        x, y = line.means()
        shown = ", ".join(f"{mean:.1f} at {value:.3g}" for value, mean in zip(x, y, strict=True))
        best = x[int(np.nanargmax(y))]
        remarks.append(f"{line.recipe}, {line.per_class} labels per class: {shown}; best at {best:.3g}.")
    return Claim(
        title,
        paper,
        "The slope of test accuracy over the setting, fitted draw by draw: the 95 % interval (Student's t) of its mean "
        "lies below 0.",
        measure(f"{STEP:g} more of {setting}", [STEP * slope for slope in mean_slopes(lines)], BELOW),
        remarks,
    )


def mean_slopes(lines: Sequence[Line]) -> list[float]:
    """The mean slope of each draw over the lines: lines of one draw share its nodes, so they count as one value."""
    found: dict[int, list[float]] = {}
    for line in lines:
        for draw, slope in line.slopes().items():
            found.setdefault(draw, []).append(slope)
    return [float(np.mean(found[draw])) for draw in sorted(found)]


def twice_the_time(cells: Cells) -> Claim:
    """A stage of DR-GST against a stage of thresholded self-training with the same settings."""
    return Claim(
        "About twice the time of plain self-training",
        "The time complexity of DR-GST is approximately twice that of the general self-training framework (Appendix).",
        "Ratio of the seconds of a stage to those of thresholded self-training with the same threshold, geometric mean "
        f"over draws: the 95 % interval (Student's t) lies between {LOW:g} and {HIGH:g}. The ratio of epochs is given "
        "beside it, since seconds depend on the load of the machine.",
        [e for recipe in DRGST for e in _ratio(cells, recipe, "seconds")],
        [f"{e.name}: {e.figures()}." for recipe in DRGST for e in _ratio(cells, recipe, "epochs")],
    )


def _ratio(cells: Cells, recipe: str, figure: str) -> list[Effect]:
    logs = [math.log(ratio) for ratio in stage_ratios(cells, recipe, f"{recipe}-wo", figure)]
    name = f"{figure.capitalize()} per stage, {recipe} to {recipe}-wo"
    return measure(name, logs, (math.log(LOW), math.log(HIGH)), "times")


def stage_ratios(cells: Cells, one: str, other: str, figure: str) -> list[float]:
    """Mean of ``figure`` over the stages after the teacher, ``one`` / ``other``, for each draw that both have."""
    ratios = []
    for place in sorted({cell[:2] for cell in cells}):
        if (*place, one) in cells and (*place, other) in cells:
            x, y = ({row["draw"]: _per_stage(row, figure) for row in cells[*place, r].rows} for r in (one, other))
            ratios += [x[draw] / y[draw] for draw in sorted(x.keys() & y.keys()) if y[draw]]
    return [ratio for ratio in ratios if math.isfinite(ratio) and ratio > 0]


def _per_stage(row: Row, figure: str) -> float:
    """Mean over the stages; NaN where no stage was trained."""
    stages = json.loads(row.get("stage_rows") or "[]")[1:]
    values = [stage[figure] for stage in stages if stage.get(figure)]
    return sum(values) / len(values) if values else math.nan


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
        best_method(cells),
        fewer_labels(cells),
        self_training_helps(cells),
        ablation_order(cells),
        lower_threshold(lines(swept, "threshold", request.wanted), request.dataset_name),
        lower_beta(lines(swept, "beta", request.wanted), request.dataset_name),
        twice_the_time(cells),
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


def gamma_and_gain(found: Toy) -> Claim:
    """γ and B over the pseudo-labelled nodes of the Gaussian class, and both against the distance from its centre."""
    rng, nodes = np.random.default_rng(0), found.pseudo_labelled
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
