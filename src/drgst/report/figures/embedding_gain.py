"""Embeddings coloured by information gain (the paper's Figure 1b)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from drgst.report.figures.confidence_gain import PER_CLASS
from drgst.report.figures.gain import sampled_gain
from drgst.report.figures.maps import chained_maps, sample
from drgst.report.figures.request import Request
from drgst.report.figures.style import SHADES, bare, new_figure, note

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KIND = "dropout"


@dataclass(frozen=True, eq=False)
class Data:
    """Places (M, 2) and gain (M,)."""

    places: np.ndarray
    gain: np.ndarray
    words: str


def prepare(request: Request) -> Data:
    """Train a GCN and place its logits, the last layer before softmax."""
    run = request.run("gcn", PER_CLASS)
    teacher, nodes = run.history[0], sample(np.arange(run.graph.num_nodes), request.seed)
    (places,) = chained_maps([teacher.logits[nodes]], request.seed)
    words = f"t-SNE of a GCN's logits on {run.graph.name}, {run.split.train.size} training labels"
    return Data(places, sampled_gain(run, teacher, KIND)[nodes], words)


def shade(values: np.ndarray) -> np.ndarray:
    """Rank / M in [0, 1]: gain is so skewed that all but a few nodes would have one colour."""
    order = np.argsort(np.argsort(values, kind="stable"), kind="stable")
    return order / max(values.size - 1, 1)


def draw(data: Data) -> Figure:
    """One map; light nodes are drawn last."""
    figure, axes = new_figure(2.9)
    panel, order = axes[0, 0], np.argsort(data.gain, kind="stable")
    dots = panel.scatter(
        *data.places[order].T, c=shade(data.gain)[order], cmap=SHADES, s=5, linewidths=0, rasterized=True
    )
    bare(panel)
    bar = figure.colorbar(dots, ax=panel, shrink=0.8, pad=0.02)
    ticks = (0.0, 0.25, 0.5, 0.75, 1.0)
    bar.set_ticks(ticks, labels=[f"{v:.3f}" for v in np.quantile(data.gain, ticks)])
    bar.set_label("information gain (by rank)")
    bar.outline.set_visible(False)
    note(figure, data.words)
    return figure
