"""Measures methods on twelve graphs with few labels: the runs behind docs/guides/which-graphs.md.

DRGST_DATA=/path/to/data python scripts/graphs.py --more /path/to/npz --minutes 60
DRGST_DATA=/path/to/data python scripts/graphs.py --more /path/to/npz --recipes drgst-plus
python scripts/graphs.py --draw     # only the picture, from results/graphs.csv

The paper's four graphs have the labels of the paper's test nodes removed, so that nothing is measured on them. Runs are
kept in ``runs/graphs.db`` and one that is there is not made again. Steps are in order of cost. At the end, or when the
time is over, all runs are written to ``results/graphs.csv``. Poisson learning needs the package ``graphlearning``.
"""

from __future__ import annotations

import argparse
import importlib.util
import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from drgst.datasets.load import load, open_graph
from drgst.files import csv_text, write_text
from drgst.graph.core import Graph
from drgst.io.npz import save_graph
from drgst.lab.grid.execute import warm_up
from drgst.lab.grid.executors import Inline
from drgst.lab.grid.grid import Grid, Task
from drgst.lab.grid.run_grid import BenchCallback, run_grid
from drgst.lab.store import Store
from drgst.lab.store.cells import RunFilter, on_common_draws, runs_by_cell
from drgst.lab.store.export import readable_rows, to_csv
from drgst.lab.store.schema import Row
from drgst.nn.losses import NodeLoss
from drgst.nn.records import OnEpoch, State
from drgst.recipes import find_recipe, recipe
from drgst.report import style
from drgst.selftrain.learners.base import Trained, fitted
from drgst.selftrain.parts import NoNewLabels
from drgst.selftrain.problem import Problem, Targets
from drgst.selftrain.recipe import Recipe
from drgst.selftrain.settings import Settings

HOME = Path(__file__).parents[1]
RESULTS, FACTS = HOME / "results" / "graphs.csv", HOME / "results" / "graph_facts.csv"
PICTURE = HOME / "results" / "figures" / "graphs.png"
FOLDER, STORE = HOME / "runs" / "graphs", HOME / "runs" / "graphs.db"
PAPERS = ("cora", "citeseer", "pubmed", "flickr")
MORE = (
    *("chameleon_filtered", "polblogs", "uai", "citeseer_full", "minesweeper"),
    *("tolokers", "amazon_cs", "coauthor_phy"),
)
LARGE = ("tolokers", "amazon_cs", "coauthor_phy", "flickr-dev", "pubmed-dev")  # too slow for self-trained networks here
FIRST = 200  # draws from 100 to 199 choose settings
EPOCHS = 200  # of networks where there are no validation labels
POOL = "all-but-validation"
WITHOUT_NETWORK = ("label-propagation", "logistic", "logistic-ppr", "poisson")
NETWORKS = ("gcn", "appnp")
SELF_TRAINED = ("self-training", "abn", "iceberg", "drgst-de")


@dataclass(frozen=True)
class Poisson:
    """L u_k = Σ_i (y_ik - ȳ_k) δ_i (Calder et al., ICML 2020), solved by the package ``graphlearning``.

    u is a score, not a probability.
    """

    reads: ClassVar[tuple[str, ...]] = ()

    def train(
        self, problem: Problem, targets: Targets, _loss: NodeLoss, _seed: tuple[int, ...], _on_epoch: OnEpoch | None
    ) -> Trained:
        from graphlearning import ssl  # compiled on installation, so it is not a dependency of drgst

        began = time.perf_counter()
        # the default solver does not converge on graphs of several components; this one divides by a degree of 0
        model = ssl.poisson(problem.graph.adjacency, solver="gradient_descent")
        with np.errstate(divide="ignore", invalid="ignore"):
            scores = np.nan_to_num(model.fit(targets.nodes, targets.labels)).astype(np.float32)
        return fitted("Poisson learning", problem, scores, {"scores": scores}, began)

    def predict(self, state: State, _graph: Graph, _settings: Settings) -> np.ndarray:
        return np.asarray(state["scores"])


@recipe("poisson", "Poisson learning: the graph alone", "Calder et al., Poisson Learning, ICML 2020", version=2)
def poisson(_settings: Settings) -> Recipe:
    """Poisson learning by the package ``graphlearning``."""
    return Recipe(learner=Poisson(), stop=(NoNewLabels(),))


