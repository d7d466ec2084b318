"""The main table and the ablation: test accuracy, the paper's figures, and paired tests against one recipe."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from drgst.errors import StoreError
from drgst.lab.experiments import ABLATED, DRGST, ablations
from drgst.lab.paper import (
    LABELS,
    METHODS,
    dataset_label,
    dataset_order,
    main_table,
    recipe_label,
    recipe_order,
)
from drgst.lab.statistics.paired import Comparison, compare, holm, mean_interval
from drgst.lab.statistics.results import CellName, Runs
from drgst.lab.tables.table import Column, Entry, Table

Cells = Mapping[CellName, Runs]
CELL_COLUMNS = (Column("data set", True), Column("labels per class"), Column("recipe", True))


def main(cells: Cells, against: str = "gcn", paper: bool = False) -> Table:
    """Every recipe that was run, but for the ablations; ``paper`` adds the cells that only the paper has."""
    datasets = {cell[0] for cell in cells}
    rows = {cell for cell in cells if cell[2] not in ABLATED}
    rows |= {cell for cell in main_table() if paper and cell[0] in datasets}
    return _table("Test accuracy in percent", sorted(rows, key=cell_order), cells, against)


def ablation(cells: Cells, against: str | None = None) -> Table:
    """DR-GST and its ablations, compared with DR-GST in full or with ``against``."""
    if not any(recipe in ABLATED for _, _, recipe in cells):
        raise StoreError("the store holds no run of an ablation (drgst-do-ig and so on)")
    order = [recipe for full in DRGST for recipe in ablations(full)]
    rows = sorted(
        (cell for cell in cells if cell[2] in order), key=lambda c: (dataset_order(c[0]), c[1], order.index(c[2]))
    )
    return _table("Ablation: test accuracy in percent", rows, cells, against)


def cell_order(cell: CellName) -> tuple[tuple[int, str], int, tuple[int, str]]:
    """Sort key of cells: data set, labels per class, recipe."""
    return dataset_order(cell[0]), cell[1], recipe_order(cell[2])


def cell_entries(cell: CellName) -> list[Entry]:
    """The fields of :data:`CELL_COLUMNS`."""
    return [Entry(cell[0]), Entry(str(cell[1])), Entry(cell[2])]


def ranks(cells: Cells, figure: str, highest: bool = True) -> dict[CellName, int]:
    """Best (1) and second best (2) mean of ``figure`` on each data set and label count."""
    means: dict[tuple[str, int], list[tuple[float, CellName]]] = {}
    for cell, runs in cells.items():
        mean = runs.mean(figure)[0]
        if mean is not None:
            means.setdefault(cell[:2], []).append((mean, cell))
    found = {}
    for group in means.values():
        group.sort(key=lambda item: item[0], reverse=highest)
        found.update({cell: rank for rank, (_, cell) in enumerate(group[:2], 1)})
    return found


def mean_and_deviation(runs: Runs, figure: str, scale: float, digits: int) -> str:
    """``70.12 ± 3.40``; no deviation for one draw, empty without a value."""
    mean, std = runs.mean(figure)
    shown = "" if mean is None else f"{scale * mean:.{digits}f}"
    return shown if std is None else f"{shown} ± {scale * std:.{digits}f}"


def _table(title: str, rows: Sequence[CellName], cells: Cells, against: str | None) -> Table:
    """One row per cell; in LaTeX one row per recipe and one column per label count."""
    shown = {cell: cells[cell] for cell in rows if cell in cells}
    rank = ranks(shown, "test_accuracy")
    parts: list[tuple[Sequence[str], Callable[[CellName], list[Entry]]]] = [
        (("accuracy", "95 % interval"), lambda cell: _accuracy(cells.get(cell), rank.get(cell, 0)))
    ]
    if any(cell in main_table() for cell in rows):
        parts.append((("paper", "ours - paper"), lambda cell: _published(cell, cells.get(cell))))
    compared = _comparisons(shown, against)
    titles = (f"vs {against or 'full'}", "95 % bootstrap", "p (Holm)", "draws")
    parts.append((titles, lambda cell: _compared(compared.get(cell), cells.get(cell))))
    columns = [*CELL_COLUMNS, *(Column(title) for titles, _ in parts for title in titles)]
    body = [[*cell_entries(cell), *(entry for _, make in parts for entry in make(cell))] for cell in rows]
    notes = _notes(against, len(parts) == 3)
    return Table(title, columns, body, 2, notes, latex=_by_labels(title, rows, cells, rank))


def _by_labels(title: str, rows: Sequence[CellName], cells: Cells, rank: Mapping[CellName, int]) -> Table:
    """Recipes by labels per class: mean ± standard deviation, and the paper's figure in brackets."""
    labels, there = sorted({k for _, k, _ in rows}), set(rows)

    def entry(cell: CellName) -> Entry:
        ours = mean_and_deviation(cells[cell], "test_accuracy", 100, 1) if cell in cells else ""
        paper = f"{main_table()[cell]:.1f}" if cell in there and cell in main_table() else ""
        return Entry(ours or "–", rank.get(cell, 0), paper)

    recipes = list(dict.fromkeys(recipe for *_, recipe in rows))
    body = [
        [Entry(dataset_label(d)), Entry(recipe_label(r)), *(entry((d, k, r)) for k in labels)]
        for d in dict.fromkeys(dataset for dataset, *_ in rows)
        for r in recipes
        if any((d, k, r) in there for k in labels)
    ]
    columns = [Column("Data set", True), Column("Method", True), *(Column(str(k)) for k in labels)]
    notes = ["Mean ± standard deviation over draws; in brackets the paper's figure. Needs \\usepackage{booktabs}."]
    return Table(title, columns, body, 1, notes, heading="Labels per class")


