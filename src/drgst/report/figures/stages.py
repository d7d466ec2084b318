"""Embeddings at stages 1 to 3, for pool nodes by weight and for test nodes by class (the paper's Figure 9)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from drgst.errors import RunError
from drgst.report.figures.maps import chained_maps, sample
from drgst.report.figures.request import Request
from drgst.report.figures.style import CLASSES, GREY, SHADES, bare, new_figure, note
from drgst.runs.metrics import accuracy
from drgst.runs.result import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STAGES, PER_CLASS, RECIPE = 3, 20, "drgst-de"


@dataclass(frozen=True, eq=False)
class Snapshot:
    """One stage: where pool and test nodes are, the weights of pool nodes (NaN: not trusted), test accuracy."""

    number: int
    pool: np.ndarray  # (P, 2)
    test: np.ndarray  # (Q, 2)
    weights: np.ndarray  # (P,)
    accuracy: float


@dataclass(frozen=True, eq=False)
class Data:
    """The stages in order, the classes of the test nodes, and what it is of."""

    snapshots: list[Snapshot]
    classes: np.ndarray  # (Q,)
    class_names: tuple[str, ...]
    words: str


def prepare(request: Request) -> Data:
    """Run DR-GST for three stages (fewer where it converges before) and place the logits of each student."""
    run = request.run(RECIPE, PER_CLASS, stages=STAGES)
    if len(run.history) < 2:
        raise RunError(f"the run has no stage to show: {run.history.stop_reason}")
    words = f"DR-GST (dropedge) on {run.graph.name}, {run.split.train.size} training labels"
    pool, test = (sample(part, request.seed) for part in (run.split.pool, run.split.test))
    return Data(
        snapshots(run, pool, test, request.seed),
        run.graph.labels[test],
        run.graph.class_names,
        words,
    )


def snapshots(run: Result, pool: np.ndarray, test: np.ndarray, seed: int) -> list[Snapshot]:
    """One map of both parts a stage, each started from the one before."""
    stages = run.history.stages[1 : STAGES + 1]
    places = chained_maps([s.logits[np.concatenate([pool, test])] for s in stages], seed)
    return [
        Snapshot(
            stage.number,
            at[: pool.size],
            at[pool.size :],
            spread(stage.pseudo.nodes, stage.weights, run.graph.num_nodes)[pool],
            accuracy(stage.predictions[test], run.graph.labels[test]),
        )
        for stage, at in zip(stages, places, strict=True)
    ]


def spread(nodes: np.ndarray, weights: np.ndarray, total: int) -> np.ndarray:
    """(N,): the weight of each chosen node, NaN for all others."""
    all_of = np.full(total, np.nan)
    all_of[nodes] = weights
    return all_of


def draw(data: Data) -> Figure:
    """Pool above, test below, a column a stage."""
    figure, axes = new_figure(2.6, 2, len(data.snapshots), sharex=True, sharey=True)
    known = np.concatenate([s.weights for s in data.snapshots])
    known = known[~np.isnan(known)]
    top = float(np.quantile(known, 0.95)) if known.size else 1.0
    for column, shown in zip(axes.T, data.snapshots, strict=True):
        dots = _pool(column[0], shown, top)
        _test(column[1], shown, data)
        column[0].set_title(f"stage {shown.number}")
        column[1].set_xlabel(f"accuracy {100 * shown.accuracy:.1f} %")
    axes[0, 0].set_ylabel("pool, by weight")
    axes[1, 0].set_ylabel("test, by class")
    bar = figure.colorbar(dots, ax=axes[0, :], shrink=0.9, pad=0.01, extend="max")
    bar.set_label("weight")
    bar.outline.set_visible(False)
    note(figure, f"{data.words}; grey: not trusted")
    return figure


def _pool(panel: Any, shown: Snapshot, top: float) -> Any:
    out, order = np.isnan(shown.weights), np.argsort(shown.weights, kind="stable")
    panel.scatter(*shown.pool[out].T, s=1.2, c=GREY, alpha=0.5, linewidths=0, rasterized=True)
    trusted = order[~out[order]]
    dots = panel.scatter(
        *shown.pool[trusted].T,
        c=shown.weights[trusted],
        cmap=SHADES,
        vmin=0,
        vmax=top,
        s=2.2,
        linewidths=0,
        rasterized=True,
    )
    bare(panel)
    return dots


def _test(panel: Any, shown: Snapshot, data: Data) -> None:
    colours = np.array(CLASSES)[data.classes % len(CLASSES)]
    panel.scatter(*shown.test.T, c=colours, s=2.2, linewidths=0, rasterized=True)
    bare(panel)
