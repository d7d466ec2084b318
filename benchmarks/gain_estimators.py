"""Estimators of information gain by dropedge against many samples: agreement, error and CPU time.

python benchmarks/gain_estimators.py [--datasets cora,citeseer,pubmed,flickr] [--samples 20000] [--cache FOLDER]

A GCN is trained on draw 0 with 3 and with 20 labels per class; its gain at the published drop rate is estimated by many
samples (the reference), by 10 to 1,000 samples and by the closed form. ``results/gain_estimators.csv`` has Pearson's r,
the ratio of the means and the relative error (root mean square over nodes, divided by that of the reference) of each,
``results/figures/estimators.png`` shows them. ``--cache`` keeps networks and references between calls.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

import drgst
from drgst.lab.paper import dataset_order
from drgst.nn.losses import cross_entropy
from drgst.nn.random import generator
from drgst.recipes.registry import resolve
from drgst.report.style import new_figure, save, styled
from drgst.selftrain.learners.network import Network
from drgst.selftrain.problem import Problem, Targets
from drgst.uncertainty.gain import GainSettings, estimate_gain

RESULTS = Path(__file__).parents[1] / "results"
SAMPLES = (10, 30, 100, 300, 1000)
COLOURS = ("#0072b2", "#d55e00")
FIELDS = ("dataset", "per_class", "rate", "estimator", "reference", "r", "ratio", "error", "cpu_seconds")


@dataclass(frozen=True)
class Trained:
    """A trained GCN with the problem that it was trained on."""

    problem: Problem
    network: Any

    @classmethod
    def of(cls, dataset: str, per_class: int) -> Trained:
        """On draw 0, or on the public split at 20 labels per class."""
        graph = drgst.load(dataset)
        split = drgst.per_class_split(graph, per_class, 0) if per_class < 20 else drgst.public_split(graph)
        settings, _ = resolve("drgst-de", graph, split, {})
        problem, learner, nodes = Problem.of(graph, split, settings, 0), Network(), split.train
        targets = Targets(nodes, graph.labels[nodes], np.ones(nodes.size), nodes.size)
        state = learner.train(problem, targets, cross_entropy, (0, 0, 0, 0), None).state
        network = learner.network(graph.num_features, graph.num_classes, settings)
        network.load_state_dict(dict(state))
        return cls(problem, network.eval())

    def gain(self, estimator: str, samples: int, seed: int) -> tuple[np.ndarray, float]:
        """B of every node, and the CPU seconds it took."""
        settings = GainSettings("dropedge", self.problem.settings.drop_rate, samples, estimator)
        began = time.process_time()
        with torch.no_grad():
            gain = estimate_gain(self.network, self.problem.inputs, settings, generator(seed))
        return gain, time.process_time() - began


def cached(path: Path | None, make: Callable[[], np.ndarray]) -> np.ndarray:
    """What ``make`` gives, read from ``path`` where it is there."""
    if path is None:
        return make()
    if not path.exists():
        np.save(path, make())
    return np.load(path)


def rows(dataset: str, per_class: int, samples: int, cache: Path | None) -> list[dict[str, Any]]:
    """One row for each estimator."""
    trained = Trained.of(dataset, per_class)
    place = None if cache is None else cache / f"gain_{dataset}_{per_class}_{samples}.npy"
    reference = cached(place, lambda: trained.gain("sampled", samples, 7)[0])
    trained.gain("closed", 1, 0)  # the first call imports
    made = [(f"{count} samples", *trained.gain("sampled", count, 8)) for count in SAMPLES]
    made.append(("closed form", *trained.gain("closed", 1, 0)))
    size = float(np.sqrt((reference**2).mean()))
    return [
        {
            "dataset": dataset,
            "per_class": per_class,
            "rate": trained.problem.settings.drop_rate,
            "estimator": name,
            "reference": samples,
            "r": round(float(np.corrcoef(gain, reference)[0, 1]), 4),
            "ratio": round(float(gain.mean() / reference.mean()), 4),
            "error": round(float(np.sqrt(((gain - reference) ** 2).mean()) / size), 4),
            "cpu_seconds": round(seconds, 4),
        }
        for name, gain, seconds in made
    ]


def figure(found: list[dict[str, Any]], path: Path) -> None:
    """Relative error against CPU time, one panel for each data set."""
    names = list(dict.fromkeys(row["dataset"] for row in found))
    with styled():
        made, axes = new_figure(3.6, -(-len(names) // 2), 2, sharey=True)
        for axis in axes.ravel()[len(names) :]:
            axis.set_axis_off()
        for axis, name in zip(axes.ravel(), names, strict=False):
            for per_class, colour in ((3, COLOURS[0]), (20, COLOURS[1])):
                mine = [row for row in found if row["dataset"] == name and int(row["per_class"]) == per_class]
                sampled = [row for row in mine if row["estimator"] != "closed form"]
                closed = [row for row in mine if row["estimator"] == "closed form"]
                axis.plot(*_points(sampled), "o-", color=colour, ms=3, label=f"10 to 1,000 samples, {per_class} labels")
                axis.plot(*_points(closed), "*", color=colour, ms=9, label=f"closed form, {per_class} labels")
            axis.set(xscale="log", yscale="log", ylim=(0.02, 0.8), title=name.capitalize())
            axis.set_yticks([0.02, 0.05, 0.1, 0.2, 0.5], ["0.02", "0.05", "0.1", "0.2", "0.5"])
            axis.minorticks_off()
        made.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
        made.supxlabel("CPU seconds")
        made.supylabel("relative error of the gain")
        save(made, path)


def _points(found: list[dict[str, Any]]) -> tuple[list[float], list[float]]:
    return [float(row["cpu_seconds"]) for row in found], [float(row["error"]) for row in found]


def main() -> None:
    """Write the rows and the figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", default="cora,citeseer,pubmed,flickr")
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument("--cache", type=Path)
    options = parser.parse_args()
    path, found = RESULTS / "gain_estimators.csv", []
    if path.exists():  # other data sets stay
        with path.open(encoding="utf-8", newline="") as handle:
            found = [row for row in csv.DictReader(handle) if row["dataset"] not in options.datasets.split(",")]
    for dataset in options.datasets.split(","):
        for per_class in (3, 20):
            found += rows(dataset, per_class, options.samples, options.cache)
        found.sort(key=lambda row: dataset_order(row["dataset"]))
        with path.open("w", encoding="utf-8", newline="") as handle:
            writer = csv.DictWriter(handle, FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(found)
    figure(found, RESULTS / "figures" / "estimators.png")


if __name__ == "__main__":
    main()
