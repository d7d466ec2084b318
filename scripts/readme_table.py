"""Fills the tables of README.md, pages of docs/ and pages of results/ from the files in results/.

drgst lab bench export results/runs.csv --store runs/results.db && python scripts/readme_table.py

A table stands between ``<!-- table NAME -->`` and ``<!-- end -->``; everything outside is written by hand. Only runs
with default settings and of the latest version of their recipe count.
"""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd

from drgst.decide.labels.registry import SAMPLE, default_chooser
from drgst.files import write_text
from drgst.lab.effect import Claim
from drgst.lab.label_curves import LabelCurves, curve_groups
from drgst.lab.paper import METHODS, TUNED, dataset_order, main_table, recipe_order
from drgst.lab.simulate import Plan
from drgst.lab.store.cells import CellName, RunFilter, Runs, on_common_draws, runs_by_cell, stored_rows
from drgst.lab.tables.layout import render
from drgst.lab.tables.runs import make_table
from drgst.recipes import find_recipe

HOME = Path(__file__).parents[1]
RUNS = HOME / "results" / "runs.csv"
RESULTS = HOME / "results"
PAGES = (
    HOME / "README.md",
    RESULTS / "README.md",
    RESULTS / "tables" / "drgst-plus.md",
    HOME / "docs" / "paper" / "did-the-paper-hold.md",
    HOME / "docs" / "guides" / "labels.md",
    HOME / "docs" / "guides" / "which-graphs.md",
    HOME / "docs" / "guides" / "relations.md",
    HOME / "docs" / "guides" / "scale.md",
    HOME / "docs" / "methods" / "loop.md",
)
MARKED = re.compile(r"(<!-- table (\S+) -->\n).*?(<!-- end -->)", flags=re.DOTALL)
LABELS = (3, 5, 10, 20)
MODES = {"none": "only these labels", "public": "and the 500 further labels"}
BASELINES = ("sts", "sts-threshold", "m3s", "m3s-threshold", "abn", "abn-threshold", "iceberg")
GRAPHS = ("cora", "citeseer", "pubmed", "flickr")
FAR = 1.5  # points between our figures and the paper's that are listed
NOT_MEASURED = "The version that ships was not measured yet."
CELL = ["dataset", "per_class", "recipe", "pool", "validation"]


def read_runs(path: Path) -> pd.DataFrame:
    """The runs with default settings that did not fail, in each cell those of the latest version of the recipe."""
    runs = pd.read_csv(path, low_memory=False)
    runs = runs[runs["variant"].fillna("").eq("") & runs["error"].isna()]
    return runs[runs["recipe_version"] == runs.groupby(CELL)["recipe_version"].transform("max")]


def accuracy(runs: pd.DataFrame) -> str:
    """``81.5 ± 0.3``: mean and standard deviation over draws in percent; empty with fewer than two draws."""
    percent = 100 * runs["test_accuracy"]
    return f"{percent.mean():.1f} ± {percent.std():.1f}" if len(percent) > 1 else ""


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table, the first column aligned left, the others right."""
    lines = ["| " + " | ".join(cells) + " |" for cells in (header, *rows)]
    return "\n".join([lines[0], "|:--|" + "--:|" * (len(header) - 1), *lines[1:]])


def plus_table(runs: pd.DataFrame) -> str:
    """drgst-plus in both modes, and the best figure of the paper in each cell."""
    plus, rows = plus_runs(runs), []
    for dataset in GRAPHS:
        for mode, words in MODES.items():
            here = plus[(plus["dataset"] == dataset) & (plus["validation"] == mode)]
            cells = [accuracy(here[here["per_class"] == k]) or "–" for k in LABELS]
            rows.append((f"{dataset.capitalize()}, {words}", *cells))
        rows.append(("*the paper's best*", *(f"*{papers_best(dataset, k):.1f}*" for k in LABELS)))
    return f"{markdown(('`drgst-plus`', *(f'{k} labels per class' for k in LABELS)), rows)}\n\n{plus_words(runs)}"


def plus_short_table(runs: pd.DataFrame) -> str:
    """drgst-plus from the drawn labels alone, and the best figure of the paper in each cell."""
    plus, rows = plus_runs(runs), []
    for dataset in GRAPHS:
        here = plus[(plus["dataset"] == dataset) & (plus["validation"] == "none")]
        cells = [accuracy(here[here["per_class"] == k]) or "–" for k in LABELS]
        rows.append((f"{dataset.capitalize()}, `drgst-plus`", *cells))
        rows.append(("*the paper's best*", *(f"*{papers_best(dataset, k):.1f}*" for k in LABELS)))
    return f"{markdown(('', *(f'{k} labels per class' for k in LABELS)), rows)}\n\n{plus_words(runs)}"


def papers_best(dataset: str, per_class: int) -> float:
    """The highest figure of the paper's Table 1 in a cell."""
    return max(v for (d, k, _), v in main_table().items() if (d, k) == (dataset, per_class))


