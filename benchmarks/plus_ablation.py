"""Ablation of drgst-plus, paired on the same draws, from 3 or more labels per class alone.

DRGST_DATA=/path/to/data python benchmarks/plus_ablation.py cora citeseer --labels 3 10
DRGST_DATA=/path/to/data python benchmarks/plus_ablation.py flickr --labels 3 --only topology knn

Prints the test accuracy of the full recipe, and the mean difference of each variant to it with its standard error. The
draws (10 to 19) are not those of the results. No choice is made by these figures.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Iterator

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch

import drgst
from drgst import Recipe, SelfTraining
from drgst.graph.core import Graph
from drgst.recipes import find_recipe
from drgst.runs.config import RunConfig
from drgst.selftrain.parts import MaxStages, NoNewLabels
from drgst.selftrain.slots.select import TopShare
from drgst.selftrain.slots.weigh import Anchored, Uniform
from drgst.selftrain.views.ensemble import MultiViewEnsemble

DRAWS = range(10, 20)


def variants() -> dict[str, Recipe]:
    """The full recipe first, then variants with one part changed."""
    spec = find_recipe("drgst-plus")
    whole = spec.make(spec.settings())
    return {
        "complete": whole,
        "no self-training": whole.with_parts(stop=(NoNewLabels(), MaxStages(0))),
        "three stages": whole.with_parts(stop=(NoNewLabels(), MaxStages(3))),
        "fold runs not averaged": whole.with_parts(postprocess=()),
        "selection by unsmoothed probabilities": whole.with_parts(learner=MultiViewEnsemble(smoothed=False)),
        "free class prior": whole.with_parts(learner=MultiViewEnsemble(align_prior=False)),
        "1,000 pseudo-labels": whole.with_parts(learner=MultiViewEnsemble(max_pseudo_labels=1_000)),
        "no minimum per class": whole.with_parts(select=TopShare(floor=0)),
        "the same share of each class": whole.with_parts(select=TopShare(floor=1)),
        "equal weights": whole.with_parts(weigh=Uniform()),
        "with information gain": whole.with_parts(weigh=Anchored()),
        "topology alone": whole.with_parts(learner=MultiViewEnsemble("topology")),
        "knn alone": whole.with_parts(learner=MultiViewEnsemble("knn")),
    }


def accuracies(graph: Graph, per_class: int, recipe: Recipe) -> Iterator[float]:
    """Test accuracy of each draw in percent."""
    for number in DRAWS:
        drawn = RunConfig(per_class=per_class, seed=number, pool="all-but-validation", validation="none")
        split = drawn.make_split(graph)
        model = SelfTraining(recipe, seed=number).fit(graph, split)
        yield 100 * model.score(graph, split.test)


def main() -> None:
    """Print the table of variants by data set and labels per class."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--labels", nargs="+", type=int, default=[3, 10])
    parser.add_argument("--only", nargs="+", default=[""], help="beginnings of the variants' names")
    asked = parser.parse_args()
    recipes = {n: r for n, r in variants().items() if n == "complete" or n.startswith(tuple(asked.only))}
    graphs = [drgst.load(name) for name in asked.datasets]
    found: dict[tuple[str, str, int], np.ndarray] = {}
    places = [(graph, k) for graph in graphs for k in asked.labels]
    for graph, k in places:
        for name, recipe in recipes.items():
            found[name, graph.name, k] = np.array(list(accuracies(graph, k, recipe)))
    print("| | " + " | ".join(f"{g.name.capitalize()}, {k}" for g, k in places) + " |\n|:--|" + "--:|" * len(places))
    for name in recipes:
        cells = []
        for g, k in places:
            ours, whole = found[name, g.name, k], found["complete", g.name, k]
            gap = ours - whole
            error = gap.std(ddof=1) / np.sqrt(gap.size)
            cells.append(f"{whole.mean():.1f}" if name == "complete" else f"{gap.mean():+.1f} ± {error:.1f}")
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
