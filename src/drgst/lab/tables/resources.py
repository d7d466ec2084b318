"""Tables of the data sets, of calibration, and of time and memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from drgst.datasets.registry import DATASETS
from drgst.lab.paper import dataset_order
from drgst.lab.statistics.results import CellName, Runs
from drgst.lab.tables.accuracy import CELL_COLUMNS, Cells, cell_entries, cell_order, mean_and_deviation, ranks
from drgst.lab.tables.table import Column, Entry, Table

if TYPE_CHECKING:
    from drgst.graph.stats import Statistics  # SciPy's graph routines are slow to import


def datasets(opened: Mapping[str, Statistics]) -> Table:
    """The paper's Table 3 beside the statistics of the graphs that were opened."""
    titles = ("nodes", "paper", "edges", "paper", "classes", "paper", "features", "paper", "homophily")
    columns = [Column("data set", True), *(Column(title) for title in titles)]
    names = sorted({*DATASETS, *opened}, key=dataset_order)
    notes = ["edges: undirected pairs; the paper counts duplicates. Empty: not opened, or not in the paper."]
    return Table("Data sets", columns, [_dataset(name, opened.get(name)) for name in names], 0, notes)


def _dataset(name: str, found: Statistics | None) -> list[Entry]:
    paper = DATASETS[name].paper if name in DATASETS else None
    fields = [Entry(name)]
    for figure in ("nodes", "edges", "classes", "features"):
        fields += [Entry(f"{getattr(source, figure):,}" if source else "") for source in (found, paper)]
    homophily = found.homophily if found else None
    return [*fields, Entry("" if homophily is None else f"{homophily:.2f}")]


def calibration(cells: Cells) -> Table:
    """ECE = Σ_b |B_b|/M · |acc - conf| in 20 bins, and the Brier score, on test nodes."""
    titles = ("accuracy", "ECE", "ECE of the teacher", "Brier", "draws")
    rank = ranks(cells, "ece", highest=False)
    body = [
        [
            *cell_entries(cell),
            Entry(mean_and_deviation(cells[cell], "test_accuracy", 100, 2)),
            Entry(mean_and_deviation(cells[cell], "ece", 100, 2), rank.get(cell, 0)),
            Entry(mean_and_deviation(cells[cell], "teacher_ece", 100, 2)),
            Entry(mean_and_deviation(cells[cell], "brier", 1, 3)),
            Entry(str(len(cells[cell].rows))),
        ]
        for cell in sorted(cells, key=cell_order)
    ]
    notes = ["accuracy and ECE in percent, mean ± standard deviation over draws; lower ECE and Brier are better."]
    return Table("Calibration on test nodes", [*CELL_COLUMNS, *map(Column, titles)], body, 2, notes)


def time(cells: Cells, against: str = "gcn") -> Table:
    """Seconds, epochs and peak memory of a run, and the ratio of its seconds to those of ``against``."""
    titles = ("seconds", f"ratio to {against}", "epochs", "ms per epoch", "stages", "peak MB", "draws")
    body = [_time(cell, cells, against) for cell in sorted(cells, key=cell_order)]
    notes = ["One thread per run. Other work on the machine of the bench makes a run take longer."]
    return Table("Time and memory of a run", [*CELL_COLUMNS, *map(Column, titles)], body, 2, notes)


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