def plus_words(runs: pd.DataFrame) -> str:
    """Where drgst-plus from the drawn labels alone is below the paper's best figure, and how well it is calibrated."""
    plus = plus_runs(runs)
    cells = dict(iter(plus[plus["validation"] == "none"].groupby(["dataset", "per_class"])))
    missing = len(GRAPHS) * len(LABELS) - len(cells)
    said = f"Version {find_recipe('drgst-plus').version}{f'; {missing} cells are still to be run' if missing else ''}."
    if not cells:
        return said
    below = [(d, k) for (d, k), cell in cells.items() if 100 * cell["test_accuracy"].mean() <= papers_best(d, k)]
    where = ", ".join(f"{d.capitalize()} {k}" for d, k in sorted(below, key=lambda p: (dataset_order(p[0]), p[1])))
    means = [100 * cell["ece"].mean() for cell in cells.values()]
    worst, (dataset, k) = max((100 * cell["ece"].max(), place) for place, cell in cells.items())
    return (
        f"{said} From the drawn labels alone it is above the paper's best figure in {len(cells) - len(below)} of "
        f"{len(cells)} cells{f' (not {where})' if below else ''}. The expected calibration error of a cell is "
        f"{min(means):.0f} to {max(means):.0f} % in the mean over draws; the worst single draw has {worst:.0f} % "
        f"({dataset.capitalize()}, {k} labels per class)."
    )


def plus_facts_table(runs: pd.DataFrame) -> str:
    """drgst-plus: macro-F1, ECE, seconds and memory in both modes, and the number of draws."""
    plus, rows = plus_runs(runs), []
    for dataset in datasets(plus):
        for k in LABELS:
            cell = plus[(plus["dataset"] == dataset) & (plus["per_class"] == k)]
            modes = [cell[cell["validation"] == mode] for mode in MODES]
            percents = [" / ".join(f"{100 * m[c].mean():.1f}" for m in modes) for c in ("macro_f1", "ece")]
            percents += [" / ".join(f"{100 * m['ece'].max():.1f}" for m in modes)]
            seconds = " / ".join(f"{m['seconds'].median():.1f}" for m in modes)
            draws = " / ".join(str(len(m)) for m in modes)
            rows.append(
                (dataset.capitalize(), str(k), *percents, seconds, f"{cell['peak_memory_mb'].max():.0f}", draws)
            )
    columns = (
        "macro-F1, none / 500",
        "ECE, none / 500",
        "ECE of the worst draw",
        "median s, none / 500",
        "peak MB",
        "draws",
    )
    return markdown(("", "labels per class", *columns), rows)


def dataset_table(runs: pd.DataFrame, dataset: str) -> str:
    """The recipes that the paper reports, those tuned, and the number of draws.

    Ours, and in brackets the paper's figure.
    """
    runs = protocol_runs(runs)
    shown = [*METHODS, *(f"{method}{TUNED}" for method in METHODS)]
    runs = runs[(runs["dataset"] == dataset) & runs["recipe"].isin(shown)]
    rows = []
    for recipe in sorted(set(runs["recipe"]), key=recipe_order):
        mine = runs[runs["recipe"] == recipe]
        cells = []
        for k in LABELS:
            ours, paper = (
                accuracy(mine[mine["per_class"] == k]),
                main_table().get((dataset, k, recipe.removesuffix(TUNED))),
            )
            cells.append(ours if paper is None or not ours else f"{ours} ({paper:.1f})")
        counts = mine.groupby("per_class").size()
        draws = f"{counts.min()} to {counts.max()}" if counts.min() < counts.max() else f"{counts.max()}"
        rows.append((f"`{recipe}`", *cells, draws))
    return markdown((dataset.capitalize(), *(str(k) for k in LABELS), "draws"), rows)


