"""Writes the tables, figures and claims under results/ from the exported runs.

drgst lab bench export results/runs.csv --store runs/results.db && python scripts/results.py

No run of a grid is made. The figures and claims that need a run of their own make it with --own.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from drgst.errors import DrgstError, StoreError
from drgst.files import write_text
from drgst.lab.claims import HIGH, LOW, decide_claims, write_claims
from drgst.lab.effect import Claim, Effect
from drgst.lab.figures import registry
from drgst.lab.figures.registry import Request
from drgst.lab.store.cells import RunFilter, check_any
from drgst.lab.tables.layout import render
from drgst.lab.tables.runs import TABLES, make_table
from drgst.report import style
from drgst.report.style import save

RESULTS = Path(__file__).parents[1] / "results"
VERDICTS = {"held": style.GREEN, "refuted": style.VERMILLION, "too small to tell": style.GREY}


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


def write_picture(out: Path) -> Path:
    """Draw the claims of ``claims.json``: every effect with its interval, coloured by its verdict."""
    source = out / "claims.json"
    if not source.is_file():
        raise StoreError(f"there is no {source} to draw")
    claims = [Claim.of(document) for document in json.loads(source.read_text(encoding="utf-8"))]
    path = out / "figures" / "claims.png"
    save(claims_picture(claims), path)
    return path


def claims_picture(claims: Sequence[Claim]) -> style.Figure:
    """One row per effect, one panel per unit; dashed lines bound the claimed range."""
    units = {"points": (0, 3, 6), "ρ": (-1, 0, 1), "times": (LOW, HIGH)}  # and their ticks
    rows = [(claim, effect) for claim in claims for effect in (None, *claim.effects)]
    with style.styled():
        figure, (panels,) = style.new_figure(0.115 * len(rows), 1, 3, sharey=True, width_ratios=(5, 3, 3))
        for panel, (unit, ticks) in zip(panels, units.items(), strict=True):
            for bound in (LOW, HIGH) if unit == "times" else (0,):
                panel.axvline(bound, color=style.GREY, lw=0.5, ls="--")
            panel.set(xlabel=unit)
            panel.tick_params(axis="y", length=0)
            panel.margins(x=0.08)
            for place, (_, effect) in enumerate(rows):
                if effect is not None and effect.unit == unit:
                    colour = VERDICTS[effect.verdict]
                    panel.plot([effect.low, effect.high], [place, place], color=colour, lw=1)
                    panel.plot(effect.mean, place, "o", color=colour, ms=2)
            panel.set_xticks(ticks)  # after the effects, so that the axis reaches the outer ticks
        names = [claim.title if effect is None else _effect_name(effect) for claim, effect in rows]
        panels[0].set_yticks(range(len(rows)), names, fontsize=4)
        for tick, (_, effect) in zip(panels[0].get_yticklabels(), rows, strict=True):
            tick.set_fontweight("bold" if effect is None else "normal")
        panels[0].set_ylim(len(rows) - 0.5, -0.5)
        style.legend(figure, panels[0], {verdict: {"color": VERDICTS[verdict]} for verdict in VERDICTS}, 3)
        style.caption(figure, "mean and 95 % interval for these cells")
        style.freeze_layout(figure)
    return figure


def _effect_name(effect: Effect) -> str:
    return f"{effect.name} ({effect.reading})" if effect.reading else effect.name


def make_all(request: Request, out: Path, own: bool = False) -> tuple[list[Path], dict[str, str]]:
    """Write all that the store has the runs for; the paths written, and for each missing name the reason."""
    check_any(request.cells, request.rows, request.wanted)
    steps: dict[str, Callable[[], Path]] = {f"table {n}": partial(write_table, n, request, out) for n in TABLES}
    steps |= {f"figure {n}": partial(write_figure, n, request, out, own) for n in registry.FIGURES}
    steps["claims"] = partial(write_verdicts, request, out, own)
    steps["picture of the claims"] = partial(write_picture, out)
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
