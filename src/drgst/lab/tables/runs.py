"""The tables by name: accuracy beside the paper's figures, ablation, calibration, time, and the data sets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from drgst.datasets.registry import DATASETS
from drgst.errors import SettingError, StoreError, unknown
from drgst.lab.paper import (
    ABLATED,
    DRGST,
    LABELS,
    METHODS,
    ablations,
    dataset_label,
    dataset_order,
    main_table,
    recipe_label,
    recipe_order,
)
from drgst.lab.statistics import FEWEST, Comparison, compare, holm, mean_interval
from drgst.lab.store.cells import CellName, Cells, Runs
from drgst.lab.tables.layout import Column, Entry, ResultTable
from drgst.lab.tables.ranks import by_graph, ranking

if TYPE_CHECKING:
    from drgst.graph.stats import Statistics  # SciPy's graph routines are slow to import

CELL_COLUMNS = (Column("data set", True), Column("labels per class"), Column("recipe", True))
TABLES = ("main", "ablation", "calibration", "time")  # of the paper's experiments
ACROSS = {"graphs": by_graph, "ranks": ranking}  # recipes over many data sets


def make_table(name: str, cells: Cells, against: str | None = None) -> ResultTable:
    """One of :data:`TABLES`, compared with the recipe ``against``, or of :data:`ACROSS`."""
    if name == "main":
        return main(cells, against or "gcn")
    if name == "ablation":
        return ablation(cells, against)
    if name == "calibration":
        return calibration(cells)
    if name == "time":
        return time(cells, against or "gcn")
    if name in ACROSS:
        return by_label_use(ACROSS[name], "Test accuracy in percent" if name == "graphs" else "Mean ranks", cells)
    raise SettingError(unknown("table", name, (*TABLES, *ACROSS)))


def main(cells: Cells, against: str = "gcn") -> ResultTable:
    """Every recipe that was run except the ablations."""
    rows = sorted((cell for cell in cells if cell[2] not in ABLATED), key=cell_order)
    return _table("Test accuracy in percent", rows, cells, against)


def ablation(cells: Cells, against: str | None = None) -> ResultTable:
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
    """Best (1) and second best (2) mean of ``figure`` among the recipes that train on the same labels.

    Equal means have the same rank. A recipe that no other is compared with has none.
    """
    means: dict[tuple[str, int, bool], list[tuple[float, CellName]]] = {}
    for cell, runs in cells.items():
        mean = runs.mean(figure)[0]
        if mean is not None:
            means.setdefault((*cell[:2], runs.trains_on_validation), []).append((mean, cell))
    found = {}
    for group in (group for group in means.values() if len(group) > 1):
        best = sorted({mean for mean, _ in group}, reverse=highest)[:2]
        found.update({cell: best.index(mean) + 1 for mean, cell in group if mean in best})
    return found


def mean_and_deviation(runs: Runs, figure: str, scale: float, digits: int) -> str:
    """``70.12 ± 3.40``; no deviation for one draw, empty without a value."""
    mean, std = runs.mean(figure)
    shown = "" if mean is None else f"{scale * mean:.{digits}f}"
    return shown if std is None else f"{shown} ± {scale * std:.{digits}f}"


def by_label_use(make: Callable[[str, Cells, list[str]], ResultTable], title: str, cells: Cells) -> ResultTable:
    """The table of the recipes that train on the labels per class alone; below it that of those with further labels.

    ``make`` takes the title, the cells of a table and its notes on labels.
    """
    made: ResultTable | None = None
    for further in (True, False):
        part = {cell: runs for cell, runs in cells.items() if runs.trains_on_validation is further}
        if part:
            words = f"{title}, validation labels are training labels" if further else title
            made = replace(make(words, part, [_label_note(part, further)]), below=made)
    assert made is not None
    return made


def _label_note(cells: Cells, further: bool) -> str:
    if further:
        recipes = sorted({recipe for *_, recipe in cells}, key=recipe_order)
        verb = "trains" if len(recipes) == 1 else "train"
        return (
            f"Labels: {', '.join(recipes)} {verb} on the validation labels, too. Not comparable with recipes that do "
            "not."
        )
    if {row["validation"] for runs in cells.values() for row in runs.rows} == {"none"}:
        return "Labels: all recipes train on the labels per class and are given no validation labels."
    return (
        "Labels: all recipes train on the labels per class alone. They use the validation labels to stop, to choose a "
        "stage and to calibrate (cagcn-st) at most."
    )


def _table(title: str, rows: Sequence[CellName], cells: Cells, against: str | None) -> ResultTable:
    """Tables of one row per cell; in LaTeX one row per recipe and one column per label count."""
    shown = {cell: cells[cell] for cell in rows}
    return by_label_use(lambda words, part, notes: _accuracies(words, part, against, notes), title, shown)


def _accuracies(title: str, cells: Cells, against: str | None, notes: list[str]) -> ResultTable:
    rows, shown = list(cells), cells
    rank = ranks(shown, "test_accuracy")
    parts: list[tuple[Sequence[str], Callable[[CellName], list[Entry]]]] = [
        (("accuracy", "95 % interval"), lambda cell: _accuracy(cells[cell], rank.get(cell, 0)))
    ]
    if any(cell in main_table() for cell in rows):
        parts.append((("paper", "ours - paper"), lambda cell: _published(cell, cells[cell])))
    compared = _comparisons(shown, against)
    titles = (f"vs {against or 'full'}", "95 % of vs", "p (Holm)", "draws")
    parts.append((titles, lambda cell: _compared(compared.get(cell), cells[cell])))
    columns = [*CELL_COLUMNS, *(Column(title) for titles, _ in parts for title in titles)]
    body = [[*cell_entries(cell), *(entry for _, make in parts for entry in make(cell))] for cell in rows]
    notes = [*notes, *_notes(against, cells, len(parts) == 3)]
    return ResultTable(title, columns, body, 2, notes, latex=_by_labels(title, cells, rank, notes[0]))


def _by_labels(title: str, cells: Cells, rank: Mapping[CellName, int], note: str) -> ResultTable:
    """Recipes by labels per class: mean ± standard deviation, and the paper's figure in brackets."""
    rows, labels = list(cells), sorted({k for _, k, _ in cells})

    def entry(cell: CellName) -> Entry:
        ours = mean_and_deviation(cells[cell], "test_accuracy", 100, 1) if cell in cells else ""
        paper = f"{main_table()[cell]:.1f}" if cell in cells and cell in main_table() else ""
        return Entry(ours or "–", rank.get(cell, 0), paper)

    recipes = list(dict.fromkeys(recipe for *_, recipe in rows))
    body = [
        [Entry(dataset_label(d)), Entry(recipe_label(r)), *(entry((d, k, r)) for k in labels)]
        for d in dict.fromkeys(dataset for dataset, *_ in rows)
        for r in recipes
        if any((d, k, r) in cells for k in labels)
    ]
    columns = [Column("Data set", True), Column("Method", True), *(Column(str(k)) for k in labels)]
    published = "; in brackets the paper's figure" if any(cell in main_table() for cell in cells) else ""
    words = f"Mean ± standard deviation over draws{published}. Needs \\usepackage{{booktabs}}."
    notes = [words, note]
    return ResultTable(title, columns, body, 1, notes, heading="Labels per class")


