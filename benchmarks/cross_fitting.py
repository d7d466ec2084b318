"""What calibration costs: drgst-plus without validation labels, with and without cross-fitting, in one process.

DRGST_DATA=/path/to/data python benchmarks/cross_fitting.py cora citeseer pubmed flickr
"""

from __future__ import annotations

import os
import sys
import time
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch

import drgst
from drgst import Recipe, SelfTraining
from drgst.graph.core import Graph
from drgst.graph.split import Split
from drgst.recipes import find_recipe
from drgst.runs.config import RunConfig


def seconds(recipe: Recipe, graph: Graph, split: Split) -> float:
    """The time of one fit."""
    began = time.perf_counter()
    SelfTraining(recipe).fit(graph, split)
    return time.perf_counter() - began


def main() -> None:
    """One row per data set at 10 labels per class; after a warm-up the two variants are run alternately, twice."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    spec = find_recipe("drgst-plus")
    whole = spec.make(spec.settings())
    bare = whole.with_parts(postprocess=())
    print("| | without, s | with, s | ratio |\n|:--|--:|--:|--:|", flush=True)
    for name in sys.argv[1:] or ["cora"]:
        graph = drgst.load(name)
        drawn = RunConfig(per_class=10, seed=100, pool="all-but-validation", validation="none")
        split = drawn.make_split(graph)
        seconds(bare, graph, split)
        short, long = zip(*((seconds(bare, graph, split), seconds(whole, graph, split)) for _ in range(2)), strict=True)
        print(f"| {name} | {min(short):.1f} | {min(long):.1f} | {min(long) / min(short):.1f} |", flush=True)


if __name__ == "__main__":
    main()
