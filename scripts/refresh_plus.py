"""Makes every figure of drgst-plus anew with the version that ships, then all tables, figures and pages.

python scripts/refresh_plus.py --jobs 2

Rows of earlier versions, and rows of drgst-plus without a commit, move from ``results/`` to
``docs/notebook/earlier-versions.csv.gz``, so no page shows them. Runs and curves are kept in ``runs/results.db`` and
``runs/curves.db``, and one that is there is not made again: the same command continues an interrupted refresh. It takes
about two hours of one core.
``--retire`` only moves the rows of earlier versions, ``--list`` only prints the commands.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from drgst.files import csv_text
from drgst.lab.store.export import readable_rows, to_csv
from drgst.lab.store.schema import COLUMNS, Row
from drgst.recipes import find_recipe, recipe_names

HOME = Path(__file__).parents[1]
ARCHIVE = HOME / "docs" / "notebook" / "earlier-versions.csv.gz"
STORES = {HOME / "results" / "runs.csv": "runs/results.db", HOME / "results" / "label_curves.csv": "runs/curves.db"}
GRAPHS = ("cora", "citeseer", "pubmed", "flickr")
RECIPE = "drgst-plus"


def is_current(row: Row, stamped: bool) -> bool:
    """Whether the row is of the version that ships and, where ``stamped`` is asked of drgst-plus, of a known commit."""
    if row["recipe"] not in recipe_names() or row["recipe_version"] != find_recipe(row["recipe"]).version:
        return False
    return row["recipe"] != RECIPE or not stamped or "+" in (row["code"] or "")


def retire(path: Path, archive: Path, stamped: bool = True) -> int:
    """Move the rows that are not current from an export to the archive; how many there were."""
    rows = readable_rows(path)
    old = [row for row in rows if not is_current(row, stamped)]
    if old:
        kept = gzip.decompress(archive.read_bytes()).decode() if archive.is_file() else csv_text([COLUMNS])
        known = {line["key"] for line in csv.DictReader(io.StringIO(kept))}
        added = csv_text([row[name] for name in COLUMNS] for row in old if row["key"] not in known)
        archive.write_bytes(gzip.compress((kept + added).encode(), mtime=0))
        to_csv([row for row in rows if is_current(row, stamped)], path)
    return len(old)


def commands(jobs: int) -> Iterator[list[str]]:
    """The commands that make, export and show the figures of drgst-plus."""
    bench = ["lab", "bench", "--recipes", RECIPE, "--jobs", str(jobs), "--store", "runs/results.db"]
    bench += ["--datasets", ",".join(GRAPHS)]
    hidden = ["--set", "pool=all-but-validation"]
    for path, store in STORES.items():
        yield ["lab", "bench", "rescue", str(path), "--store", store]
    yield [*bench, *hidden, "--validation", "none", "--per-class", "3,5,10", "--draws", "10"]
    yield [*bench, *hidden, "--validation", "none", "--per-class", "20", "--draws", "2"]  # nothing is random
    yield [*bench, *hidden, "--per-class", "3,5,10,20", "--draws", "2"]
    yield [*bench, "--per-class", "3,5,10,20", "--draws", "2"]
    for start, budget in (("3", "100"), ("0", "60")):
        for graph in GRAPHS:
            curve = ["lab", "label-curve", graph, "--recipe", RECIPE, "--by", "suggest,random", "--draws", "10"]
            yield [*curve, "--start", start, "--budget", budget, "--jobs", str(jobs), "--store", "runs/curves.db"]
    for path, store in STORES.items():
        yield ["lab", "bench", "export", str(path), "--store", store]


def main() -> None:
    """Move old rows, make the runs, and write tables, figures and pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--retire", action="store_true", help="only move the rows of earlier versions")
    parser.add_argument("--list", action="store_true", help="only print the commands")
    options = parser.parse_args()
    steps = [[sys.executable, "-m", "drgst", *words] for words in commands(options.jobs)]
    scripts = HOME / "scripts"
    steps += [
        [sys.executable, str(scripts / "results.py"), "--own"],
        [sys.executable, str(scripts / "readme_table.py")],
    ]
    if options.list:
        print("\n".join(" ".join(step) for step in steps))
        return
    for path in STORES:
        print(f"{retire(path, ARCHIVE, not options.retire):,} rows of {path.name} moved to {ARCHIVE.name}", flush=True)
    for step in [] if options.retire else steps:
        print(" ".join(step), flush=True)
        subprocess.run(step, check=True, cwd=HOME)


if __name__ == "__main__":
    main()
