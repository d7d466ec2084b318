"""What the bench promises: how soon it recognises finished runs, how soon a table is there, what scheduling costs.

python benchmarks/bench_limits.py --quick     # runs recognised, tables: a minute, also on a busy machine
python benchmarks/bench_limits.py             # and the scheduler: several minutes, on a machine with 2 idle cores
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

from drgst.bench.execute import blank, execute
from drgst.bench.expand import Expander
from drgst.bench.export import to_csv
from drgst.bench.grid import Grid
from drgst.bench.store import Store
from drgst.recipes import recipe_names
from drgst.report.paper import DATASETS, LABELS
from drgst.report.tables_accuracy import PARTS

Row = dict[str, Any]
RECIPES = ("gcn", "sts", "m3s", "drgst-do", "drgst-de")
GRID = Grid(["cora"], LABELS, RECIPES, 50)  # 1,000 runs
SHOWN = 20_000  # rows of a table, or a few more: 5 data sets, 4 label counts, all recipes, as many draws as it takes
DRGST = str(Path(sys.executable).with_name("drgst"))


@dataclass(frozen=True)
class Done:
    """A command that ended well: seconds from a new process to its end, those of the processor, what it printed."""

    seconds: float
    processor: float
    printed: str

    @property
    def told(self) -> Row:
        """Its JSON line."""
        return json.loads(self.printed.splitlines()[-1])


def drgst(*words: object) -> Done:
    """Run a command of drgst."""
    began, before = time.perf_counter(), os.times()
    done = subprocess.run([DRGST, *map(str, words)], capture_output=True, text=True, check=False)
    seconds, after = time.perf_counter() - began, os.times()
    if done.returncode:
        sys.exit(f"drgst {' '.join(map(str, words))} ended with {done.returncode}: {done.stderr}")
    processor = after.children_user + after.children_system - before.children_user - before.children_system
    return Done(seconds, processor, done.stdout)


def bench(grid: Grid, store: Path, jobs: int = 1) -> Done:
    """``drgst bench`` with this grid."""
    asked = {"datasets": grid.datasets, "per-class": grid.per_class, "recipes": grid.recipes, "draws": [grid.draws]}
    words = [word for name, said in asked.items() for word in (f"--{name}", ",".join(map(str, said)))]
    return drgst("bench", *words, "--jobs", jobs, "--store", store, "--json")


def tell(what: str, is_numeric: str, limit: str = "", met: bool = True) -> None:
    """A line, beside its limit where there is one."""
    beside = f"limit {limit:6s} {'met' if met else 'MISSED'}" if limit else "no limit"
    print(f"{what:62s} {is_numeric:>24s}   {beside}", flush=True)


def tell_time(what: str, done: Done, limit: float | None = 2.0) -> None:
    """A time beside its limit; that of the processor tells what a busy machine makes of it."""
    is_numeric = f"{done.seconds:.2f} s (processor {done.processor:.2f})"
    tell(what, is_numeric, "" if limit is None else f"{limit:.1f} s", limit is None or done.seconds < limit)


def fill(path: Path, rows: Iterable[Row]) -> None:
    """A new store with these rows."""
    with Store(path, create=True) as store, store.writing():
        for row in rows:
            store.add(row)


def outcome() -> Row:
    """One real run, cheap but with every stage; its figures stand in for those of all runs of the filled stores."""
    quick = Grid(["cora"], [3], ["drgst-de"], 1, {"epochs": 20, "samples": 5, "threshold": 0.2})
    row = execute(Expander(quick).tasks(next(quick.cells()))[0])
    if row["error"]:
        sys.exit(row["error"])
    return {**row, "code": "bench_limits", "versions": "{}"}


def recognise(folder: Path, made: Row) -> None:
    """A finished grid of 1,000 runs: when first asked for, and when asked for again."""
    expander = Expander(GRID)
    tasks = [task for cell in GRID.cells() for task in expander.tasks(cell)]
    fill(folder / "grid.db", ({**made, **{k: v for k, v in blank(t).items() if v is not None}} for t in tasks))
    for what, limit in (("first asked for so", None), ("asked for again", 2.0)):  # first: opens data, imports torch
        done = bench(GRID, folder / "grid.db")
        if (done.told["ran"], done.told["reused"]) != (0, len(tasks)):
            sys.exit(f"the grid was not recognised: {done.told['ran']} runs were made")
        tell_time(f"finished grid of {len(tasks):,} runs, {what}", done, limit)


def tables(folder: Path, made: Row) -> None:
    """The main table of 20,000 runs, every one of them shown, from a store and from its export."""
    recipes = [name for name in recipe_names() if name not in PARTS]  # the ablations have a table of their own
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
        done = drgst("table", "main", "--store", folder / name)
        if done.printed.count(f" {draws}\n") < len(rows) / draws:
            sys.exit(f"cells are missing in the table:\n{done.printed}")
        tell_time(f"drgst table main of {len(rows):,} rows, {Path(name).suffix[1:]}", done)


def scheduling(folder: Path, draws: int) -> None:
    """What a bench takes beyond its runs, and two processes against one, on the same runs in new stores."""
    grid = Grid(["cora"], [20], ["gcn"], draws)
    one = bench(grid, folder / "one.db", jobs=1).seconds
    with Store(folder / "one.db") as store:
        runs = sum(row["seconds"] for row in store.all_rows(["seconds"]))
    more = one / runs - 1
    tell(f"{draws} runs of {runs:.1f} s in all, one process: what is added", f"{100 * more:.1f} %", "5 %", more < 0.05)
    two = bench(grid, folder / "two.db", jobs=2).seconds
    tell(f"two processes ({two:.1f} s) against one ({one:.1f} s)", f"{one / two:.2f} x", "1.8 x", one / two > 1.8)


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="only what needs no quiet machine")
    parser.add_argument("--draws", type=int, default=24, help="runs that scheduling is is_numeric with (24)")
    asked = parser.parse_args()
    os.environ.pop("DRGST_DATA", None)  # the embedded Cora, here and in the commands
    with tempfile.TemporaryDirectory() as folder:
        made = outcome()
        recognise(Path(folder), made)
        tables(Path(folder), made)
        if not asked.quick:
            scheduling(Path(folder), asked.draws)


if __name__ == "__main__":
    main()
