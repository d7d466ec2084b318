"""Cost of parts of the baselines on real data: ``python benchmarks/recipes.py [ROOT]``.

Prints one JSON line per figure: ParWalks on Pubmed (seconds, memory), the clustering of M3S on the pool of Pubmed
(seconds per stage), the selection of ABN on Cora and Pubmed (share of an epoch).
"""

from __future__ import annotations

import json
import resource
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import drgst
from drgst.graph.core import Graph
from drgst.graph.split import Split
from drgst.nn.losses import cross_entropy
from drgst.nn.random import generator
from drgst.recipes import find_recipe
from drgst.recipes.registry import resolve
from drgst.selftrain.learners.network import Network
from drgst.selftrain.problem import Problem, Targets
from drgst.selftrain.slots.select import kmeans, unit
from drgst.selftrain.slots.walks import walk_scores


def timed(call: Callable[[], Any], repeats: int = 5) -> float:
    """Median seconds of a call."""
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def report(**figures: Any) -> None:
    sys.stdout.write(json.dumps(figures) + "\n")


def peak_mb() -> float:
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)


def walks(graph: Graph, split: Split) -> None:
    before = peak_mb()
    began = time.perf_counter()
    walk_scores(graph, split.train, graph.labels[split.train])
    first = time.perf_counter() - began
    again = timed(lambda: walk_scores(graph, split.train, graph.labels[split.train]))
    report(what="ParWalks", data=graph.name, seconds=first, again=again, peak_mb=peak_mb(), before_mb=before)


def clusters(graph: Graph, split: Split) -> None:
    """Embeddings of an untrained network have the shape and spread that matter for the time."""
    settings = find_recipe("m3s").settings({"epochs": 20})
    problem = Problem.of(graph, split, settings)
    train = split.train
    targets = Targets(train, graph.labels[train], np.ones(train.size), train.size)
    h = unit(Network().train(problem, targets, cross_entropy, (0,), None).embedding)[split.pool]
    seconds = timed(lambda: kmeans(h, 200, generator(0)), 3)
    report(what="M3S clusters", data=graph.name, nodes=h.shape[0], seconds=seconds)


def adaptive(graph: Graph, split: Split) -> None:
    """An epoch with the objective of ABN against the same epoch with cross-entropy on the same rows."""
    settings, recipe = resolve("abn", graph, split, {})
    problem = Problem.of(graph, split, settings)
    train = split.train
    targets = Targets(train, graph.labels[train], np.ones(train.size), train.size)
    objective = recipe.learner.objective(problem, targets, cross_entropy)  # type: ignore[attr-defined]
    rng = generator(0)
    network = Network().network(graph.num_features, graph.num_classes, settings)
    from drgst.nn.ops.dropout import set_generator

    set_generator(network, rng)
    rows = torch.from_numpy(objective.nodes)
    adam = torch.optim.Adam(network.parameters(), lr=0.01, weight_decay=5e-4, fused=True)

    def epoch(loss: Callable[[torch.Tensor], torch.Tensor]) -> None:
        network.train()
        hidden = network.hidden(problem.inputs.x, problem.inputs.adj)
        with torch.no_grad():
            network.head(hidden, problem.inputs.adj)  # the evaluation of every epoch
        z = network.head(network.drop(hidden), problem.inputs.adj)
        adam.zero_grad()
        loss(z[rows]).backward()
        adam.step()

    labels = torch.from_numpy(np.array(targets.labels))
    for _ in range(100):
        epoch(lambda z: cross_entropy(z[: train.size], labels).mean())
    plain = timed(lambda: epoch(lambda z: cross_entropy(z[: train.size], labels).mean()), 100)
    whole = timed(lambda: epoch(lambda z: objective(z, 0)), 100)
    with torch.no_grad():
        network.eval()
        z = network(problem.inputs.x, problem.inputs.adj)[rows]
    count = objective.pseudo_labels(z)[0].numel()
    choice = timed(lambda: objective.pseudo_labels(z), 100)
    report(
        what="ABN epoch",
        data=graph.name,
        pseudo_labelled=count,
        plain_ms=1e3 * plain,
        abn_ms=1e3 * whole,
        choice_ms=1e3 * choice,
        share=(whole - plain) / plain,
    )


def main() -> None:
    torch.set_num_threads(1)
    root = sys.argv[1] if len(sys.argv) > 1 else None
    pubmed = drgst.load("pubmed", root=root)
    split = drgst.per_class_split(pubmed, 20, seed=0)
    walks(pubmed, split)
    clusters(pubmed, split)
    cora = drgst.load("cora", root=root)
    for graph in (cora, pubmed):
        adaptive(graph, drgst.per_class_split(graph, 20, seed=0))


if __name__ == "__main__":
    main()