def _accuracy(runs: Runs, rank: int) -> list[Entry]:
    """``70.12 ± 3.40`` and ``67.7–72.6``, the latter of :data:`FEWEST` draws or more."""
    values = list(runs.figure("test_accuracy").values())
    interval = mean_interval(values) if len(values) >= FEWEST else None
    low, high = interval or (0.0, 0.0)
    shown = "" if interval is None else f"{100 * max(0.0, low):.1f}–{100 * min(1.0, high):.1f}"
    return [Entry(mean_and_deviation(runs, "test_accuracy", 100, 2), rank), Entry(shown)]


def _published(cell: CellName, runs: Runs) -> list[Entry]:
    published, mean = main_table().get(cell), runs.mean("test_accuracy")[0]
    difference = "" if published is None or mean is None else f"{100 * mean - published:+.2f}"
    return [Entry("" if published is None else f"{published:.2f}"), Entry(difference)]


def _compared(found: tuple[Comparison, float | None] | None, runs: Runs) -> list[Entry]:
    """Mean difference, its interval and p-value where there are enough draws, and the number of draws."""
    draws = Entry(str(len(runs.rows)))
    if found is None:
        return [Entry(), Entry(), Entry(), draws]
    c, p = found
    interval = "" if c.low is None or c.high is None else f"{100 * c.low:+.2f} to {100 * c.high:+.2f}"
    p_value = "" if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"
    return [Entry(f"{100 * c.mean:+.2f}"), Entry(interval), Entry(p_value), draws]


def _comparisons(cells: Cells, against: str | None) -> dict[CellName, tuple[Comparison, float | None]]:
    """Each cell against the recipe ``against`` (None: DR-GST in full) on the same data and labels, with Holm's p.

    The correction is over the recipes on one data set and label count: they answer one question.
    """
    found: dict[CellName, Comparison] = {}
    for cell, runs in cells.items():
        full = next((full for full in DRGST if cell[2] in ablations(full)), cell[2])
        other = (*cell[:2], against or full)
        if cell != other and other in cells:
            result = compare(runs.figure("test_accuracy"), cells[other].figure("test_accuracy"))
            if result is not None:
                found[cell] = result
    corrected: dict[CellName, float] = {}
    for place in {cell[:2] for cell in found}:
        tested = {cell: c.p for cell, c in found.items() if cell[:2] == place and c.p is not None}
        corrected |= zip(tested, holm(list(tested.values())), strict=True)
    return {cell: (c, corrected.get(cell)) for cell, c in found.items()}


