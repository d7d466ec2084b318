"""Writes the tables, figures and claims under results/ from the exported runs.

drgst lab bench export results/runs.csv --store runs/results.db && python scripts/results.py

No run of a grid is made. The figures and claims that need a run of their own make it with --own.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path

from drgst.errors import DrgstError, StoreError
from drgst.files import write_text
from drgst.lab.claims.decide import decide_claims, write_claims
from drgst.lab.figures import registry
from drgst.lab.figures.registry import Request
from drgst.lab.store.cells import RunFilter, check_any
from drgst.lab.tables.layout import render
from drgst.lab.tables.runs import TABLES, make_table
from drgst.report.style import save

RESULTS = Path(__file__).parents[1] / "results"


def write_table(name: str, request: Request, out: Path) -> Path:
    """Write a table as Markdown."""
    path = out / "tables" / f"{name}.md"
    write_text(path, render(make_table(name, request.cells), "md"))
    return path


def write_figure(name: str, request: Request, out: Path, own: bool) -> Path:
    """Write a figure as PNG; without ``own`` one that needs its own run is refused."""
    if not (own or registry.FIGURES[name].from_store):
        raise StoreError(f"it needs a run of its own: add --own, or drgst lab figure {name} --out {out / 'figures'}")
    path = out / "figures" / f"{name}.png"
    save(registry.make_figure(name, request), path)
    return path


def write_verdicts(request: Request, out: Path, own: bool) -> Path:
    """Write the claims as JSON; without ``own`` they are refused, since two of them need runs of their own."""
    if not own:
        raise StoreError(f"two claims need runs of their own: add --own, or drgst lab reproduce --no-run --out {out}")
    path = out / "claims.json"
    write_claims(decide_claims(request.rows, request), path)
    return path


def make_all(request: Request, out: Path, own: bool = False) -> tuple[list[Path], dict[str, str]]:
    """Write all that the store has the runs for; the paths written, and for each missing name the reason."""
    check_any(request.cells, request.rows, request.wanted)
    steps: dict[str, Callable[[], Path]] = {f"table {n}": partial(write_table, n, request, out) for n in TABLES}
    steps |= {f"figure {n}": partial(write_figure, n, request, out, own) for n in registry.FIGURES}
    steps["claims"] = partial(write_verdicts, request, out, own)
    written, refused = [], {}
    for name, step in steps.items():
        try:
            written.append(step())
        except DrgstError as error:
            refused[name] = str(error)
    return written, refused


def main() -> None:
    """Write the results, and print which were written and which were not."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, default=RESULTS / "runs.csv", help="store, or its export")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for tables/, figures/ and claims.json")
    parser.add_argument("--variant", default="default", help="settings: default, validation, or such as threshold=0.4")
    parser.add_argument("--own", action="store_true", help="make the runs of figures and claims that need their own")
    options = parser.parse_args()
    try:
        written, refused = make_all(Request(options.store, RunFilter(options.variant)), options.out, options.own)
    except DrgstError as error:
        parser.exit(2, f"error: {error}\n")
    print("\n".join(f"wrote {path}" for path in written))
    print("\n".join(f"no {name}: {reason}" for name, reason in refused.items()))


if __name__ == "__main__":
    main()
