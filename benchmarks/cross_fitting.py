"""What calibration costs: drgst-plus without validation labels, with and without cross-fitting, in one process.

DRGST_DATA=/path/to/data python benchmarks/cross_fitting.py cora citeseer pubmed flickr
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from dataclasses import replace

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch

import drgst
from drgst import Recipe
from drgst.recipes import find_recipe
from drgst.runs.config import RunConfig
from drgst.selftrain.engine import self_train
from drgst.selftrain.problem import Problem


def seconds(problem: Problem, recipe: Recipe) -> float:
    """The time of one run; the views are those of ``problem.graph_cache``."""
    fresh = replace(problem)
    began = time.perf_counter()
    self_train(fresh, recipe)
    return time.perf_counter() - began


def main() -> None:
    """One row per data set at 10 labels per class; after a warm-up the two variants are run alternately, twice."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    spec = find_recipe("drgst-plus")
    settings = spec.settings()
    whole = spec.make(settings)
    bare = whole.with_parts(postprocess=())
    print("| | without, s | with, s | ratio |\n|:--|--:|--:|--:|", flush=True)
    for name in sys.argv[1:] or ["cora"]:
        graph = drgst.load(name)
        drawn = RunConfig(per_class=10, seed=100, pool="all-but-validation", validation="none")
        problem = Problem.of(graph, drawn.make_split(graph), settings)
        seconds(problem, bare)
        short, long = zip(*((seconds(problem, bare), seconds(problem, whole)) for _ in range(2)), strict=True)
        print(f"| {name} | {min(short):.1f} | {min(long):.1f} | {min(long) / min(short):.1f} |", flush=True)


if __name__ == "__main__":
    main()
