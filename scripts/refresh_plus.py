"""Makes every figure of drgst-plus anew with the version that ships, then all tables and pages.

python scripts/refresh_plus.py --jobs 2
python scripts/refresh_plus.py --minutes 30 --draws 10,pubmed=5,flickr=3 --steps cells

Rows of earlier versions move from ``results/`` to ``docs/notebook/earlier-versions.csv.gz``, so no page shows them. A
row of the version that ships whose commit is unknown stays until its run was made again. Steps are in order of cost,
the cells of the README first. Runs and curves are kept in ``runs/results.db`` and ``runs/curves.db``, and one that is
there is not made again: the same command continues a refresh that was interrupted, or whose time was over. It takes
about two hours of one core. ``--retire`` only moves the rows of earlier versions.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from drgst.files import csv_text
from drgst.lab.grid.executors import Executor, Inline, Local
from drgst.lab.grid.grid import Grid, Task
from drgst.lab.grid.run_grid import BenchCallback, run_grid
from drgst.lab.label_curves import curve_executor, make_curves
from drgst.lab.simulate import Plan
from drgst.lab.store import Store
from drgst.lab.store.export import readable_rows, to_csv
from drgst.lab.store.schema import COLUMNS, Row
from drgst.recipes import find_recipe, recipe_names

HOME = Path(__file__).parents[1]
ARCHIVE = HOME / "docs" / "notebook" / "earlier-versions.csv.gz"
CELLS, CURVES = HOME / "results" / "runs.csv", HOME / "results" / "label_curves.csv"
STORES = {CELLS: HOME / "runs" / "results.db", CURVES: HOME / "runs" / "curves.db"}
GRAPHS = ("cora", "citeseer", "flickr", "pubmed")  # by the time of a run
RECIPE, DRAWS = "drgst-plus", 10
POOL = "all-but-validation"
ORDER = ("dataset", "per_class", "recipe", "variant", "pool", "validation", "draw", "key")
Step = Callable[[Store, Executor, BenchCallback], object]


def is_current(row: Row) -> bool:
    """Whether the row is of the version that ships."""
    return row["recipe"] in recipe_names() and row["recipe_version"] == find_recipe(row["recipe"]).version


def is_stamped(row: Row) -> bool:
    """Whether the commit is known that made a row of drgst-plus."""
    return row["recipe"] != RECIPE or "+" in (row["code"] or "")


def retire(path: Path, archive: Path) -> int:
    """Move the rows of earlier versions from an export to the archive; how many there were."""
    rows = readable_rows(path)
    old = [row for row in rows if not is_current(row)]
    if old:
        kept = gzip.decompress(archive.read_bytes()).decode() if archive.is_file() else csv_text([COLUMNS])
        known = {line["key"] for line in csv.DictReader(io.StringIO(kept))}
        added = csv_text([row[name] for name in COLUMNS] for row in old if row["key"] not in known)
        archive.write_bytes(gzip.compress((kept + added).encode(), mtime=0))
        to_csv([row for row in rows if is_current(row)], path)
    return len(old)


def fill(store: Store, path: Path) -> None:
    """Put the rows of an export into the store that need not be made again."""
    rows = [row for row in readable_rows(path) if is_current(row) and is_stamped(row)]
    known = store.finished(row["key"] for row in rows)
    with store.transaction():
        for row in rows:
            if row["key"] not in known:
                store.add(row)


def export(store: Store, path: Path) -> None:
    """Write the current rows of the store, and those of the export that it lacks."""
    rows = {row["key"]: row for row in readable_rows(path)}
    rows |= {row["key"]: row for row in store.all_rows() if row["error"] is None and is_current(row)}
    to_csv(sorted(rows.values(), key=lambda row: [row[name] for name in ORDER]), path)


def cell_steps(draws: dict[str, int]) -> Iterator[Step]:
    """The cells of the README and of results/README.md, data set by data set."""
    for graph in GRAPHS:
        few = min(2, draws[graph])
        for per_class, pool, validation, number in (
            ((3, 5, 10), POOL, "none", draws[graph]),
            ((20,), POOL, "none", few),  # nothing is random at the public split
            ((3, 5, 10, 20), POOL, "public", few),
            ((3, 5, 10, 20), "unlabelled", "public", few),
        ):
            grid = Grid([graph], per_class, [RECIPE], number, {}, (), pool, validation)
            yield lambda *where, grid=grid: run_grid(grid, *where)  # type: ignore[misc]


def curve_steps(draws: dict[str, int]) -> Iterator[Step]:
    """The label curves from 3 labels per class and from nothing."""
    for graph in GRAPHS:
        for start, budget in ((3, 100), (0, 60)):
            plan = Plan(graph, RECIPE, start, budget, draws=draws[graph])
            yield lambda *where, plan=plan: make_curves(plan, *where)  # type: ignore[misc]


class TimeIsUp(Exception):
    """The time that was given is over."""


class Progress(BenchCallback):
    """A line per finished run; ends the refresh at ``deadline``."""

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline

    def done(self, task: Task, row: dict[str, Any]) -> None:
        shown = row["error"] or f"{100 * row['test_accuracy']:.1f}, {row['seconds']:.1f} s"
        print(
            f"{task.dataset} {task.per_class} {task.title} {task.pool} {task.validation} {task.draw}: {shown}",
            flush=True,
        )
        if time.monotonic() > self.deadline:
            raise TimeIsUp


def make(path: Path, steps: Iterator[Step], executor: Executor, progress: Progress) -> bool:
    """Run the steps on the store of an export and write the export; False where the time is over."""
    with executor, Store(STORES[path], create=True) as store:
        fill(store, path)
        try:
            for step in steps:
                step(store, executor, progress)
                export(store, path)
        except TimeIsUp:
            print("the time is over; the same command continues")
            export(store, path)
            return False
    return True


def draws_of(text: str) -> dict[str, int]:
    """``10,pubmed=5`` -> 10 draws of every data set, 5 of Pubmed."""
    found = dict.fromkeys(GRAPHS, DRAWS)
    for word in filter(None, text.split(",")):
        name, given, number = word.rpartition("=")
        found |= {name: int(number)} if given else dict.fromkeys(GRAPHS, int(number))
    return found


def main() -> None:
    """Move old rows, make the runs, and write tables and pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--draws", type=draws_of, default=draws_of(""), help="such as 10 or 10,pubmed=5")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after this time")
    parser.add_argument("--steps", choices=("all", "cells", "curves"), default="all", help="what to make anew")
    parser.add_argument("--retire", action="store_true", help="only move the rows of earlier versions")
    options = parser.parse_args()
    for path in STORES:
        print(f"{retire(path, ARCHIVE):,} rows of {path.name} moved to {ARCHIVE.name}", flush=True)
    if options.retire:
        return
    progress = Progress(time.monotonic() + 60 * options.minutes)
    done = True
    if options.steps != "curves":
        executor = Inline() if options.jobs == 1 else Local(options.jobs)
        done = make(CELLS, cell_steps(options.draws), executor, progress)
    if options.steps != "cells" and done:
        make(CURVES, curve_steps(options.draws), curve_executor(options.jobs), progress)
    for name in ("results.py", "readme_table.py"):
        subprocess.run([sys.executable, str(HOME / "scripts" / name)], check=True, cwd=HOME)


if __name__ == "__main__":
    main()
