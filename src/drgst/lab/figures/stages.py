"""Embeddings at stages 1 to 3: pool nodes by weight, test nodes by class (the paper's Figure 9)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from drgst.errors import RunError
from drgst.lab.figures.registry import Request
from drgst.lab.paper import dataset_label
from drgst.report import style
from drgst.report.tsne import chained_maps, sample
from drgst.runs.metrics import accuracy
from drgst.runs.result import Result

STAGES, PER_CLASS, RECIPE = 3, 20, "drgst-de"
DOTS: dict[str, Any] = {"s": 2.2, "linewidths": 0, "rasterized": True}


@dataclass(frozen=True, eq=False)
class Snapshot:
    """One stage: positions of pool and test nodes, weights of pool nodes (NaN: no pseudo-label), test accuracy."""

    number: int
    pool: np.ndarray  # (P, 2)
    test: np.ndarray  # (Q, 2)
    weights: np.ndarray  # (P,)
    accuracy: float


@dataclass(frozen=True, eq=False)
class Data:
    """The stages in order, the classes of the test nodes, and the caption."""

    snapshots: list[Snapshot]
    classes: np.ndarray  # (Q,)
    class_names: tuple[str, ...]
    caption: str


def prepare(request: Request) -> Data:
    """Run DR-GST for three stages (fewer where it converges earlier) and map the logits of each student."""
    run = request.run(RECIPE, PER_CLASS, stages=STAGES)
    if len(run.history) < 2:
        raise RunError(f"the run has no stage to show: {run.history.stop_reason}")
    text = f"DR-GST (dropedge) on {dataset_label(run.graph.name)}, {run.split.train.size} training labels"
    pool, test = (sample(part, request.seed) for part in (run.split.pool, run.split.test))
    return Data(snapshots(run, pool, test, request.seed), run.graph.labels[test], run.graph.class_names, text)


def snapshots(run: Result, pool: np.ndarray, test: np.ndarray, seed: int) -> list[Snapshot]:
    """One map of pool and test nodes per stage, each started from the one before."""
    stages = run.history.stages[1 : STAGES + 1]
    places = chained_maps([s.logits[np.concatenate([pool, test])] for s in stages], seed)
    return [
        Snapshot(
            stage.number,
            at[: pool.size],
            at[pool.size :],
            spread(stage.pseudo_labels.nodes, stage.weights, run.graph.num_nodes)[pool],
            accuracy(stage.predictions[test], run.graph.labels[test]),
        )
        for stage, at in zip(stages, places, strict=True)
    ]


def spread(nodes: np.ndarray, weights: np.ndarray, total: int) -> np.ndarray:
    """(N,): the weight of each of ``nodes``, NaN for all others."""
    found = np.full(total, np.nan)
    found[nodes] = weights
    return found


def draw(data: Data) -> style.Figure:
    """Pool nodes above, test nodes below, one column per stage."""
    figure, axes = style.new_figure(3.0, 2, len(data.snapshots), sharex=True, sharey=True)
    weights = np.concatenate([s.weights for s in data.snapshots])
    top = float(np.nanquantile(weights, 0.95)) if not np.isnan(weights).all() else 1.0
    for column, shown in zip(axes.T, data.snapshots, strict=True):
        dots = _pool(column[0], shown, top)
        column[1].scatter(*shown.test.T, c=np.array(style.CLASSES)[data.classes % len(style.CLASSES)], **DOTS)
        style.frame_map(column[1])
        column[0].set_title(f"stage {shown.number}")
        column[1].set_xlabel(f"accuracy {100 * shown.accuracy:.1f} %")
    axes[0, 0].set_ylabel("pool, by weight")
    axes[1, 0].set_ylabel("test, by class")
    bar = figure.colorbar(dots, ax=axes[0, :], shrink=0.9, pad=0.01, extend="max")
    bar.set_label("weight")
    bar.outline.set_visible(False)
    _class_legend(figure, axes[1, 0], data.class_names)
    style.caption(figure, f"{data.caption}; grey: no pseudo-label")
    return figure


def _pool(panel: Any, shown: Snapshot, top: float) -> Any:
    """The pool nodes by weight, the heaviest drawn last."""
    without, order = np.isnan(shown.weights), np.argsort(shown.weights, kind="stable")
    panel.scatter(*shown.pool[without].T, c=style.GREY, alpha=0.5, **{**DOTS, "s": 1.2})
    nodes = order[~without[order]]
    dots = panel.scatter(*shown.pool[nodes].T, c=shown.weights[nodes], cmap=style.SHADES, vmin=0, vmax=top, **DOTS)
    style.frame_map(panel)
    return dots


def _class_legend(figure: style.Figure, panel: Any, names: tuple[str, ...]) -> None:
    """The colours of the classes; colours repeat after the eighth class."""
    handles = []
    for place, colour in enumerate(style.CLASSES[: len(names)]):
        label = ", ".join(names[place :: len(style.CLASSES)]).replace("_", " ")
        handles.append(panel.scatter([], [], c=colour, s=8, linewidths=0, label=label))
    figure.legend(handles=handles, loc="outside upper center", ncols=3, fontsize=5.5, handletextpad=0.1)