def claims_table(_: pd.DataFrame) -> str:
    """Every claim of the paper with its verdict, then a table of effects for each."""
    claims = [Claim.of(document) for document in json.loads((RESULTS / "claims.json").read_text(encoding="utf-8"))]
    parts = [markdown(("claim", "verdict"), [(claim.title, f"**{claim.verdict}**") for claim in claims])]
    for claim in claims:
        table = claim.table()
        rows = [[entry.text for entry in row] for row in table.rows]
        said = [f"*{remark}*" for remark in claim.remarks if "comes mostly from" in remark]
        parts.append("\n\n".join([f"**{claim.title}**: {claim.verdict}", markdown(table.titles, rows), *said]))
    return "\n\n".join(parts)


def curve_table(recipe: str, start: int) -> str:
    """Learning curves of ``drgst suggest`` against random labels: one row per graph."""
    shown = [(name, *_curve(*summary)) for name, summary in curve_summaries(recipe, start)]
    head = ("", "draws", "start", "after 20 more", "at the end", "area", "difference", "95 %", "p", "needs")
    return markdown(head, shown) if shown else NOT_MEASURED


def curve_summaries(recipe: str, start: int) -> list[tuple[str, list[dict[str, Any]]]]:
    """For each graph with curves of a recipe: those of ``drgst suggest`` and of random labels, in this order."""
    rows = [row for row in stored_rows(RESULTS / "label_curves.csv") if row["recipe"] == recipe]
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        by, _, plan = row["variant"].removeprefix("label-curve by=").partition(",")
        if row["per_class"] == start and by in ("suggest", "random", default_chooser(recipe, start * SAMPLE)):
            groups.setdefault((row["dataset"], plan), []).append(row)
    shown = []
    for (dataset, _), found in sorted(groups.items(), key=lambda item: (dataset_order(item[0][0]), item[0][1])):
        random = curve_groups(found, ()).pop("random")
        (suggest,) = (group for by, group in curve_groups(found, ()).items() if by != "random")
        both = {"suggest": suggest, "random": random}
        name = dataset.capitalize() if dataset in GRAPHS else dataset
        shown.append((name, LabelCurves(Plan(dataset, recipe, start), both).summary()))
    return shown


def curve_words(recipe: str, start: int) -> str:
    """On how many graphs suggested labels lead, by how much, and where they are behind."""
    found = {name: summary[0] for name, summary in curve_summaries(recipe, start)}
    if not found:
        return NOT_MEASURED
    differences = {name: 100 * suggest["difference"] for name, suggest in found.items()}
    behind = {name: d for name, d in differences.items() if d < 0}
    sure = [name for name in behind if found[name]["high"] is not None and found[name]["high"] < 0]
    said = (
        f"Suggested labels lead on {len(differences) - len(behind)} of {len(differences)} graphs and by "
        f"{sum(differences.values()) / len(differences):.1f} points on average."
    )
    if not behind:
        return said
    names = ", ".join(behind)
    return (
        f"{said} They are behind on {names}, by {-min(behind.values()):.1f} points at most; the interval excludes 0 on "
        f"{', '.join(sure) or 'none of these'}."
    )


def _curve(suggest: dict[str, Any], random: dict[str, Any]) -> list[str]:
    pairs = [f"{100 * suggest[name]:.1f} / {100 * random[name]:.1f}" for name in ("start", "after_20", "end", "area")]
    low, high, p, needs = (suggest[name] for name in ("low", "high", "p", "share_needed"))
    difference = f"{100 * suggest['difference']:+.1f}"
    marked = f"**{difference}**" if low is not None and low * high > 0 else difference
    interval = "" if low is None else f"{100 * low:+.1f} to {100 * high:+.1f}"
    draws = str(min(suggest["draws"], random["draws"]))
    return [draws, *pairs, marked, interval, "" if p is None else f"{p:.3f}", "" if needs is None else f"{needs:.0%}"]