@dataclass(frozen=True)
class Step:
    """A part of the benchmark: recipes on graphs with some numbers of labels and draws."""

    recipes: tuple[str, ...]
    per_class: tuple[int, ...]
    draws: int
    without: tuple[str, ...] = ()  # graphs
    validation: str = "none"

    def grid(self, recipes: tuple[str, ...]) -> Grid | None:
        """The runs of the recipes that are wanted and can be run here; None without one."""
        names = [name for name in self.recipes if name in recipes]
        graphs = [str(FOLDER / f"{name}.npz") for name in graph_names() if name not in self.without]
        read = {"fixed_epochs"} & {n for name in names for n in find_recipe(name).readable({"fixed_epochs": EPOCHS})}
        changes = dict.fromkeys(read, EPOCHS) if self.validation == "none" else {}
        if not names:
            return None
        draws = range(FIRST, FIRST + self.draws)
        return Grid(graphs, self.per_class, names, draws, changes, (), POOL, self.validation)


STEPS = (
    Step(WITHOUT_NETWORK[:-1], (3, 10), 10),
    Step((*NETWORKS, "self-training"), (3, 10), 5, LARGE),
    Step(("drgst-plus",), (3, 10), 5),
    Step(("poisson",), (3, 10), 5, LARGE),
    Step(SELF_TRAINED[1:], (3, 10), 5, LARGE),
    Step(WITHOUT_NETWORK[:-1], (1, 5, 20), 5),
    Step(("drgst-plus",), (1, 5, 20), 5),
    Step((*WITHOUT_NETWORK[:-1], "drgst-plus"), (3, 10), 5, validation="30"),
    Step(NETWORKS, (3, 10), 3),
    Step((*NETWORKS, "sts", *SELF_TRAINED[1:]), (3, 10), 3, LARGE, validation="30"),
    Step((*NETWORKS, *SELF_TRAINED), (1, 5, 20), 3, LARGE),
    Step(SELF_TRAINED, (3, 10), 3),
)


def graph_names() -> tuple[str, ...]:
    """The names of the files, without their ending."""
    return (*(f"{name}-dev" for name in PAPERS), *MORE)


