"""Accuracy of a GCN by scaling of its features: ``python benchmarks/scaling.py GRAPH... --draws 100,101,102``.

A graph is the name of a data set or an .npz file. 5 random labels per class, no validation labels, accuracy on up to
1,000 other nodes, never on the test nodes of the paper.
"""

from __future__ import annotations

import argparse

import numpy as np

import drgst
from drgst.graph.core import Graph
from drgst.recipes.registry import resolve
from drgst.selftrain.engine import self_train
from drgst.selftrain.problem import Problem

KINDS = ("none", "l2", "l1", "auto")
LARGE_NODES, LARGE_EDGES, FEW_EPOCHS = 3_400, 20_000, 300


def open_graph(name: str) -> Graph:
    if name.endswith(".npz"):
        return drgst.load_graph(name)
    graph = drgst.load(name)
    labels = graph.labels.copy()
    labels[drgst.public_split(graph).test] = -1
    return graph.with_(labels=labels)


def accuracy(graph: Graph, normalise: str, draw: int) -> float:
    split = drgst.random_split(graph, per_class=5, val=0, seed=draw)
    large = graph.num_nodes > LARGE_NODES or graph.num_edges > LARGE_EDGES
    changes = {"normalise": normalise, **({"epochs": FEW_EPOCHS} if large else {})}
    settings, recipe = resolve("gcn", graph, split, changes)
    teacher = self_train(Problem.of(graph, split, settings, draw), recipe)[0]
    return float((teacher.predictions[split.test] == graph.labels[split.test]).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graphs", nargs="+")
    parser.add_argument("--draws", default="100,101,102")
    arguments = parser.parse_args()
    print(f"| graph | {' | '.join(KINDS)} |\n|:--|{'--:|' * len(KINDS)}")
    for name in arguments.graphs:
        graph = open_graph(name)
        means = [np.mean([accuracy(graph, kind, int(draw)) for draw in arguments.draws.split(",")]) for kind in KINDS]
        print(f"| {graph.name} | {' | '.join(f'{100 * mean:.1f}' for mean in means)} |", flush=True)


if __name__ == "__main__":
    main()