def same_labels_table(_: pd.DataFrame) -> str:
    """Recipes that train on the 500 validation labels, too, with test nodes in the pool."""
    runs = pd.read_csv(RUNS, low_memory=False)
    runs = runs[runs["error"].isna() & runs["pool"].eq("all-but-validation") & runs["validation"].eq("public")]
    trained = runs["variant"].fillna("").eq("val_labels=train") | (
        runs["recipe"].eq("drgst-plus") & runs["variant"].isna()
    )
    runs, rows = runs[trained], []
    places = [(dataset, k) for dataset in datasets(runs) for k in (3, 20)]
    for recipe in ("drgst-plus", "appnp", "logistic-ppr", "gcn"):
        mine = runs[runs["recipe"].eq(recipe)]
        cells = [mine[mine["dataset"].eq(d) & mine["per_class"].eq(k)]["test_accuracy"] for d, k in places]
        rows.append((f"`{recipe}`", *(f"{100 * cell.mean():.1f} ({len(cell)})" if len(cell) else "" for cell in cells)))
    return markdown(("", *(f"{d.capitalize()}, {k}" for d, k in places)), rows)


def newer_table(runs: pd.DataFrame) -> str:
    """Figures of other papers, and DR-GST and drgst-plus here, on the citation graphs."""
    with (RESULTS / "newer_methods.csv").open(encoding="utf-8", newline="") as handle:
        rows = [tuple(row) for row in csv.reader(handle)][1:]
    plus, protocol = plus_runs(runs), protocol_runs(runs)
    tuned = protocol[protocol["recipe"].isin([f"drgst-do{TUNED}", f"drgst-de{TUNED}"])]
    ours = {
        "DR-GST here, tuned by validation (better of two)": tuned.groupby(["dataset", "per_class", "recipe"]),
        "`drgst-plus` here, no validation labels": plus[plus["validation"].eq("none")].groupby(
            ["dataset", "per_class", "recipe"]
        ),
    }
    for name, groups in ours.items():
        best = (100 * groups["test_accuracy"].mean()).groupby(["dataset", "per_class"]).max()
        shown = {place: f"{value:.1f}" for place, value in best.items()}
        cells = (" / ".join(shown.get((d, k), "–") for k in LABELS) for d in GRAPHS[:3])
        rows.append((name, " / ".join(map(str, LABELS)), *cells))
    return markdown(("method", "labels per class", "Cora", "Citeseer", "Pubmed"), rows)


def released_table(_: pd.DataFrame) -> str:
    """as-released and the authors' program on the same draws, training by training."""
    keys, rows = ["gain", "draw", "training"], []
    ours, theirs = (pd.read_csv(RESULTS / f"{name}_cora3.csv") for name in ("as_released", "released_program"))
    both = ours.merge(theirs, on=keys, suffixes=("", "_released"))
    for (gain, training), cell in both.groupby(["gain", "training"]):
        pairs = [(cell[name].mean(), cell[f"{name}_released"].mean()) for name in ("val_accuracy", "test_accuracy")]
        percents = [f"{100 * a:.1f} / {100 * b:.1f}" for a, b in pairs]
        counts = f"{cell['pseudo_labelled'].mean():.0f} / {cell['pseudo_labelled_released'].mean():.0f}"
        rows.append((gain, "teacher" if training == 0 else f"student {training}", *percents, counts, str(len(cell))))
    return markdown(("gain", "training", "validation accuracy", "test accuracy", "pseudo-labels", "draws"), rows)


