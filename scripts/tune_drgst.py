"""Chooses the settings of drgst-do-tuned and drgst-de-tuned by validation accuracy on fresh draws.

python scripts/tune_drgst.py run cora 3 do --draws 100 104 --trial floor=top --trial floor=top,threshold=0.5
python scripts/tune_drgst.py show
python scripts/tune_drgst.py choose

``run`` trains the published settings with the changes of each trial on the draws first to last and adds one row per
stage to results/tuning.csv; a run that is there is not repeated. Labels of test nodes are hidden from it. The stages of
one run serve every smaller number of stages. ``show`` prints the trials, ``choose`` writes the best of each cell to
src/drgst/recipes/data/tuned_settings.csv, and with its gain over the published settings to results/tuned.csv. Only
settings with as many draws as any of the cell can be chosen: 4 draws screen, and at 3 labels per class 20 decide.

The stage that is kept is chosen by validation nodes, so its accuracy on the same nodes is too high. Every accuracy here
is cross-fitted: the stage is chosen on one half of the validation nodes and measured on the other, and the reverse.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd
import torch

from drgst.datasets.load import open_graph
from drgst.files import write_text
from drgst.lab.paper import DATASETS, LABELS
from drgst.recipes.presets import published
from drgst.runs.config import RunConfig
from drgst.runs.config_file import parse_changes
from drgst.runs.result import Result
from drgst.runs.run import Run
from drgst.selftrain.settings import Settings
from drgst.uncertainty.calibration import log_loss

HOME = Path(__file__).parents[1]
TRIALS = HOME / "results" / "tuning.csv"
GAINS_OF_CHOSEN = HOME / "results" / "tuned.csv"
CHOSEN = HOME / "src" / "drgst" / "recipes" / "data" / "tuned_settings.csv"
GAINS = {"do": "dropout", "de": "dropedge"}
KEEPS = ("best", "best-student", "last")
CELL = ["dataset", "labels_per_class", "information_gain"]
SETTINGS = ["threshold", "beta", "drop_rate", "teacher_scale", "floor"]
PRESET = [*CELL[:2], *SETTINGS[:3], CELL[2], "stages", "keep", "teacher_scale", "floor"]
FIRST = 100  # draws below are those of the results
STAGES = 3  # or as many as are published, if that is more
SCREENED = 4  # draws from which settings are chosen
DECIDED = 20  # the same at 3 labels per class, where draws differ most
MARGIN = 0.5  # points that fewer stages may cost


def halves(result: Result) -> Iterator[dict[str, float]]:
    """For each accepted stage its validation loss and accuracy on the even and on the odd validation nodes."""
    val, labels = result.split.val, result.graph.labels
    for stage in result.history.accepted:
        found: dict[str, float] = {"stage": stage.number, "pseudo_labelled": stage.pseudo_labels.nodes.size}
        for name, nodes in (("even", val[::2]), ("odd", val[1::2])):
            logits = stage.logits[nodes]
            found[f"loss_{name}"] = round(log_loss(logits, labels[nodes]), 5)
            found[f"accuracy_{name}"] = round(float((logits.argmax(axis=1) == labels[nodes]).mean()), 5)
        yield found


def run_trial(dataset: str, per_class: int, kind: str, changes: dict[str, Any], draw: int) -> list[dict[str, Any]]:
    """The rows of one run; labels of test nodes are hidden."""
    preset = {"keep": "best", "teacher_scale": "1", "floor": "none", **published(dataset, per_class, GAINS[kind])}
    settings = {name: preset[name] for name in ("keep", *SETTINGS)} | {"stages": most_stages(preset), **changes}
    config = RunConfig(recipe=f"drgst-{kind}-tuned", per_class=per_class, seed=draw, settings=settings, threads=1)
    run = Run.of(open_graph(dataset), replace(config, data=dataset, pool="unlabelled", validation="public"))
    result = replace(run, graph=run.problem.graph).execute()
    head = {"dataset": dataset, "labels_per_class": per_class, "information_gain": GAINS[kind]}
    head |= {name: settings[name] for name in SETTINGS}
    end = {"draw": draw, "max_stages": settings["stages"], "seconds": round(result.seconds, 1)}
    return [{**head, **end, **row} for row in halves(result)]


def most_stages(preset: dict[str, Any]) -> int:
    """Students of a trial that does not name their number: at least those of the published settings."""
    return max(STAGES, int(preset["stages"]))


def cross_fitted(rows: pd.DataFrame, stages: int, keep: str) -> float:
    """Accuracy of the kept stage of one run: chosen on one half of the validation nodes, measured on the other."""
    rows = rows[rows["stage"] <= stages]
    found = []
    for here, there in (("even", "odd"), ("odd", "even")):
        if keep == "last":
            kept = rows["stage"].idxmax()
        elif keep == "best":
            kept = rows[f"loss_{here}"].idxmin()
        else:
            students = rows[rows["stage"] > 0]
            kept = (students if len(students) else rows)[f"accuracy_{here}"].idxmax()
        found.append(float(rows.loc[kept, f"accuracy_{there}"]))
    return float(np.mean(found))


def scores(trials: pd.DataFrame) -> pd.DataFrame:
    """Cell, settings, stages, kept stage and draw -> accuracy in percent."""
    made = []
    for names, run in trials.groupby([*CELL, *SETTINGS, "draw"], sort=False):  # one run each
        head = dict(zip([*CELL, *SETTINGS, "draw"], names, strict=True))
        for stages in range(int(run["max_stages"].max()) + 1):
            for keep in KEEPS if stages else ("best",):
                accuracy = 100 * cross_fitted(run, stages, keep)
                made.append({**head, "stages": stages, "keep": keep, "accuracy": accuracy})
    return pd.DataFrame(made)


def reference(dataset: str, per_class: int, gain: str) -> dict[str, Any]:
    """The published settings of a cell, as the trials name them."""
    found = published(dataset, per_class, gain)
    return {name: found.get(name) for name in SETTINGS[:3]} | {
        "teacher_scale": "1",
        "floor": "none",
        "stages": found["stages"],
        "keep": "best",
    }


def compared(cell: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Each setting of a cell: draws, mean accuracy, and mean difference to the published settings on shared draws."""
    first = cell.iloc[0]
    usual = reference(first["dataset"], int(first["labels_per_class"]), first["information_gain"])
    same = np.logical_and.reduce([_equal(cell[name], usual[name]) for name in usual])
    base, rows = cell[same].set_index("draw")["accuracy"], []
    for values, group in cell.groupby(list(names), sort=False):
        by_draw = group.set_index("draw")["accuracy"]
        apart = (by_draw - base).dropna()
        error = apart.std() / np.sqrt(len(apart)) if len(apart) > 1 else np.nan
        figures = {"draws": len(by_draw), "accuracy": by_draw.mean(), "gain": apart.mean(), "error": error}
        rows.append({**dict(zip(names, values, strict=True)), **figures, "pairs": len(apart)})
    return pd.DataFrame(rows).sort_values("gain", ascending=False)


