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
from drgst.lab.effect import BELOW, CellValues, Claim, Effect, differences, measure, measure_cells
from drgst.lab.figures import confidence_gain
from drgst.lab.figures.registry import Request
from drgst.lab.figures.sweep import Line, lines
from drgst.lab.figures.toy import Toy, run_toy
from drgst.lab.paper import DRGST, METHODS, ablations
from drgst.lab.statistics import Correlation, spearman
from drgst.lab.store.cells import Cells, runs_by_cell
from drgst.lab.store.schema import Row

BASELINES = tuple(recipe for recipe in METHODS if recipe not in DRGST)
SELF_TRAINING = ("sts", "m3s", "abn")
PAIRED = (
    "on the same draws, mean over these cells (data set and label count): the 95 % interval for these cells lies "
    "above 0. A draw counts once for all label counts of a data set, and reseeds of the public split are one split"
)
STEP = 0.1  # of a setting, in which its effect is given
LOW, HIGH = 1.5, 2.5  # "approximately twice"
NETWORKS, TOYS = 5, 20  # networks and toys whose correlations with the gain are measured


def best_method(cells: Cells) -> Claim:
    """DR-GST against each baseline of the paper: in all cells, and in those in which it trains a student."""
    effects, remarks = [], []
    for one, other in product(DRGST, BASELINES):
        for reading, shown in (("all cells", cells), ("cells with a student", _with_student(cells, one))):
            found = list(differences(shown, one, other).values())
            measured = measure_cells(f"{one} over {other}", found, reading=reading)
            effects += measured
            if any(effect.verdict == "held" for effect in measured):
                remarks += _of_one_dataset(f"{one} over {other}, {reading},", found)
    return Claim(
        "DR-GST outperforms every baseline",
        "DR-GST outperforms all the baselines by a considerable margin across most cases (Table 1).",
        f"Mean difference to each baseline {PAIRED}. It must do so for dropout and for dropedge, and in both readings: "
        "in all cells, and in those in which the published settings train a student; in the others DR-GST is the GCN.",
        effects,
        remarks,
    )


def _with_student(cells: Cells, recipe: str) -> Cells:
    """The cells of data sets and label counts in which ``recipe`` trains a student."""
    places = {
        cell[:2] for cell, runs in cells.items() if cell[2] == recipe and any(r["stages"] != 0 for r in runs.rows)
    }
    return {cell: runs for cell, runs in cells.items() if cell[:2] in places}


def _of_one_dataset(name: str, found: Sequence[CellValues]) -> list[str]:
    """A remark where the mean without one data set is less than half of the mean."""
    mean = _mean(found)
    for dataset in sorted({cell.dataset for cell in found}):
        here = [cell for cell in found if cell.dataset == dataset]
        others = [cell for cell in found if cell.dataset != dataset]
        if others and _mean(others) < mean / 2:
            shown = f"{100 * _mean(here):+.1f} points there, {100 * _mean(others):+.1f} on the others"
            return [f"{name} comes mostly from {dataset}: {shown}."]
    return []


def _mean(found: Sequence[CellValues]) -> float:
    return sum(cell.mean for cell in found) / len(found) if found else 0.0


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
        values, margins = list[CellValues](), differences(cells, recipe, "gcn")
        for dataset in dict.fromkeys(dataset for dataset, _ in margins):
            found = {k: cell for (d, k), cell in margins.items() if d == dataset}
            if len(found) > 1:
                values += [found[min(found)], replace(found[max(found)], weight=-1.0)]
                means = ", ".join(f"{100 * m.mean:+.1f} at {k}" for k, m in found.items())
                remarks.append(f"Margin of {recipe} over gcn on {dataset}, by labels per class: {means}.")
        effects += measure_cells(f"{recipe}, margin with fewest labels minus margin with most", values)
    return Claim(
        "The margin grows as labels get fewer",
        "A larger performance margin between DR-GST and GCNs with fewer labels per class (Fig. 4).",
        "Margin over gcn on the same draws with the fewest labels per class, minus that with the most, mean over data "
        "sets: the 95 % interval for these data sets lies above 0, for dropout and for dropedge.",
        effects,
        remarks,
    )


def _over(cells: Cells, one: str, other: str) -> list[Effect]:
    return measure_cells(f"{one} over {other}", list(differences(cells, one, other).values()))


def _ordered(cells: Cells, recipe: str) -> tuple[int, int]:
    """The number of cells whose means are in the claimed order, and of cells with all four recipes."""
    recipes = ablations(recipe)
    places = [place for place in {cell[:2] for cell in cells} if all((*place, r) in cells for r in recipes)]
    means = [[cells[*place, r].mean("test_accuracy")[0] or 0.0 for r in recipes] for place in places]
    return sum(all(a > b for a, b in pairwise(row)) for row in means), len(means)


def lower_threshold(lines: Sequence[Line], dataset: str) -> Claim:
    """Accuracy against τ."""
    paper = "The best performance is achieved with a smaller τ: confident nodes contribute less (Fig. 7: 0.40 to 0.70)."
    return _lower("A lower threshold is better", paper, f"τ on {dataset}", lines)


def lower_beta(lines: Sequence[Line], dataset: str) -> Claim:
    """Accuracy against β."""
    paper = (
        "With the increase of β performance shows a downward trend (Fig. 8: 1/3 to 1). A larger β gives pseudo-labels "
        "less weight in Eq. 13, though the text says the reverse."
    )
    return _lower("A lower β is better", paper, f"β on {dataset}", lines)


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
        "The slope of test accuracy over the setting, fitted draw by draw, mean over label counts: its 95 % interval "
        "lies below 0. A draw counts once for all label counts.",
        measure_cells(f"{STEP:g} more of {setting}", mean_slopes(lines), BELOW),
        remarks,
    )