def programs_table(runs: pd.DataFrame) -> str:
    """The paper, the authors' program, as-released and DR-GST as published and as tuned, cell by cell."""
    runs, rows = protocol_runs(runs), []
    measured = pd.read_csv(RESULTS / "released_program_measured.csv")
    for dataset in datasets(runs):
        for k in LABELS:
            for short, gain in (("do", "dropout"), ("de", "dropedge")):
                same = measured["dataset"].str.lower().eq(dataset) & measured["labels_per_class"].eq(k)
                found = measured[same & measured["information_gain"].eq(gain)]
                names = (f"as-released-{short}", f"drgst-{short}", f"drgst-{short}{TUNED}")
                cells = [_counted(runs, dataset, k, name) for name in names]
                paper = f"{main_table()[dataset, k, f'drgst-{short}']:.1f}"
                stages = ("stage_by_validation_loss_mean", "at_published_stage_mean")
                program = [f"{found[stage].iloc[0]:.1f}" if len(found) else "" for stage in stages]
                rows.append((f"{dataset.capitalize()}, {k}, {gain}", paper, *program, *cells))
    program_heads = ("authors' program, stage of lowest validation loss", "authors' program, published stage")
    head = ("", "paper", *program_heads, "`as-released`", "`drgst`, as published", "`drgst`, tuned")
    return markdown(head, rows)


def tuned_table(runs: pd.DataFrame) -> str:
    """DR-GST tuned by validation: settings, their gain by validation, test accuracy beside the published ones."""
    runs, rows = protocol_runs(runs), []
    for _, cell in pd.read_csv(RESULTS / "tuned.csv").iterrows():
        dataset, k = cell["dataset"].lower(), cell["labels_per_class"]
        name = "drgst-do" if cell["information_gain"] == "dropout" else "drgst-de"
        beta = Fraction(cell["beta"]).limit_denominator(20)
        students = f"{cell['stages']} student{'s' * (cell['stages'] != 1)}"
        settings = [f"τ {cell['threshold']:g}, β {beta}, rate {cell['drop_rate']:g}, {students}"]
        settings += ["floor"] if cell["floor"] == "top" else []
        settings += ["teacher's loss / β"] if cell["teacher_scale"] == "1/beta" else []
        settings += [] if cell["keep"] == "best" else [f"keep={cell['keep']}"]
        gain = f"{cell['gain']:+.1f} ± {cell['error']:.1f} ({cell['pairs']})"
        found = [_counted(runs, dataset, k, recipe) for recipe in (name, f"{name}{TUNED}")]
        paper = f"{main_table()[dataset, k, name]:.1f}"
        rows.append((f"{cell['dataset']}, {k}, `{name[-2:]}`", ", ".join(settings), gain, *found, paper))
    head = ("", "chosen settings", "validation, tuned - published (draws)", "test, published", "test, tuned", "paper")
    return markdown(head, rows)


def baselines_table(runs: pd.DataFrame) -> str:
    """STs, M3S and ABN as in their papers and by a threshold, and IceBerg."""
    runs, rows = protocol_runs(runs), []
    for dataset in datasets(runs):
        for recipe in BASELINES:
            cells = [_counted(runs, dataset, k, recipe) for k in LABELS]
            paper = [main_table().get((dataset, k, recipe)) for k in LABELS]
            if any(cells):
                shown = [c if p is None or not c else f"{c}, paper {p:.1f}" for c, p in zip(cells, paper, strict=True)]
                rows.append((f"{dataset.capitalize()}, `{recipe}`", *shown))
    return markdown(("", *(f"{k} labels per class" for k in LABELS)), rows)


def _counted(runs: pd.DataFrame, dataset: str, per_class: int, recipe: str) -> str:
    """``81.5 ± 0.3 (10)``: accuracy and the number of draws."""
    mine = runs[runs["dataset"].eq(dataset) & runs["per_class"].eq(per_class) & runs["recipe"].eq(recipe)]
    return f"{accuracy(mine)} ({len(mine)})" if len(mine) > 1 else ""


def graphs_cells(validation: str) -> dict[CellName, Runs]:
    """The benchmark over many graphs, on the draws that all recipes of a cell have."""
    rows = [row for row in stored_rows(RESULTS / "graphs.csv") if row["validation"] == validation]
    variants = {row["variant"] for row in rows} - {""} or {"default"}  # networks have fixed epochs without validation
    return on_common_draws(runs_by_cell(rows, RunFilter(variants.pop(), "all-but-validation", validation)))


