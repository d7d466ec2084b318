"""Embeddings coloured by information gain (the paper's Figure 1b)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from drgst.lab.figures.confidence_gain import PER_CLASS, sampled_gain
from drgst.lab.figures.registry import Request
from drgst.lab.paper import dataset_label
from drgst.report import style
from drgst.report.tsne import chained_maps, sample

KIND = "dropout"


@dataclass(frozen=True, eq=False)
class Data:
    """Positions (M, 2), gain (M,) and the caption."""

    places: np.ndarray
    gain: np.ndarray
    caption: str


def prepare(request: Request) -> Data:
    """Train a GCN and map its logits, the last layer before softmax."""
    run = request.run("gcn", PER_CLASS)
    teacher, nodes = run.history[0], sample(np.arange(run.graph.num_nodes), request.seed)
    (places,) = chained_maps([teacher.logits[nodes]], request.seed)
    where = f"{dataset_label(run.graph.name)}, {run.split.train.size} training labels"
    text = f"t-SNE of the logits of a GCN on {where}; gain by {KIND}"
    return Data(places, sampled_gain(run, teacher, KIND)[nodes], text)


def shade(values: np.ndarray) -> np.ndarray:
    """Rank / M in [0, 1]: gain is so skewed that all but a few nodes would have one colour."""
    return (rankdata(values, method="ordinal") - 1) / max(values.size - 1, 1)


def draw(data: Data) -> style.Figure:
    """One map; nodes of high gain are drawn last."""
    figure, axes = style.new_figure(2.9)
    panel, order = axes[0, 0], np.argsort(data.gain, kind="stable")
    dots = panel.scatter(
        *data.places[order].T, c=shade(data.gain)[order], cmap=style.SHADES, s=5, linewidths=0, rasterized=True
    )
    style.frame_map(panel)
    bar = figure.colorbar(dots, ax=panel, shrink=0.8, pad=0.02)
    ticks = (0.0, 0.25, 0.5, 0.75, 1.0)
    bar.set_ticks(ticks, labels=[f"{v:.3f}" for v in np.quantile(data.gain, ticks)])
    bar.set_label("information gain (colours by rank)")
    bar.outline.set_visible(False)
    style.caption(figure, data.caption)
    return figure
