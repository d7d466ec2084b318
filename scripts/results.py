"""Writes the tables and figures under results/ from the exported runs, without any new run.

drgst bench export --csv results/runs.csv --store runs/results.db && python scripts/results.py
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from drgst.bench.results import CellName, Runs, Wanted, check_any, choose, read_runs
from drgst.errors import DrgstError, StoreError
from drgst.files import write_text
from drgst.report import tables_accuracy, tables_other
from drgst.report.figures.registry import FIGURES, FigureSpec, make_figure
from drgst.report.figures.request import Request
from drgst.report.figures.style import save
from drgst.report.table import Table, render

RESULTS = Path(__file__).parents[1] / "results"
Cells = Mapping[CellName, Runs]


def ablation(cells: Cells) -> Table:
    """The ablation; refused where the store holds no ablated recipe."""
    if not any(recipe in tables_accuracy.PARTS for _, _, recipe in cells):
        raise StoreError("the store holds no run of an ablation (drgst-do-ig and so on)")
    return tables_accuracy.ablation(cells)


TABLES: dict[str, Callable[[Cells], Table]] = {
    "main": lambda cells: tables_accuracy.main(cells, "gcn"),
    "ablation": ablation,
    "time": lambda cells: tables_other.time(cells, "gcn"),
    "calibration": tables_other.calibration,
}


def write_table(name: str, cells: Cells, out: Path) -> Path:
    """Write a table as Markdown."""
    path = out / "tables" / f"{name}.md"
    write_text(path, render(TABLES[name](cells), "md"))
    return path


def write_figure(spec: FigureSpec, store: Path, wanted: Wanted, out: Path) -> Path:
    """Write a figure as PNG; refused where it is not drawn from the runs of the store."""
    if not spec.of_store:
        raise StoreError(f"it needs a run of its own: drgst figure {spec.name} --out {out / 'figures'}")
    path = out / "figures" / f"{spec.name}.png"
    save(make_figure(spec.name, Request(store, wanted)), path, "png")
    return path


def make_all(store: Path, out: Path, wanted: Wanted) -> tuple[list[Path], dict[str, str]]:
    """Write all that the store has the runs for; the paths written, and for each missing name the reason."""
    rows = read_runs(store)
    cells = choose(rows, wanted)
    check_any(cells, rows, wanted)
    steps: dict[str, Callable[[], Path]] = {f"table {name}": partial(write_table, name, cells, out) for name in TABLES}
    steps |= {f"figure {spec.name}": partial(write_figure, spec, store, wanted, out) for spec in FIGURES.values()}
    written, refused = [], {}
    for name, step in steps.items():
        try:
            written.append(step())
        except DrgstError as error:
            refused[name] = str(error)
    return written, refused


def main() -> None:
    """Write the tables and figures, and print which were written and which were not."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, default=RESULTS / "runs.csv", help="store, or its export")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for tables/ and figures/")
    parser.add_argument("--variant", default="default", help="settings: default, validation, or such as threshold=0.4")
    options = parser.parse_args()
    try:
        written, refused = make_all(options.store, options.out, Wanted(options.variant))
    except DrgstError as error:
        parser.exit(2, f"error: {error}\n")
    print("\n".join(f"wrote {path}" for path in written))
    print("\n".join(f"no {name}: {reason}" for name, reason in refused.items()))


if __name__ == "__main__":
    main()