def _notes(against: str | None, cells: Cells, paper: bool) -> list[str]:
    public = f"At {LABELS[-1]} labels per class all draws share the public split and differ in the seed only."
    published = f"paper: mean of 10 runs, published for {', '.join(METHODS.values())}."
    return [
        "accuracy: mean ± standard deviation over draws; 95 %: Student's t interval of the mean.",
        f"vs: mean difference to {against or 'DR-GST in full'} on the same draws, its interval and the exact Wilcoxon",
        "signed-rank test corrected by Holm over the recipes on the same data set and label count.",
        f"Intervals and tests need {FEWEST} draws, which give a p of 1/16 at best, before the correction.",
        *([published] if paper else []),
        *([public] if any(name in DATASETS and k == LABELS[-1] for name, k, _ in cells) else []),
    ]


def calibration(cells: Cells) -> ResultTable:
    """ECE = Σ_b |B_b|/M · |acc - conf| in 20 bins, and the Brier score, on test nodes."""
    shown = {cell: cells[cell] for cell in sorted(cells, key=cell_order)}
    return by_label_use(_calibration, "Calibration on test nodes", shown)


def _calibration(title: str, cells: Cells, notes: list[str]) -> ResultTable:
    titles = ("accuracy", "ECE", "worst draw", "ECE of the teacher", "Brier", "draws")
    rank = ranks(cells, "ece", highest=False)
    body = [
        [
            *cell_entries(cell),
            Entry(mean_and_deviation(runs, "test_accuracy", 100, 2)),
            Entry(mean_and_deviation(runs, "ece", 100, 2), rank.get(cell, 0)),
            Entry("".join(f"{100 * max(found):.2f}" for found in [runs.figure("ece").values()] if found)),
            Entry(mean_and_deviation(runs, "teacher_ece", 100, 2)),
            Entry(mean_and_deviation(runs, "brier", 1, 3)),
            Entry(str(len(runs.rows))),
        ]
        for cell, runs in cells.items()
    ]
    words = "accuracy and ECE in percent, mean ± standard deviation over draws; worst draw: the highest ECE of a draw."
    return ResultTable(title, [*CELL_COLUMNS, *map(Column, titles)], body, 2, [*notes, words])


def time(cells: Cells, against: str = "gcn") -> ResultTable:
    """Seconds, epochs and peak memory of a run, and the ratio of its seconds to those of ``against``."""
    titles = ("seconds", f"ratio to {against}", "epochs", "ms per epoch", "stages", "peak MB", "draws")
    body = [_time(cell, cells, against) for cell in sorted(cells, key=cell_order)]
    notes = ["One thread per run. Other work on the machine of the bench makes a run take longer."]
    return ResultTable("Time and memory of a run", [*CELL_COLUMNS, *map(Column, titles)], body, 2, notes)


def _time(cell: CellName, cells: Cells, against: str) -> list[Entry]:
    runs, other = cells[cell], cells.get((cell[0], cell[1], against))
    seconds, epochs = runs.mean("seconds")[0], runs.mean("epochs")[0]
    base = other.mean("seconds")[0] if other else None
    shown = [
        mean_and_deviation(runs, "seconds", 1, 2),
        f"{seconds / base:.2f}" if seconds is not None and base else "",
        _mean(runs, "epochs", ",.0f"),
        f"{1000 * seconds / epochs:.1f}" if seconds is not None and epochs else "",
        _mean(runs, "stages", ".1f"),
        _mean(runs, "peak_memory_mb", ",.0f"),
        str(len(runs.rows)),
    ]
    return [*cell_entries(cell), *map(Entry, shown)]


def _mean(runs: Runs, name: str, how: str) -> str:
    mean, _ = runs.mean(name)
    return "" if mean is None else format(mean, how)


def datasets(opened: Mapping[str, Statistics]) -> ResultTable:
    """The paper's Table 3 beside the statistics of the graphs that were opened."""
    titles = ("nodes", "paper", "edges", "paper", "classes", "paper", "features", "paper", "homophily")
    columns = [Column("data set", True), *(Column(title) for title in titles)]
    names = sorted({*DATASETS, *opened}, key=dataset_order)
    notes = ["edges: undirected pairs; the paper counts duplicates. Empty: not opened, or not in the paper."]
    return ResultTable("Data sets", columns, [_dataset(name, opened.get(name)) for name in names], 0, notes)


def _dataset(name: str, found: Statistics | None) -> list[Entry]:
    paper = DATASETS[name].paper if name in DATASETS else None
    fields = [Entry(name)]
    for figure in ("nodes", "edges", "classes", "features"):
        fields += [Entry(f"{getattr(source, figure):,}" if source else "") for source in (found, paper)]
    homophily = found.homophily if found else None
    return [*fields, Entry("" if homophily is None else f"{homophily:.2f}")]
