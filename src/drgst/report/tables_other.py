"""Tables of the data sets, of calibration and of time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from drgst.bench.results import CellName, Runs
from drgst.graph.datasets.registry import DATASETS
from drgst.report.paper import dataset_order, recipe_order
from drgst.report.table import Column, Entry, Table

if TYPE_CHECKING:
    from drgst.graph.stats import Statistics  # SciPy's graph routines are slow to import

Cells = Mapping[CellName, Runs]


def datasets(is_numeric: Mapping[str, Statistics]) -> Table:
    """The paper's Table 3 and, for the graphs that were opened, what they hold."""
    titles = ("nodes", "paper", "edges", "paper", "classes", "paper", "features", "paper", "homophily")
    columns = [Column("data set", True), *(Column(title) for title in titles)]
    names = sorted({*DATASETS, *is_numeric}, key=dataset_order)
    notes = ["edges: undirected pairs; the paper counts duplicates. Empty: not opened, or not in the paper."]
    return Table("Data sets", columns, [_dataset(name, is_numeric.get(name)) for name in names], 0, notes)


def _dataset(name: str, found: Statistics | None) -> list[Entry]:
    paper = DATASETS[name].paper if name in DATASETS else None
    fields = [Entry(name)]
    for figure in ("nodes", "edges", "classes", "features"):
        fields += [Entry(f"{getattr(source, figure):,}" if source else "") for source in (found, paper)]
    homophily = found.homophily if found else None
    return [*fields, Entry("" if homophily is None else f"{homophily:.2f}")]


def calibration(cells: Cells) -> Table:
    """ECE = Σ_b |B_b|/M · |acc - conf| in 20 bins, and the Brier score, on test nodes."""
    columns = [Column("data set", True), Column("labels"), Column("recipe", True), Column("accuracy")]
    columns += [Column("ECE"), Column("teacher's ECE"), Column("Brier"), Column("draws")]
    best = _lowest(cells, "ece")
    body = []
    for cell in _ordered(cells):
        runs = cells[cell]
        head = [Entry(cell[0]), Entry(str(cell[1])), Entry(cell[2]), _spread(runs, "test_accuracy", 100, 2)]
        ece = Entry(_spread(runs, "ece", 100, 2).text, cell in best)
        tail = [_spread(runs, "teacher_ece", 100, 2), _spread(runs, "brier", 1, 3), Entry(str(len(runs.rows)))]
        body.append([*head, ece, *tail])
    notes = ["accuracy and ECE in percent, mean ± standard deviation over draws; low ECE and Brier are good."]
    return Table("Calibration on test nodes", columns, body, 2, notes)


def time(cells: Cells, against: str) -> Table:
    """Seconds and epochs of a run, its most memory, and how many times as long as ``against`` it takes."""
    columns = [Column("data set", True), Column("labels"), Column("recipe", True), Column("seconds")]
    columns += [Column(f"times {against}"), Column("epochs"), Column("ms an epoch"), Column("stages")]
    columns += [Column("MB"), Column("draws")]
    body = [_time(cell, cells, against) for cell in _ordered(cells)]
    notes = ["One thread a run, on the machine of the bench; a busy machine takes longer."]
    return Table("Time and memory of a run", columns, body, 2, notes)


def _time(cell: CellName, cells: Cells, against: str) -> list[Entry]:
    runs, other = cells[cell], cells.get((cell[0], cell[1], against))
    seconds, epochs = runs.mean("seconds")[0], runs.mean("epochs")[0]
    base = other.mean("seconds")[0] if other else None
    return [
        Entry(cell[0]),
        Entry(str(cell[1])),
        Entry(cell[2]),
        _spread(runs, "seconds", 1, 2),
        Entry(f"{seconds / base:.2f}" if seconds is not None and base else ""),
        Entry("" if epochs is None else f"{epochs:,.0f}"),
        Entry(f"{1000 * seconds / epochs:.1f}" if seconds is not None and epochs else ""),
        _mean(runs, "stages", "{:.1f}"),
        _mean(runs, "peak_memory_mb", "{:,.0f}"),
        Entry(str(len(runs.rows))),
    ]


def _mean(runs: Runs, name: str, how: str) -> Entry:
    mean, _ = runs.mean(name)
    return Entry("" if mean is None else how.format(mean))


def _spread(runs: Runs, name: str, scale: float, digits: int) -> Entry:
    mean, std = runs.mean(name)
    if mean is None:
        return Entry()
    shown = f"{scale * mean:.{digits}f}"
    return Entry(shown if std is None else f"{shown} ± {scale * std:.{digits}f}")


def _lowest(cells: Cells, name: str) -> set[CellName]:
    lowest: dict[tuple[str, int], tuple[float, CellName]] = {}
    for cell, runs in cells.items():
        mean = runs.mean(name)[0]
        if mean is not None and mean < lowest.get(cell[:2], (float("inf"), cell))[0]:
            lowest[cell[:2]] = (mean, cell)
    return {cell for _, cell in lowest.values()}


def _ordered(cells: Iterable[Any]) -> list[CellName]:
    return sorted(cells, key=lambda c: (dataset_order(c[0]), c[1], recipe_order(c[2])))
