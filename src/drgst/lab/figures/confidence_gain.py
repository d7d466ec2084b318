"""Confidence against information gain for correct and incorrect predictions (the paper's Figure 1a)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from drgst.lab.figures.registry import Request
from drgst.lab.paper import dataset_label
from drgst.lab.statistics import Correlation, rank_correlation
from drgst.nn.random import generator
from drgst.recipes.registry import resolve
from drgst.report import style
from drgst.runs.result import Result
from drgst.selftrain.history import Stage
from drgst.selftrain.learners.network import Network
from drgst.selftrain.problem import Problem
from drgst.uncertainty.gain import GainSettings, estimate_gain

PER_CLASS = 20
BINS = 12  # of equally many nodes, for the line of medians
KINDS = {"dropout": "drgst-do", "dropedge": "drgst-de"}  # kind of gain -> the recipe whose drop rate it takes
GAIN = 7  # a generator of its own for the gain


@dataclass(frozen=True, eq=False)
class Points:
    """One point per node: confidence, information gain and whether the prediction is correct, each (M,)."""

    kind: str
    confidence: np.ndarray
    gain: np.ndarray
    correct: np.ndarray
    correlation: Correlation | None

    def medians(self, bins: int = BINS) -> tuple[np.ndarray, np.ndarray]:
        """Median confidence and median gain in ``bins`` bins of equally many nodes, by confidence."""
        parts = np.array_split(np.argsort(self.confidence, kind="stable"), min(bins, self.confidence.size))
        x, y = (np.array([np.median(v[part]) for part in parts]) for v in (self.confidence, self.gain))
        return x, y


@dataclass(frozen=True, eq=False)
class Data:
    """The points by dropout and by dropedge, and the caption."""

    panels: list[Points]
    caption: str


def points(kind: str, p: np.ndarray, gain: np.ndarray, labels: np.ndarray, seed: int = 0) -> Points:
    """From probabilities (M, C), gain (M,) and true labels (M,)."""
    confidence = p.max(axis=1)
    rho = rank_correlation(confidence, gain, np.random.default_rng(seed))
    return Points(kind, confidence, gain, p.argmax(axis=1) == labels, rho)


def panels(run: Result) -> list[Points]:
    """Both kinds of gain of the first network of a run, on the nodes outside its training set."""
    teacher, nodes = run.history[0], labelled_others(run)
    p, labels, seed = teacher.probabilities[nodes], run.graph.labels[nodes], run.model.seed
    return [points(kind, p, sampled_gain(run, teacher, kind)[nodes], labels, seed) for kind in KINDS]


def prepare(request: Request) -> Data:
    """Train a GCN."""
    run = request.run("gcn", PER_CLASS)
    labels, nodes = run.split.train.size, labelled_others(run).size
    text = f"GCN on {dataset_label(run.graph.name)}, {labels} training labels; {nodes:,} other nodes; ρ: Spearman's"
    return Data(panels(run), text)


def draw(data: Data) -> style.Figure:
    """One panel per kind of gain."""
    figure, axes = style.new_figure(2.0, 1, len(data.panels), sharex=True)
    for panel, shown in zip(axes[0], data.panels, strict=True):
        _scatter(panel, shown)
        rho = "" if shown.correlation is None else f": ρ = {shown.correlation.rho:.2f}"
        panel.set(xlabel="confidence", title=f"by {shown.kind}{rho}")
    axes[0, 0].set_ylabel("information gain")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, markerscale=1.8)
    style.caption(figure, data.caption)
    return figure


def _scatter(panel: Any, shown: Points) -> None:
    for label, of, dots in (
        ("correct", shown.correct, {"s": 3, "c": style.BLUE, "alpha": 0.4}),
        ("incorrect", ~shown.correct, {"s": 6, "c": style.VERMILLION, "alpha": 0.7, "marker": "^"}),
    ):
        panel.scatter(shown.confidence[of], shown.gain[of], label=label, linewidths=0, rasterized=True, **dots)
    panel.plot(*shown.medians(), color=style.BLACK, linewidth=1, label="median")
    panel.set_ylim(0, float(np.quantile(shown.gain, 0.998)) * 1.05 or 1)


def sampled_gain(result: Result, stage: Stage, kind: str) -> np.ndarray:
    """B of every node by sampling, (N,), at the drop rate that is published for the data set and label count."""
    samples = {"samples": result.model.settings.samples}
    settings, _ = resolve(KINDS[kind], result.graph, result.split, samples)
    return network_gain(result.run.problem, stage, settings.gain_settings())


def network_gain(problem: Problem, stage: Stage, settings: GainSettings) -> np.ndarray:
    """B of the network of ``stage``, (N,)."""
    columns, classes = problem.inputs.x.shape[1], problem.graph.num_classes
    network = Network().restored(stage.state, columns, classes, problem.settings)
    network.eval()
    return estimate_gain(network.to(problem.inputs.device), problem.inputs, settings, generator(problem.seed, GAIN))


def labelled_others(result: Result) -> np.ndarray:
    """Nodes of known label that are not training nodes."""
    return np.setdiff1d(np.flatnonzero(result.graph.labels >= 0), result.split.train)
