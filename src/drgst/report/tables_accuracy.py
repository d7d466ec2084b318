"""The main table and the ablation: ours, the paper's, and a paired test against a chosen recipe."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from drgst.bench.paired import Comparison, compare, holm, mean_interval
from drgst.bench.results import CellName, Runs
from drgst.report.paper import LABELS, METHODS, dataset_order, main_table, recipe_order
from drgst.report.table import Column, Entry, Table

ABLATION = {  # both parts, information gain, loss correction, neither
    "drgst-do": ("drgst-do", "drgst-do-ig", "drgst-do-lc", "drgst-do-wo"),
    "drgst-de": ("drgst-de", "drgst-de-ig", "drgst-de-lc", "drgst-de-wo"),
}
PARTS = {recipe for family in ABLATION.values() for recipe in family[1:]}
Cells = Mapping[CellName, Runs]


def main(cells: Cells, against: str) -> Table:
    """Every recipe but the ablations on the data sets that were run; a cell of the paper's not run is left empty."""
    names = [cell for cell in cells if cell[2] not in PARTS]
    datasets = {dataset for dataset, _, _ in names}
    paper = [cell for cell in main_table() if cell[0] in datasets]
    rows = _ordered({*names, *paper})
    return _table("Test accuracy in percent", rows, cells, against, paper=True)


def ablation(cells: Cells, against: str | None = None) -> Table:
    """Both variants with each part left out, compared with the whole (or with ``against``)."""
    names = [cell for cell in cells if cell[2] in PARTS or cell[2] in ABLATION]
    places = {(dataset, k) for dataset, k, _ in names}
    rows = [
        (dataset, k, recipe)
        for dataset, k in sorted(places, key=lambda p: (dataset_order(p[0]), p[1]))
        for family in ABLATION.values()
        if any((dataset, k, recipe) in cells for recipe in family)
        for recipe in family
    ]
    return _table("Ablation: test accuracy in percent", rows, cells, against, paper=False)


def _table(title: str, rows: Sequence[CellName], cells: Cells, against: str | None, paper: bool) -> Table:
    compared = _comparisons(rows, cells, against)
    best = _best(rows, cells)
    columns = [Column("data set", True), Column("labels"), Column("recipe", True), Column("ours"), Column("95 %")]
    columns += [Column("paper"), Column("difference")] if paper else []
    columns += [
        Column(f"against {against or 'the whole'}"),
        Column("95 % bootstrap"),
        Column("p (Holm)"),
        Column("draws"),
    ]
    body = [_row(cell, cells.get(cell), compared.get(cell), cell in best, paper) for cell in rows]
    return Table(title, columns, body, 2, _notes(against, paper))


def _row(
    cell: CellName, runs: Runs | None, compared: tuple[Comparison, float] | None, best: bool, paper: bool
) -> list[Entry]:
    fields = [Entry(cell[0]), Entry(str(cell[1])), Entry(cell[2]), *_ours(runs, best)]
    if paper:
        published = main_table().get(cell)
        mean = runs.mean("test_accuracy")[0] if runs else None
        apart = "" if published is None or mean is None else f"{100 * mean - published:+.2f}"
        fields += [Entry("" if published is None else f"{published:.2f}"), Entry(apart)]
    return [*fields, *_compared(compared), Entry(str(len(runs.rows)) if runs else "")]


def _ours(runs: Runs | None, best: bool) -> list[Entry]:
    """``70.12 ± 3.40`` and ``67.7–72.6``, empty where nothing was run."""
    mean, std = runs.mean("test_accuracy") if runs else (None, None)
    if runs is None or mean is None:
        return [Entry(), Entry()]
    interval = mean_interval(list(runs.figure("test_accuracy").values()))
    spread = "" if std is None else f" ± {100 * std:.2f}"
    low, high = interval or (0.0, 0.0)
    shown = "" if interval is None else f"{100 * max(0.0, low):.1f}–{100 * min(1.0, high):.1f}"  # two draws reach far
    return [Entry(f"{100 * mean:.2f}{spread}", best), Entry(shown)]


def _compared(found: tuple[Comparison, float] | None) -> list[Entry]:
    if found is None:
        return [Entry(), Entry(), Entry()]
    c, p = found
    if c.pairs < 2:  # one draw can't tell
        return [Entry(f"{100 * c.mean:+.2f}"), Entry(), Entry()]
    return [
        Entry(f"{100 * c.mean:+.2f}"),
        Entry(f"{100 * c.low:+.2f} to {100 * c.high:+.2f}"),
        Entry("< 0.001" if p < 0.001 else f"{p:.3f}"),
    ]


def _comparisons(
    rows: Sequence[CellName], cells: Cells, against: str | None
) -> dict[CellName, tuple[Comparison, float]]:
    """Every cell that was run against the chosen recipe on the same data and labels."""
    found: dict[CellName, Comparison] = {}
    for cell in rows:
        other = (cell[0], cell[1], against or _whole(cell[2]))
        if cell == other or cell not in cells or other not in cells:
            continue
        result = compare(cells[cell].figure("test_accuracy"), cells[other].figure("test_accuracy"))
        if result is not None:
            found[cell] = result
    return _corrected(found)


def _corrected(found: Mapping[CellName, Comparison]) -> dict[CellName, tuple[Comparison, float]]:
    """With Holm's correction over the recipes on the same data set and label count: one question, one family."""
    corrected = {}
    for place in {cell[:2] for cell in found}:
        members = [cell for cell in found if cell[:2] == place]
        for cell, p in zip(members, holm([found[cell].p for cell in members]), strict=True):
            corrected[cell] = (found[cell], p)
    return corrected


def _whole(recipe: str) -> str:
    """The recipe that an ablation is compared with."""
    return next((whole for whole, family in ABLATION.items() if recipe in family), recipe)


def _best(rows: Iterable[CellName], cells: Cells) -> set[CellName]:
    """The highest mean of ours on each data set and label count."""
    highest: dict[tuple[str, int], tuple[float, CellName]] = {}
    for cell in rows:
        mean = cells[cell].mean("test_accuracy")[0] if cell in cells else None
        if mean is not None and mean > highest.get(cell[:2], (-1.0, cell))[0]:
            highest[cell[:2]] = (mean, cell)
    return {cell for _, cell in highest.values()}


def _ordered(names: set[Any]) -> list[CellName]:
    return sorted(names, key=lambda c: (dataset_order(c[0]), c[1], recipe_order(c[2])))


def _notes(against: str | None, paper: bool) -> list[str]:
    other = against or "the recipe with both parts"
    notes = [
        "ours: mean ± standard deviation over draws; 95 %: Student's interval of the mean.",
        f"against: mean difference to {other} on the same draws, its bootstrap interval and Wilcoxon's signed-rank",
        "test, corrected by Holm over the recipes on the same data set and label count.",
    ]
    if paper:
        notes.append(f"paper: mean of 10 runs, of {', '.join(METHODS.values())}; difference: ours - paper.")
    return [*notes, f"At {LABELS[-1]} labels a class the draws share the public split and differ by seed alone."]
