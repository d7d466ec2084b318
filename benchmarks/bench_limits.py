"""Time limits of the bench: recognising finished runs, making a table, scheduling.

python benchmarks/bench_limits.py --quick     # finished runs and tables: a minute, also on a busy machine
python benchmarks/bench_limits.py             # and scheduling: several minutes, needs 2 idle cores
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from drgst.lab.grid.execute import Expander, blank, execute
from drgst.lab.grid.grid import Grid
from drgst.lab.paper import ABLATED, DATASETS, LABELS
from drgst.lab.store import Store
from drgst.lab.store.export import to_csv
from drgst.recipes import recipe_names

Row = dict[str, Any]
RECIPES = ("gcn", "sts", "m3s", "drgst-do", "drgst-de")
GRID = Grid(["cora"], LABELS, RECIPES, 50)  # 1,000 runs
SHOWN = 20_000  # runs of a table, at least: 5 data sets, 4 label counts, all recipes, as many draws as needed
DRGST = str(Path(sys.executable).with_name("drgst"))


@dataclass(frozen=True)
class Done:
    """A finished command: wall-clock seconds, processor seconds, and its output."""

    seconds: float
    processor: float
    output: str

    @property
    def document(self) -> Row:
        """The JSON on its last line."""
        return json.loads(self.output.splitlines()[-1])


def drgst(*arguments: object) -> Done:
    """Run ``drgst`` with these arguments."""
    began, before = time.perf_counter(), os.times()
    done = subprocess.run([DRGST, *map(str, arguments)], capture_output=True, text=True, check=False)
    seconds, after = time.perf_counter() - began, os.times()
    if done.returncode:
        sys.exit(f"drgst {' '.join(map(str, arguments))} ended with {done.returncode}: {done.stderr}")
    processor = after.children_user + after.children_system - before.children_user - before.children_system
    return Done(seconds, processor, done.stdout)


def bench(grid: Grid, store: Path, jobs: int = 1) -> Done:
    """``drgst lab bench`` with this grid."""
    options = {"datasets": grid.datasets, "per-class": grid.per_class, "recipes": grid.recipes, "draws": [grid.draws]}
    arguments = [part for name, values in options.items() for part in (f"--{name}", ",".join(map(str, values)))]
    return drgst("lab", "bench", *arguments, "--jobs", jobs, "--store", store, "--json")


def report(what: str, measured: str, limit: str = "", met: bool = True) -> None:
    """Print a line with the limit, if there is one."""
    beside = f"limit {limit:6s} {'met' if met else 'MISSED'}" if limit else "no limit"
    print(f"{what:62s} {measured:>24s}   {beside}", flush=True)


def report_time(what: str, done: Done, limit: float | None = 2.0) -> None:
    """Print a time with its limit; processor seconds show how busy the machine was."""
    measured = f"{done.seconds:.2f} s (processor {done.processor:.2f})"
    report(what, measured, "" if limit is None else f"{limit:.1f} s", limit is None or done.seconds < limit)


def fill(path: Path, rows: Iterable[Row]) -> None:
    """A new store with these rows."""
    with Store(path, create=True) as store, store.transaction():
        for row in rows:
            store.add(row)


def outcome() -> Row:
    """One short real run with every stage; the filled stores repeat its figures."""
    quick = Grid(["cora"], [3], ["drgst-de"], 1, {"epochs": 20, "samples": 5, "threshold": 0.2})
    row = execute(Expander(quick).tasks(next(quick.cells()))[0])
    if row["error"]:
        sys.exit(row["error"])
    return {**row, "code": "bench_limits", "versions": "{}"}


def recognise(folder: Path, made: Row) -> None:
    """A finished grid of 1,000 runs, requested for the first time and again."""
    expander = Expander(GRID)
    tasks = [task for cell in GRID.cells() for task in expander.tasks(cell)]
    fill(folder / "grid.db", ({**made, **{k: v for k, v in blank(t).items() if v is not None}} for t in tasks))
    for what, limit in (("first request", None), ("repeated request", 2.0)):  # the first opens data and imports torch
        done = bench(GRID, folder / "grid.db")
        if (done.document["ran"], done.document["reused"]) != (0, len(tasks)):
            sys.exit(f"the grid was not recognised: {done.document['ran']} runs were made")
        report_time(f"finished grid of {len(tasks):,} runs, {what}", done, limit)


def tables(folder: Path, made: Row) -> None:
    """The main table of 20,000 runs, from a store and from its export."""
    recipes = [name for name in recipe_names() if name not in ABLATED]  # they have a table of their own
    draws = math.ceil(SHOWN / (len(DATASETS) * len(LABELS) * len(recipes)))
    places = list(product(DATASETS, LABELS, recipes, range(draws)))
    accuracies = np.random.default_rng(0).normal(0.7, 0.03, len(places)).round(4).tolist()
    names = ("dataset", "per_class", "recipe", "draw")
    rows = [
        {**made, **dict(zip(names, place, strict=True)), "key": str(i), "variant": "", "test_accuracy": accuracy}
        for i, (place, accuracy) in enumerate(zip(places, accuracies, strict=True))
    ]
    fill(folder / "many.db", rows)
    to_csv(rows, folder / "many.csv")
    for name in ("many.db", "many.csv"):
        done = drgst("lab", "table", "main", "--store", folder / name)
        if done.output.count(f" {draws}\n") < len(rows) / draws:
            sys.exit(f"cells are missing in the table:\n{done.output}")
        report_time(f"drgst lab table main of {len(rows):,} rows, {Path(name).suffix[1:]}", done)


def scheduling(folder: Path, draws: int) -> None:
    """The overhead of a bench over its runs, and two processes against one, on the same runs in new stores."""
    grid = Grid(["cora"], [20], ["gcn"], draws)
    one = bench(grid, folder / "one.db", jobs=1).seconds
    with Store(folder / "one.db") as store:
        runs = sum(row["seconds"] for row in store.all_rows(["seconds"]))
    overhead = one / runs - 1
    what = f"{draws} runs of {runs:.1f} s in total, one process: overhead"
    report(what, f"{100 * overhead:.1f} %", "5 %", overhead < 0.05)
    two = bench(grid, folder / "two.db", jobs=2).seconds
    report(f"two processes ({two:.1f} s) against one ({one:.1f} s)", f"{one / two:.2f} x", "1.8 x", one / two > 1.8)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="skip what needs an idle machine")
    parser.add_argument("--draws", type=int, default=24, help="runs for the measurement of scheduling (24)")
    options = parser.parse_args()
    os.environ.pop("DRGST_DATA", None)  # the embedded Cora, here and in the commands
    with tempfile.TemporaryDirectory() as folder:
        made = outcome()
        recognise(Path(folder), made)
        tables(Path(folder), made)
        if not options.quick:
            scheduling(Path(folder), options.draws)


if __name__ == "__main__":
    main()