def mean_slopes(lines: Sequence[Line]) -> list[CellValues]:
    """For each label count the change with :data:`STEP`, the mean over recipes: lines of one draw share its nodes."""
    found: dict[int, dict[int, list[float]]] = {}
    for line in lines:
        for draw, slope in line.slopes().items():
            found.setdefault(line.per_class, {}).setdefault(draw, []).append(STEP * slope)
    one_split = {line.per_class: line.one_split for line in lines}
    return [
        CellValues("", {draw: float(np.mean(each)) for draw, each in sorted(draws.items())}, one_split[k])
        for k, draws in sorted(found.items())
    ]


def twice_the_time(cells: Cells) -> Claim:
    """A stage of DR-GST against a stage of thresholded self-training with the same settings."""
    return Claim(
        "About twice the time of plain self-training",
        "The time complexity of DR-GST is approximately twice that of the general self-training framework (Appendix).",
        "Ratio of the seconds of a stage to those of thresholded self-training with the same threshold, geometric mean "
        f"over these cells: the 95 % interval lies between {LOW:g} and {HIGH:g}. The ratio of epochs is given "
        "beside it, since seconds depend on the load of the machine.",
        [e for recipe in DRGST for e in _ratio(cells, recipe, "seconds")],
        [f"{e.name}: {e.figures()}." for recipe in DRGST for e in _ratio(cells, recipe, "epochs")],
    )


def _ratio(cells: Cells, recipe: str, figure: str) -> list[Effect]:
    ratios = stage_ratios(cells, recipe, f"{recipe}-wo", figure)
    name = f"{figure.capitalize()} per stage, {recipe} to {recipe}-wo"
    return measure_cells(name, ratios, (math.log(LOW), math.log(HIGH)), "times")


def stage_ratios(cells: Cells, one: str, other: str, figure: str) -> list[CellValues]:
    """Log of the mean of ``figure`` over the stages after the teacher, ``one`` / ``other``, for each shared draw."""
    return list(differences(cells, one, other, lambda row: _log_per_stage(row, figure)).values())


def _log_per_stage(row: Row, figure: str) -> float | None:
    """Log of the mean over the stages; None where no stage was trained."""
    stages = json.loads(row.get("stage_rows") or "[]")[1:]
    values = [stage[figure] for stage in stages if stage.get(figure)]
    return math.log(sum(values) / len(values)) if values else None


def decide_claims(
    rows: Sequence[Row], request: Request, networks: int = NETWORKS, toys: int = TOYS, first: Toy | None = None
) -> list[Claim]:
    """Every claim of the paper; the data set of ``request`` is that of the claims about a single one.

    ``first`` is the toy of seed 0, where it was run before.
    """
    cells = runs_by_cell(rows, request.wanted)
    swept = [row for row in rows if row["dataset"] == request.dataset_name]
    labels = request.per_class or confidence_gain.PER_CLASS
    where = f"GCN on {request.dataset_name}, {labels} labels per class"
    return [
        confidence_and_gain(correlations(request, networks), where),
        gamma_and_gain([first if not k and first else run_toy(k, request.toy, request.changes) for k in range(toys)]),
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


def gamma_and_gain(toys: Sequence[Toy]) -> Claim:
    """γ and B over the pseudo-labelled nodes of the Gaussian class, and both against the distance from its centre."""
    found: dict[str, list[float]] = {"γ and gain": [], "distance and γ": [], "distance and gain": []}
    for toy in toys:
        gamma, radius = toy.gamma(toy.pseudo_labelled), np.linalg.norm(toy.pseudo_labelled, axis=1)
        for values, (x, y) in zip(
            found.values(), ((gamma, toy.gain), (radius, gamma), (radius, toy.gain)), strict=True
        ):
            rho = float(spearman(x, y)) if x.size > 2 else math.nan
            values += [rho] if math.isfinite(rho) else []
    return Claim(
        "Gain falls where the weight γ should fall",
        "γ = P_pop / P_st becomes smaller towards the centre, away from the decision boundary, and so does information "
        "gain (Fig. 2).",
        "Spearman's ρ of γ and gain over the pseudo-labelled nodes, and of either with the distance from the centre, "
        "mean over toys of different seeds: all three 95 % intervals (Student's t) lie above 0.",
        [e for name, values in found.items() for e in measure(name, values, unit="ρ", counted="seeds")],
        _pseudo_labelled(toys),
    )


def _pseudo_labelled(toys: Sequence[Toy]) -> list[str]:
    filled = [toy for toy in toys if len(toy.pseudo_labelled)]
    if not filled:
        return ["No node was pseudo-labelled as the Gaussian class."]
    ours, theirs = (
        np.mean([np.median(np.linalg.norm(getattr(toy, part), axis=1)) for toy in filled])
        for part in ("pseudo_labelled", "labelled")
    )
    return [
        f"{np.mean([len(toy.pseudo_labelled) for toy in toys]):,.0f} nodes per toy were pseudo-labelled as the "
        f"Gaussian class by confidence; {100 * np.mean([toy.accuracy for toy in filled]):.1f} % belong to it. Their "
        f"median distance from the centre is {ours:.2f}, that of the labelled nodes {theirs:.2f}."
    ]