def _equal(column: pd.Series, value: Any) -> np.ndarray:
    return (column - value).abs().lt(1e-4).to_numpy() if isinstance(value, float) else column.eq(value).to_numpy()


def chosen(table: pd.DataFrame) -> pd.Series:
    """The setting of highest mean difference among those with most draws.

    Of those within ``MARGIN`` that with the fewest stages, then that which keeps the stage of lowest validation loss.
    """
    table = table[table["pairs"] == table["pairs"].max()]
    near = table[table["gain"] >= table["gain"].max() - MARGIN]
    near = near.assign(rank=near["keep"].map(KEEPS.index))
    return near.sort_values(["stages", "rank", "gain"], ascending=[True, True, False]).iloc[0].drop("rank")


def read_trials() -> pd.DataFrame:
    """All trials; of a run that was repeated with more stages the longer one."""
    found = pd.read_csv(TRIALS, dtype={"teacher_scale": str}).sort_values("max_stages", kind="stable")
    return found.drop_duplicates([*CELL, *SETTINGS, "draw", "stage"], keep="last").sort_index()


def run(options: argparse.Namespace) -> None:
    """Make the runs that the file lacks."""
    torch.set_num_threads(1)
    known = read_trials() if TRIALS.exists() else pd.DataFrame()
    for trial in options.trial or [""]:
        words = parse_changes([trial] if trial else [])
        changes = {name: getattr(Settings().updated(words), name) for name in words}
        for draw in range(max(options.draws[0], FIRST), options.draws[1] + 1):
            head = {"dataset": options.dataset, "labels_per_class": options.per_class}
            head |= {"information_gain": GAINS[options.kind], "draw": draw}
            head |= {name: v for name, v in wanted(options, changes).items() if name in SETTINGS}
            stages = changes.get("stages", most_stages(wanted(options, {})))
            if (
                len(known)
                and (
                    known["max_stages"].ge(stages)
                    & np.logical_and.reduce([_equal(known[name], value) for name, value in head.items()])
                ).any()
            ):
                continue
            rows = pd.DataFrame(run_trial(options.dataset, options.per_class, options.kind, changes, draw))
            rows.to_csv(TRIALS, mode="a", header=not TRIALS.exists(), index=False)
            print(options.dataset, options.per_class, options.kind, trial, draw, rows["seconds"].iloc[0], flush=True)


