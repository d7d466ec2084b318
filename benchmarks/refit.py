"""What one more label costs: a drgst-plus fit that shares views with an earlier fit, as a ratio to a fresh fit.

DRGST_DATA=/path/to/data python benchmarks/refit.py cora pubmed accounts

CPU seconds of one thread; fresh and warm fits in alternation, the lowest of each. ``accounts`` are 20,000 generated
accounts with 120 labels, the others have 10 labels per class. Both fits of a pair have the same labels and must agree
to the last bit.
"""

from __future__ import annotations

import os
import sys
import time
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import drgst
from drgst import SelfTraining
from drgst.graph.core import Graph
from drgst.threads import limit_threads

ROUNDS = 3


def labelled(name: str) -> tuple[Graph, np.ndarray, np.ndarray]:
    """A graph, the nodes that are labelled first, and those that follow one by one."""
    if name == "accounts":
        tables = drgst.datasets.fraud_tables(1000, accounts=20_000)
        graph = drgst.from_tables(tables.accounts, tables.transactions, label="label").graph
        nodes = np.random.default_rng(0).permutation(np.flatnonzero(graph.labels >= 0))
        return graph, nodes[:-ROUNDS], nodes[-ROUNDS:]
    graph = drgst.load(name)
    split = drgst.random_split(graph, per_class=10, val=0, test=0, seed=100)
    return graph, split.train, np.random.default_rng(0).choice(split.pool, ROUNDS, replace=False)


def fit(graph: Graph, nodes: np.ndarray, warm_from: SelfTraining | None = None) -> tuple[SelfTraining, float]:
    """A model with the labels of ``nodes`` alone, and its CPU seconds."""
    labels = np.full(graph.num_nodes, -1, dtype=np.int64)
    labels[nodes] = graph.labels[nodes]
    graph = graph.with_(labels=labels, splits=())
    began = time.process_time()
    model = SelfTraining("drgst-plus").fit(graph, warm_from=warm_from, progress=False)
    return model, time.process_time() - began


def main() -> None:
    """One row per graph."""
    warnings.simplefilter("ignore")
    print("| graph | nodes | labels | fresh, s | warm, s | ratio |\n|:--|--:|--:|--:|--:|--:|", flush=True)
    for name in sys.argv[1:] or ["cora", "pubmed", "accounts"]:
        graph, first, further = labelled(name)
        with limit_threads(1):
            model, _ = fit(graph, first)
            fresh, warm = [], []
            for place in range(ROUNDS):
                nodes = np.append(first, further[: place + 1])
                own, seconds = fit(graph, nodes)
                fresh.append(seconds)
                model, seconds = fit(graph, nodes, model)
                warm.append(seconds)
                np.testing.assert_array_equal(own.predict_proba(), model.predict_proba())
        ratio = min(warm) / min(fresh)
        row = f"| {name} | {graph.num_nodes:,} | {first.size} | {min(fresh):.1f} | {min(warm):.1f} | {ratio:.2f} |"
        print(row, flush=True)


if __name__ == "__main__":
    main()