def graphs_behind(_: pd.DataFrame) -> str:
    """In how many cells drgst-plus is first, and where it is more than a point behind, and behind what."""
    found: dict[tuple[str, int], dict[str, float]] = {}
    for (dataset, per_class, recipe), runs in graphs_cells("none").items():
        found.setdefault((dataset, per_class), {})[recipe] = 100 * (runs.mean("test_accuracy")[0] or 0)
    found = {cell: by_recipe for cell, by_recipe in found.items() if "drgst-plus" in by_recipe}
    best = {cell: max(by_recipe, key=lambda name: by_recipe[name]) for cell, by_recipe in found.items()}
    first = sum(name == "drgst-plus" for name in best.values())
    behind = [
        f"{cell[0]} {cell[1]} ({by['drgst-plus']:.1f}; `{best[cell]}` {by[best[cell]]:.1f})"
        for cell, by in found.items()
        if by[best[cell]] > by["drgst-plus"] + 1
    ]
    said = f"`drgst-plus` is first in {first} of {len(found)} cells (graph and labels per class)."
    return f"{said} It is more than a point behind in: {', '.join(behind) or 'none'}."


def graphs_table(name: str, validation: str) -> str:
    """``drgst lab table NAME`` of :func:`graphs_cells`, without its title."""
    cells = graphs_cells(validation)
    if not cells:
        return NOT_MEASURED
    return re.sub(r"### (.*)\n", r"**\1**\n", render(make_table(name, cells), "md")).strip()


def graph_facts_table(_: pd.DataFrame) -> str:
    """Sizes, the largest class and homophily of the graphs of the benchmark."""
    with (RESULTS / "graph_facts.csv").open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    sizes, shares = ("nodes", "edges", "classes", "features"), ("largest", "homophily", "adjusted")
    body = [(r["graph"], *(f"{int(r[n]):,}" for n in sizes), *(f"{float(r[n]):.2f}" for n in shares)) for r in rows]
    return markdown(("graph", *sizes, "share of the largest class", "homophily", "adjusted homophily"), body)


def differences_table(runs: pd.DataFrame) -> str:
    """Where a recipe with the paper's settings differs from the paper by more than :data:`FAR` points, by recipe."""
    runs, rows = protocol_runs(runs), []
    for recipe in METHODS:
        cells = []
        for dataset in GRAPHS:
            mine = runs[runs["recipe"].eq(recipe) & runs["dataset"].eq(dataset)].groupby("per_class")["test_accuracy"]
            means = {k: 100 * mean - main_table()[dataset, k, recipe] for k, mean in mine.mean().items()}
            cells.append(", ".join(f"{k}: {d:+.1f}" for k, d in sorted(means.items()) if abs(d) > FAR))
        rows.append((f"`{recipe}`", *cells))
    return markdown(("", *(dataset.capitalize() for dataset in GRAPHS)), rows)


def scale_table(_: pd.DataFrame) -> str:
    """Whole runs of the shipped version of drgst-plus on block models."""
    rows = pd.read_csv(RESULTS / "scale.csv")
    of_block = rows["graph"].eq("block") & rows["recipe"].eq("drgst-plus") & rows["settings"].isna()
    rows = rows[of_block & rows["version"].eq(find_recipe("drgst-plus").version)]
    if rows.empty:
        return NOT_MEASURED
    body = []
    for _, row in rows.sort_values(["nodes", "threads"], na_position="first").iterrows():
        bare = "" if math.isnan(row["bare_cpu_s"]) else f"{row['bare_cpu_s']:.0f}"
        ratio = f"{row['cpu_s'] / row['bare_cpu_s']:.1f}" if bare else ""
        sizes = (f"{row['nodes']:,}", f"{row['edges']:,}", str(row["columns"]))
        threads = "default" if math.isnan(row["threads"]) else f"{row['threads']:.0f}"
        cost = (f"{row['cpu_s']:.0f}", f"{row['wall_s']:.0f}", f"{row['load']:.0f}", f"{row['peak_gb']:.2f} GB")
        body.append((*sizes, threads, *cost, bare, ratio, f"{row['test_accuracy']:.1f}"))
    head = ("nodes", "edges", "columns", "threads", "CPU s", "wall s", "load", "peak memory")
    return markdown((*head, "bare products, CPU s", "ratio", "test accuracy"), body)