def wanted(options: argparse.Namespace, changes: dict[str, Any]) -> dict[str, Any]:
    """The settings of a trial."""
    return {**reference(options.dataset, options.per_class, GAINS[options.kind]), **changes}


def tables() -> Iterator[tuple[tuple[Any, ...], pd.DataFrame]]:
    """Cell -> its settings compared with the published ones."""
    for cell, rows in scores(read_trials()).groupby(CELL, sort=False):
        yield cell, compared(rows, [*SETTINGS, "stages", "keep"])


def show(options: argparse.Namespace) -> None:
    """Print the best settings of each cell."""
    for cell, table in tables():
        print(*cell)
        print(table.head(options.top).to_string(index=False, float_format=lambda v: f"{v:.3g}"))
        print("chosen:", dict(chosen(table)))


def choices() -> pd.DataFrame:
    """The chosen settings of every cell, with their gain in validation accuracy over the published ones."""
    rows = [dict(zip(CELL, cell, strict=True)) | dict(chosen(table)) for cell, table in tables()]
    rows = [row for row in rows if row["pairs"] >= (DECIDED if row["labels_per_class"] == LABELS[0] else SCREENED)]
    order = [DATASETS.index(row["dataset"]) for row in rows], [row["information_gain"] == "dropedge" for row in rows]
    found = pd.DataFrame(rows).assign(place=order[0], kind=order[1])
    found = found.sort_values(["place", CELL[1], "kind"], ignore_index=True)
    return found.assign(dataset=found["dataset"].str.capitalize(), beta=found["beta"].map("{:.6f}".format))


def chosen_text(names: Sequence[str] = PRESET) -> str:
    """Columns of :func:`choices` as CSV."""
    return str(choices()[list(names)].to_csv(index=False, float_format="%.4g", lineterminator="\n"))


def choose(_: argparse.Namespace) -> None:
    """Write the chosen settings, and beside the results their gain in validation accuracy."""
    write_text(CHOSEN, chosen_text())
    write_text(GAINS_OF_CHOSEN, chosen_text([*PRESET, "accuracy", "gain", "error", "pairs"]))


def main() -> None:
    """Run trials, show them, or write the chosen settings."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    trials = commands.add_parser("run", help="run trials")
    trials.add_argument("dataset")
    trials.add_argument("per_class", type=int)
    trials.add_argument("kind", choices=GAINS)
    trials.add_argument("--draws", type=int, nargs=2, default=(FIRST, FIRST + 3), metavar=("FIRST", "LAST"))
    trials.add_argument("--trial", action="append", metavar="KEY=VALUE,…", help="changes of the published settings")
    trials.set_defaults(do=run)
    shown = commands.add_parser("show", help="print the trials")
    shown.add_argument("--top", type=int, default=8)
    shown.set_defaults(do=show)
    commands.add_parser("choose", help="write the chosen settings").set_defaults(do=choose)
    options = parser.parse_args()
    options.do(options)


if __name__ == "__main__":
    main()
