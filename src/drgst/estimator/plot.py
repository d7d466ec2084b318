"""Figures of a fitted estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from drgst.errors import RunError
from drgst.report import style
from drgst.report.style import BLUE, CLASSES, GREY, ORANGE, VERMILLION, new_figure, styled
from drgst.report.tsne import positions, sample
from drgst.runs.metrics import ClassScores, evaluation_nodes, reliability
from drgst.runs.result import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARKERS = "o^sDvP*X"  # the first 8 classes have the first shape, the next 8 the second, and so on
NAMED = 40  # classes in a legend


class Plot:
    """Figures of one finished run; each method returns a matplotlib ``Figure``, which a notebook shows."""

    def __init__(self, result: Result) -> None:
        style.check_matplotlib()
        self.result = result

    def __repr__(self) -> str:
        return "Plot: stages(), calibration(), map()"

    def stages(self) -> Figure:
        """Accuracy of each stage on known test and validation nodes, precision and number of the pseudo-labels."""
        rows = self.result.rows()
        keys = {"test_accuracy": ("test", BLUE), "val_accuracy": ("validation", ORANGE)}
        keys |= {"precision": ("pseudo-labels (precision)", VERMILLION)}
        curves = {key: [(row["stage"], 100 * row[key]) for row in rows if row[key] is not None] for key in keys}
        heights = [2, 1] if any(curves.values()) else [1]
        with styled():
            figure, panels = new_figure(3.4, len(heights), 1, sharex=True, height_ratios=heights)
            top, bottom = panels[0, 0], panels[-1, 0]
            for key, points in curves.items():
                if points:
                    label, colour = keys[key]
                    top.plot(*zip(*points, strict=True), marker="o", ms=3, color=colour, label=label)
            if top is not bottom:
                top.set_ylabel("accuracy (%)")
                top.legend()
                top.axvline(self.result.stage.number, color=GREY, lw=0.6, ls=":")
            bottom.bar([row["stage"] for row in rows], [row["pseudo_labelled"] for row in rows], color=GREY, width=0.6)
            bottom.set(ylabel="pseudo-labels", xlabel="stage (0: teacher)", xticks=[row["stage"] for row in rows])
        return figure

    def calibration(self) -> Figure:
        """Accuracy against confidence in 20 bins: of labelled test nodes, else validation nodes, else out-of-fold.

        Out-of-fold probabilities are those of training labels by models that were not trained on them.
        """
        graph, held_out = self.result.graph, self.result.measured
        part, nodes = evaluation_nodes(graph, self.result.split)
        p, truth, name = self.result.probabilities[nodes], graph.labels[nodes], f"{part} nodes"
        if not nodes.size and self.result.out_of_fold is not None:
            p, truth, name = self.result.out_of_fold[held_out], self.result.train_labels[held_out], "out-of-fold labels"
        if not truth.size:
            raise RunError("there are no test, validation or out-of-fold labels, so there is no calibration to plot")
        count, confidence, accuracy = reliability(p.max(axis=1), p.argmax(axis=1) == truth)
        some, ece = count > 0, ClassScores(p, truth).ece()
        with styled():
            figure, panels = new_figure(2.8)
            panel = panels[0, 0]
            panel.plot([0, 1], [0, 1], color=GREY, lw=0.6, ls="--")
            panel.scatter(confidence[some], accuracy[some], s=4 + 60 * count[some] / count.max(), color=BLUE)
            panel.set(xlabel="confidence", ylabel="accuracy", xlim=(0, 1.02), ylim=(-0.02, 1.02))
            panel.set_title(f"{truth.size:,} {name}, ECE {100 * ece:.1f} points", fontsize=7)
        return figure

    def map(self) -> Figure:
        """t-SNE of the last hidden layer, at most 4,000 nodes, coloured by predicted class; training nodes ringed.

        Above 8 classes the shape of a point counts, too.
        """
        stage, names = self.result.stage, self.result.model.class_names
        nodes = sample(np.arange(stage.embedding.shape[0]), self.result.model.seed)
        place = positions(stage.embedding[nodes], self.result.model.seed)
        predicted = self.result.probabilities[nodes].argmax(axis=1)
        train = np.isin(nodes, self.result.split.train)
        with styled():
            figure, panels = new_figure(3.4)
            panel = panels[0, 0]
            for k, name in enumerate(names):
                rows = predicted == k
                colour: Any = CLASSES[k % len(CLASSES)]
                shape = MARKERS[k // len(CLASSES) % len(MARKERS)]
                label = name if k < NAMED else f"{len(names) - NAMED} other classes" if k == NAMED else None
                panel.scatter(*place[rows].T, s=3 if shape == "o" else 7, lw=0, marker=shape, color=colour, label=label)
            panel.scatter(*place[train].T, s=14, facecolors="none", edgecolors="black", lw=0.7, label="training node")
            style.frame_map(panel)
            figure.legend(loc="outside lower center", ncols=3, fontsize=6, markerscale=1.5, handletextpad=0.2)
        return figure