def workers_table(_: pd.DataFrame) -> str:
    """Memory and CPU seconds of each process that shares a run of the shipped version, and agreement with one."""
    lines = (RESULTS / "workers.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row["version"] == find_recipe("drgst-plus").version]
    body = [
        (
            str(row["workers"]),
            f"{row['nodes']:,}",
            f"{max(row['peak_mb'])} MB",
            f"{max(row['tables_mb'])} MB",
            str(max(row["cpu_seconds"])),
            f"{100 * row['same_classes']:.1f} %",
        )
        for row in rows
    ]
    head = ("workers", "nodes", "peak memory each", "tables each", "CPU s each", "classes as of one worker")
    return markdown(head, body) if body else NOT_MEASURED


def speed_table(_: pd.DataFrame) -> str:
    """How many times faster an epoch and the gain are than in plain PyG, from results/speed.txt."""
    found: dict[str, dict[str, float]] = {}
    for line in (RESULTS / "speed.txt").read_text(encoding="utf-8").splitlines():
        if line[:1] != "#" and " plain " in line:
            dataset, what, *_, times = (part for part in re.split(r"\s{2,}", line.strip()) if part)
            found.setdefault(what, {})[dataset.capitalize()] = float(times.removesuffix(" x"))
    names = list(next(iter(found.values())))
    body = [(what, *(f"{by[name]:,.{0 if by[name] >= 100 else 1}f}" for name in names)) for what, by in found.items()]
    return markdown(("times faster than plain PyG", *names), body)


def gain_table(_: pd.DataFrame) -> str:
    """The closed form of the gain by dropedge and 100 samples, each against many samples."""
    found, rows = pd.read_csv(RESULTS / "gain_estimators.csv"), []
    for (dataset, k), cell in found.groupby(["dataset", "per_class"], sort=False):
        by_name, first = cell.set_index("estimator"), cell.iloc[0]
        shown = [f"{by_name.loc[e, 'r']:.3f}, {by_name.loc[e, 'ratio']:.2f}" for e in ("closed form", "100 samples")]
        seconds = [f"{by_name.loc[e, 'cpu_seconds']:.2f}" for e in ("closed form", "100 samples")]
        rows.append(
            (f"{dataset.capitalize()}, {k}", f"{first['rate']}", *shown, " / ".join(seconds), f"{first['reference']:,}")
        )
    head = ("labels per class", "drop rate", "closed form: r, ratio of means", "100 samples: r, ratio of means")
    return markdown((*head, "CPU seconds", "samples of the reference"), rows)


def relations_table(kind: str) -> str:
    """Of results/relations.csv: accuracy at 20 labels per class, at fewer, of fraud, or the cost."""
    rows = pd.read_csv(RESULTS / "relations.csv", dtype={"draw": "Int64"})
    rows = rows[rows["kind"].eq(kind.partition("-")[0])]
    rows = rows[rows["version"].isin(["published", f"drgst-plus {find_recipe('drgst-plus').version}"])]
    if rows.empty:
        return NOT_MEASURED
    if kind == "cost":
        return _costs(rows)
    if kind == "fraud":
        fraud = rows.groupby(["data", "method"], sort=False)["value"]
        body = [(m, f"{v.mean():.3f}", " ".join(f"{x:.3f}" for x in v)) for (_, m), v in fraud]
        return markdown(("", "mean", "seeds"), body)
    rows = rows[rows["per_class"].eq(20) == (kind == "hetero")]
    places = [(d, k) for d in ("acm", "dblp", "aminer") for k in sorted(set(rows["per_class"].astype(int)))]
    body = []
    for method in sorted(set(rows["method"]), key=lambda m: (m.endswith("published"), not m.startswith("relation"), m)):
        mine = rows[rows["method"].eq(method)]
        cells = [mine[mine["data"].eq(d) & mine["per_class"].eq(k)]["value"] for d, k in places]
        body.append((method, *(_spread(cell) for cell in cells)))
    names = {"acm": "ACM", "dblp": "DBLP", "aminer": "AMiner"}
    return markdown(("", *(names[d] if kind == "hetero" else f"{names[d]}, {k}" for d, k in places)), body)


def _spread(values: pd.Series) -> str:
    """``87.5 ± 1.2 (10)``, one value alone, or nothing."""
    if len(values) < 2:
        return "".join(f"{value:.1f}" for value in values)
    return f"{values.mean():.1f} ± {values.std():.1f} ({len(values)})"


def _costs(rows: pd.DataFrame) -> str:
    """CPU seconds and peak memory of links beside those of edges, and their ratios."""
    body = []
    pairs = {"topology": "features by entity", "neighbours": "links by entity", "run": "run"}
    for data, group in rows.groupby("data", sort=False):
        found = group.set_index("method")
        for plain, linked in pairs.items():
            names = [f"edges: {plain}", f"{data.partition(',')[0]}: {linked}"]
            if all(name in found.index for name in names):
                (a, b), (m, n) = (found.loc[names, column] for column in ("cpu_seconds", "peak_mb"))
                what = "whole run" if plain == "run" else linked
                body.append((data, what, f"{b:.1f} / {a:.1f}", f"{b / a:.2f}", f"{n:.0f} / {m:.0f}", f"{n / m:.2f}"))
    return markdown(("", "", "CPU s, links / edges", "ratio", "peak MB", "ratio"), body)


def protocol_runs(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs under the paper's protocol."""
    return runs[runs["pool"].eq("unlabelled") & runs["validation"].eq("public")]


def plus_runs(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs of drgst-plus with test nodes in the pool."""
    return runs[runs["recipe"].eq("drgst-plus") & runs["pool"].eq("all-but-validation")]


def datasets(runs: pd.DataFrame) -> list[str]:
    """The data sets of ``runs`` in the paper's order."""
    return sorted(set(runs["dataset"]), key=dataset_order)


TABLES: dict[str, Callable[[pd.DataFrame], str]] = {
    "plus": plus_table,
    "plus-short": plus_short_table,
    "plus-facts": plus_facts_table,
    "claims": claims_table,
    "released": released_table,
    "programs": programs_table,
    "tuned": tuned_table,
    "baselines": baselines_table,
    "gain": gain_table,
    "differences": differences_table,
    "scale": scale_table,
    "workers": workers_table,
    "speed": speed_table,
    "newer": newer_table,
    "same-labels": same_labels_table,
    "graph-facts": graph_facts_table,
    "graphs": lambda _: graphs_table("graphs", "none"),
    "graphs-ranks": lambda _: graphs_table("ranks", "none"),
    "graphs-behind": graphs_behind,
    "graphs-validated": lambda _: graphs_table("graphs", "30"),
    "relations": lambda _: relations_table("hetero"),
    "relations-few": lambda _: relations_table("hetero-few"),
    "relations-fraud": lambda _: relations_table("fraud"),
    "relations-cost": lambda _: relations_table("cost"),
    "curves-plus-3": lambda _: curve_table("drgst-plus", 3),
    "curves-plus-0": lambda _: curve_table("drgst-plus", 0),
    "curves-plus-0-words": lambda _: curve_words("drgst-plus", 0),
    "curves-gcn": lambda _: curve_table("gcn", 3),
    "curves-drgst-de": lambda _: curve_table("drgst-de", 3),
    "cora": lambda runs: dataset_table(runs, "cora"),
    "datasets": lambda runs: "\n\n".join(dataset_table(runs, dataset) for dataset in datasets(protocol_runs(runs))),
}


def filled(page: str, runs: pd.DataFrame) -> str:
    """``page`` with every marked table computed from ``runs``."""
    return MARKED.sub(lambda m: f"{m[1]}\n{TABLES[m[2]](runs)}\n\n{m[3]}", page)


def main() -> None:
    """Rewrite the pages."""
    runs = read_runs(RUNS)
    for page in PAGES:
        write_text(page, filled(page.read_text(encoding="utf-8"), runs))


if __name__ == "__main__":
    main()