def _accuracy(runs: Runs | None, rank: int) -> list[Entry]:
    """``70.12 ± 3.40`` and ``67.7–72.6``, empty where nothing was run."""
    if runs is None:
        return [Entry(), Entry()]
    interval = mean_interval(list(runs.figure("test_accuracy").values()))
    low, high = interval or (0.0, 0.0)
    shown = "" if interval is None else f"{100 * max(0.0, low):.1f}–{100 * min(1.0, high):.1f}"
    return [Entry(mean_and_deviation(runs, "test_accuracy", 100, 2), rank), Entry(shown)]


def _published(cell: CellName, runs: Runs | None) -> list[Entry]:
    published = main_table().get(cell)
    mean = runs.mean("test_accuracy")[0] if runs else None
    difference = "" if published is None or mean is None else f"{100 * mean - published:+.2f}"
    return [Entry("" if published is None else f"{published:.2f}"), Entry(difference)]


def _compared(found: tuple[Comparison, float] | None, runs: Runs | None) -> list[Entry]:
    """Mean difference, bootstrap interval and p-value (none from a single draw), and the number of draws."""
    draws = Entry(str(len(runs.rows)) if runs else "")
    if found is None:
        return [Entry(), Entry(), Entry(), draws]
    c, p = found
    several = c.pairs > 1
    interval = f"{100 * c.low:+.2f} to {100 * c.high:+.2f}" if several else ""
    p_value = ("< 0.001" if p < 0.001 else f"{p:.3f}") if several else ""
    return [Entry(f"{100 * c.mean:+.2f}"), Entry(interval), Entry(p_value), draws]


def _comparisons(cells: Cells, against: str | None) -> dict[CellName, tuple[Comparison, float]]:
    """Each cell against the recipe ``against`` (None: DR-GST in full) on the same data and labels, with Holm's p.

    The correction is over the recipes on one data set and label count: they answer one question.
    """
    found: dict[CellName, Comparison] = {}
    for cell, runs in cells.items():
        other = (*cell[:2], against or _full(cell[2]))
        if cell != other and other in cells:
            result = compare(runs.figure("test_accuracy"), cells[other].figure("test_accuracy"))
            if result is not None:
                found[cell] = result
    corrected = {}
    for place in {cell[:2] for cell in found}:
        members = [cell for cell in found if cell[:2] == place]
        for cell, p in zip(members, holm([found[cell].p for cell in members]), strict=True):
            corrected[cell] = (found[cell], p)
    return corrected


def _full(recipe: str) -> str:
    """The recipe that an ablation is compared with."""
    return next((full for full in DRGST if recipe in ablations(full)), recipe)


def _notes(against: str | None, paper: bool) -> list[str]:
    published = f"paper: mean of 10 runs, published for {', '.join(METHODS.values())}."
    return [
        "accuracy: mean ± standard deviation over draws; 95 % interval: Student's t interval of the mean.",
        f"vs: mean difference to {against or 'DR-GST in full'} on the same draws, its bootstrap interval and the",
        "Wilcoxon signed-rank test corrected by Holm over the recipes on the same data set and label count.",
        *([published] if paper else []),
        f"At {LABELS[-1]} labels per class all draws share the public split and differ in the seed only.",
    ]
