"""Ablation of drgst-plus, paired on the same draws, without validation labels or with 500 of them.

DRGST_DATA=/path/to/data python benchmarks/plus_ablation.py cora citeseer --labels 3 10
DRGST_DATA=/path/to/data python benchmarks/plus_ablation.py flickr --labels 3 --only topology knn
DRGST_DATA=/path/to/data python benchmarks/plus_ablation.py cora --validation public --only "no matrices"

Prints the test accuracy of the full recipe, and the mean difference of each variant to it with its standard error. The
draws (10 to 19) are not those of the results. No choice is made by these figures.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Iterator
from dataclasses import replace

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch

import drgst
from drgst import Recipe, SelfTraining
from drgst.graph.core import Graph
from drgst.recipes import find_recipe
from drgst.runs.config import RunConfig
from drgst.selftrain.learners.multiview.ensemble import MultiViewEnsemble
from drgst.selftrain.parts import MaxStages, NoNewLabels, Transition
from drgst.selftrain.select.top_share import TopShare
from drgst.selftrain.weigh.anchored import Anchored

DRAWS = range(10, 20)


def variants() -> dict[str, Recipe]:
    """The full recipe first, then variants with one part changed."""
    spec = find_recipe("drgst-plus")
    whole = replace(spec.make(spec.settings()), postprocess=())  # the temperature changes no class
    return {
        "whole": whole,
        "no self-training": replace(whole, stop=(NoNewLabels(), MaxStages(0))),
        "one stage": replace(whole, stop=(NoNewLabels(), MaxStages(1))),
        "TF-IDF lenses alone": replace(whole, learner=MultiViewEnsemble(lenses=(0, 2))),
        "raw lenses alone": replace(whole, learner=MultiViewEnsemble(lenses=(1, 3))),
        "far lenses alone": replace(whole, learner=MultiViewEnsemble(lenses=(0, 1))),
        "near lenses alone": replace(whole, learner=MultiViewEnsemble(lenses=(2, 3))),
        "chosen by unsmoothed beliefs": replace(whole, learner=MultiViewEnsemble(smoothed=False)),
        "class shares left free": replace(whole, learner=MultiViewEnsemble(align_prior=False)),
        "no floor a class": replace(whole, select=TopShare(floor=0)),
        "same share of each class": replace(whole, select=TopShare(floor=1)),
        "no information gain": replace(whole, weigh=Anchored(gain=0)),
        "information gain alone": replace(whole, weigh=Anchored(gain=1)),
        "with transition matrix": replace(whole, correct=Transition()),
        "topology alone": replace(whole, learner=MultiViewEnsemble("topology")),
        "knn alone": replace(whole, learner=MultiViewEnsemble("knn")),
        # these differ with validation labels only
        "no matrices": replace(whole, learner=MultiViewEnsemble(mixed=False)),
        "no scales, shift and matrices": replace(whole, learner=MultiViewEnsemble(calibrated=False)),
        "one l2": replace(whole, learner=MultiViewEnsemble(l2=(3e-4,))),
    }


def accuracies(graph: Graph, per_class: int, recipe: Recipe, validation: str) -> Iterator[float]:
    """Test accuracy of each draw in percent."""
    keep = "last" if validation == "none" else "best-student"
    for number in DRAWS:
        drawn = RunConfig(per_class=per_class, seed=number, pool="all-but-validation", validation=validation)
        split = drawn.make_split(graph)
        model = SelfTraining(recipe, {"keep": keep}, seed=number).fit(graph, split)
        yield 100 * model.score(graph, split.test)


def main() -> None:
    """Print the table of variants by data set and labels per class."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--labels", nargs="+", type=int, default=[3, 10])
    parser.add_argument("--validation", choices=["none", "public"], default="none")
    parser.add_argument("--only", nargs="+", default=[""], help="beginnings of the variants' names")
    asked = parser.parse_args()
    recipes = {n: r for n, r in variants().items() if n == "whole" or n.startswith(tuple(asked.only))}
    graphs = [drgst.load(name) for name in asked.datasets]
    found: dict[tuple[str, str, int], np.ndarray] = {}
    places = [(graph, k) for graph in graphs for k in asked.labels]
    for graph, k in places:
        for name, recipe in recipes.items():
            found[name, graph.name, k] = np.array(list(accuracies(graph, k, recipe, asked.validation)))
    print("| | " + " | ".join(f"{g.name.capitalize()}, {k}" for g, k in places) + " |\n|:--|" + "--:|" * len(places))
    for name in recipes:
        cells = []
        for g, k in places:
            ours, whole = found[name, g.name, k], found["whole", g.name, k]
            gap = ours - whole
            error = gap.std(ddof=1) / np.sqrt(gap.size)
            cells.append(f"{whole.mean():.1f}" if name == "whole" else f"{gap.mean():+.1f} ± {error:.1f}")
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