def prepare(more: Path) -> None:
    """Write the graphs that are missing: named by their files, without splits, without the paper's test labels."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in graph_names():
        path = FOLDER / f"{name}.npz"
        if path.exists():
            continue
        if name in MORE:
            graph = open_graph(str(more / f"{name}.npz"))
        else:
            whole = load(name.removesuffix("-dev"))
            assert whole.split is not None
            labels = whole.labels.copy()
            labels[whole.split.test] = -1
            graph = whole.with_(labels=labels)
        save_graph(replace(graph.with_(splits=()), name=name), path)


def write_facts() -> None:
    """Write sizes, the share of the largest class, and homophily of every graph.

    h = the share of edges whose ends have the same class; adjusted for class sizes h' = (h - s) / (1 - s) with
    s = Σ_c (D_c / Σ D)², D_c the sum of degrees in class c. Edges with an end of unknown class are left out.
    """
    rows: list[list[object]] = [["graph", "nodes", "edges", "classes", "features", "largest", "homophily", "adjusted"]]
    for name in graph_names():
        graph = open_graph(str(FOLDER / f"{name}.npz"))
        edges = graph.adjacency.tocoo()
        ends = np.stack([graph.labels[edges.row], graph.labels[edges.col]])
        ends = ends[:, (ends >= 0).all(axis=0) & (edges.row != edges.col)]
        h, shares = (ends[0] == ends[1]).mean(), np.bincount(ends[0]) / ends.shape[1]
        counts = np.bincount(graph.labels[graph.labels >= 0])
        adjusted = (h - (shares**2).sum()) / (1 - (shares**2).sum())
        sizes = (graph.num_nodes, (edges.row < edges.col).sum(), graph.num_classes, graph.num_features)
        rows.append([name, *sizes, *(f"{value:.3f}" for value in (counts.max() / counts.sum(), h, adjusted))])
    write_text(FACTS, csv_text(rows))


def picture(rows: Sequence[Row]) -> style.Figure:
    """Accuracy of every recipe on every graph with 3 and with 10 labels per class, without validation labels."""
    read = any(row["variant"] for row in rows)  # no network was run yet where none has other epochs
    variant = f"fixed_epochs={EPOCHS}" if read else "default"
    cells = on_common_draws(runs_by_cell(rows, RunFilter(variant, POOL, "none")))
    marks = {
        "drgst-plus": {"color": style.VERMILLION, "marker": "D", "ms": 4},
        "logistic-ppr": {"color": style.BLUE, "marker": "o", "ms": 3},
        "gcn": {"color": style.BLACK, "marker": "^", "ms": 3},
        "drgst-de": {"color": style.GREEN, "marker": "s", "ms": 3},
    }
    other = {"color": style.GREY, "marker": "|", "ms": 5}
    with style.styled():
        figure, ((first, second),) = style.new_figure(3.2, 1, 2, sharey=True)
        names = [name for name in graph_names() if any(cell[0] == name for cell in cells)]
        for panel, k in ((first, 3), (second, 10)):
            for (dataset, labels, recipe), runs in sorted(cells.items(), key=lambda item: item[0][2] in marks):
                if labels == k:
                    mean = 100 * (runs.mean("test_accuracy")[0] or 0)
                    panel.plot(mean, names.index(dataset), ls="none", **marks.get(recipe, other))
            panel.set(title=f"{k} labels per class", xlabel="test accuracy (%)", xlim=(0, 100))
            panel.grid(axis="y", lw=0.2)
        first.set_yticks(range(len(names)), names)
        first.invert_yaxis()
        ran = {recipe for _, _, recipe in cells}
        entries = {**{name: mark for name, mark in marks.items() if name in ran}, "other methods": other}
        style.legend(figure, first, {name: {**mark, "ls": "none"} for name, mark in entries.items()}, 3)
        style.caption(figure, "mean over common draws; no validation labels; up to 1,000 test nodes")
        style.freeze_layout(figure)
    return figure


class TimeIsUp(Exception):
    """The time that was given is over."""


class Progress(BenchCallback):
    """A line per finished run; ends the bench at ``deadline``."""

    def __init__(self, deadline: float) -> None:
        self.deadline, self.left = deadline, 0

    def begin(self, _reused: int, tasks: list[Task]) -> None:
        self.left = len(tasks)

    def done(self, task: Task, row: dict[str, Any]) -> None:
        self.left -= 1
        shown = row["error"] or f"{100 * row['test_accuracy']:.1f}, {row['seconds']:.1f} s"
        print(f"{task.dataset} {task.per_class} {task.recipe} {task.draw}: {shown} ({self.left} left)", flush=True)
        if time.monotonic() > self.deadline:
            raise TimeIsUp


def grids(wanted: tuple[str, ...]) -> Iterator[Grid]:
    """The steps, restricted to ``wanted`` (empty: all recipes that can be run here)."""
    known = [name for step in STEPS for name in step.recipes]
    if importlib.util.find_spec("graphlearning") is None:
        known = [name for name in known if name != "poisson"]
    for step in STEPS:
        grid = step.grid(tuple(wanted or known))
        if grid is not None:
            yield grid


def is_current(row: Row) -> bool:
    """Whether the row is of the version that ships."""
    return row["recipe_version"] == find_recipe(row["recipe"]).version


def stored(path: Path) -> list[Row]:
    """The current rows of an export; none where there is no file."""
    return list(filter(is_current, readable_rows(path))) if path.is_file() else []


def export(store: Store, path: Path) -> int:
    """Write the runs that did not fail, without their stages; those of recipes that were not run here stay."""
    rows = [row for row in store.all_rows() if row["error"] is None]
    made = {row["key"] for row in rows}
    kept = [row for row in stored(path) if row["key"] not in made]
    scores = {"ece": None, "brier": None, "teacher_ece": None}  # of scores that are no probabilities
    rows = [{**row, "stage_rows": None, **(scores if row["recipe"] == "poisson" else {})} for row in rows]
    rows = [*kept, *filter(is_current, rows)]
    rows.sort(key=lambda r: (r["validation"], r["dataset"], r["per_class"], r["recipe"], r["draw"]))
    to_csv(rows, path)
    return len(rows)


def main() -> None:
    """Make the runs that are missing and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--more", type=Path, help=f"folder with {', '.join(MORE)} as .npz")
    parser.add_argument("--recipes", default="", help="only these, separated by commas")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after this time")
    parser.add_argument("--draw", action="store_true", help="only draw the picture")
    options = parser.parse_args()
    if options.draw:
        style.save(picture(readable_rows(RESULTS)), PICTURE)
        return
    prepare(options.more)
    write_facts()
    logging.getLogger("drgst").setLevel(logging.ERROR)
    deadline = time.monotonic() + 60 * options.minutes
    warm_up()
    with Store(STORE, create=True) as store:
        for row in stored(RESULTS):  # a fresh checkout goes on where the file ends
            store.add(row)
        try:
            for grid in grids(tuple(options.recipes.split(",")) if options.recipes else ()):
                run_grid(grid, store, Inline(), Progress(deadline))
        except TimeIsUp:
            print("the time is over")
        print(f"{export(store, RESULTS):,} runs in {RESULTS}")
    style.save(picture(readable_rows(RESULTS)), PICTURE)


if __name__ == "__main__":
    main()
