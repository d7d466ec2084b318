"""Confidence against information gain, with right and wrong predictions (the paper's Figure 1a)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from drgst.bench.correlation import Correlation, rank_correlation
from drgst.report.figures.gain import KINDS, labelled_others, sampled_gain
from drgst.report.figures.request import Request
from drgst.report.figures.style import BLACK, BLUE, VERMILLION, new_figure, note
from drgst.runs.result import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PER_CLASS = 20
BINS = 12  # of equally many nodes, for the line of medians


@dataclass(frozen=True, eq=False)
class Points:
    """One point a node: r_u, B_u and whether the prediction is right, each (M,)."""

    kind: str
    confidence: np.ndarray
    gain: np.ndarray
    right: np.ndarray
    correlation: Correlation | None

    def medians(self, bins: int = BINS) -> tuple[np.ndarray, np.ndarray]:
        """Median confidence and median gain in ``bins`` bins of equally many nodes, by confidence."""
        parts = np.array_split(np.argsort(self.confidence, kind="stable"), min(bins, self.confidence.size))
        return tuple(np.array([np.median(v[part]) for part in parts]) for v in (self.confidence, self.gain))  # type: ignore[return-value]


@dataclass(frozen=True, eq=False)
class Data:
    """The points by dropout and by dropedge, and what they are of."""

    panels: list[Points]
    words: str


def points(kind: str, p: np.ndarray, gain: np.ndarray, labels: np.ndarray, nodes: np.ndarray, seed: int = 0) -> Points:
    """Of ``nodes``, from probabilities (N, C), gain (N,) and true labels (N,)."""
    confidence, right = p[nodes].max(axis=1), p[nodes].argmax(axis=1) == labels[nodes]
    rho = rank_correlation(confidence, gain[nodes], np.random.default_rng(seed))
    return Points(kind, confidence, gain[nodes], right, rho)


def panels(run: Result) -> list[Points]:
    """Both kinds of gain of the first network of a run."""
    teacher, nodes = run.history[0], labelled_others(run)
    return [
        points(kind, teacher.probabilities, sampled_gain(run, teacher, kind), run.graph.labels, nodes, run.model.seed)
        for kind in KINDS
    ]


def prepare(request: Request) -> Data:
    """Train a GCN and compare its confidence with its gain."""
    run = request.run("gcn", PER_CLASS)
    size = run.split.train.size
    words = f"GCN on {run.graph.name}, {size} training labels; {labelled_others(run).size:,} other nodes; ρ: Spearman's"
    return Data(panels(run), words)


def draw(data: Data) -> Figure:
    """A panel a kind of gain."""
    figure, axes = new_figure(2.0, 1, len(data.panels), sharex=True)
    for place, (panel, shown) in enumerate(zip(axes[0], data.panels, strict=True)):
        _scatter(panel, shown)
        panel.set(xlabel="confidence", title=_title(shown))
        if place == 0:
            panel.set_ylabel("information gain")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, markerscale=1.8)
    note(figure, data.words)
    return figure


def _scatter(panel: Any, shown: Points) -> None:
    wrong = ~shown.right
    common = {"linewidths": 0, "rasterized": True}
    panel.scatter(shown.confidence[~wrong], shown.gain[~wrong], s=3, c=BLUE, alpha=0.4, label="right", **common)
    panel.scatter(
        shown.confidence[wrong], shown.gain[wrong], s=6, marker="^", c=VERMILLION, alpha=0.7, label="wrong", **common
    )
    panel.plot(*shown.medians(), color=BLACK, linewidth=1, label="median")
    panel.set_ylim(0, float(np.quantile(shown.gain, 0.998)) * 1.05 or 1)


def _title(shown: Points) -> str:
    rho = "" if shown.correlation is None else f": ρ = {shown.correlation.rho:.2f}"
    return f"by {shown.kind}{rho}"
