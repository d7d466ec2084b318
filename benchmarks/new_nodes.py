"""New nodes without a new fit: fit on 80 % of the nodes, predict the others, against a fit on the whole graph.

``python benchmarks/new_nodes.py --datasets cora citeseer --recipe gcn --seeds 0 1`` prints, per data set and seed,
accuracy on the new nodes of the model that never saw them and of a fit on the whole graph, and seconds per 10,000 new
nodes. New nodes are drawn from the test nodes and the pool; their labels are hidden from both fits. ``fraud`` is the
generated fraud tables, with the accounts of the second week as new nodes, and average precision instead of accuracy.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import scipy.sparse as sp

import drgst
from drgst.graph.core import Graph
from drgst.graph.split import Split
from drgst.runs.metrics import RankScores

FRAUD = "fraud"


def subgraph(graph: Graph, nodes: np.ndarray) -> Graph:
    """The subgraph of ``nodes``, in their order."""
    return graph.with_(
        features=graph.features[nodes],
        adjacency=sp.csr_array(graph.adjacency[nodes][:, nodes]),
        labels=graph.labels[nodes],
        node_ids=graph.node_ids[nodes],
        splits=(),
    )


def part(graph: Graph, nodes: np.ndarray, split: Split) -> tuple[Graph, Split]:
    """The subgraph of ``nodes``, which are sorted, and the split restricted to them."""
    parts = {name: np.intersect1d(getattr(split, name), nodes) for name in ("train", "val", "test", "pool")}
    return subgraph(graph, nodes), Split(**{name: np.searchsorted(nodes, inside) for name, inside in parts.items()})


def on_graph(name: str, recipe: str, per_class: int, seed: int) -> tuple[float, float, float]:
    """Accuracy on new nodes without and with a new fit, and seconds per 10,000 new nodes."""
    graph = drgst.load(name)
    split = drgst.per_class_split(graph, per_class, seed).without_validation()
    rng = np.random.default_rng(seed)
    free = np.setdiff1d(np.arange(graph.num_nodes), split.train)
    new = np.sort(rng.choice(free, graph.num_nodes // 5, replace=False))
    old = np.setdiff1d(np.arange(graph.num_nodes), new)
    model = drgst.SelfTraining(recipe, seed=seed).fit(*part(graph, old, split))
    start = time.process_time()
    carried = model.predict(subgraph(graph, np.append(old, new)))[old.size :]
    seconds = (time.process_time() - start) / new.size * 10_000
    whole = drgst.SelfTraining(recipe, seed=seed).fit(graph, split).predict()[new]
    known = model.classes_[graph.labels[new]]
    return float((carried == known).mean()), float((whole == known).mean()), seconds


def on_tables(recipe: str, seed: int) -> tuple[float, float, float]:
    """Average precision on the accounts of week 2 without and with a new fit, and seconds per 10,000 of them."""
    tables = drgst.fraud_tables(seed)
    first, second = tables.week(1), tables.week(2)
    base = drgst.from_tables(first.accounts, first.transactions, label="label")
    model = drgst.SelfTraining(recipe, seed=seed).fit(base.graph)
    start = time.process_time()
    later = base.schema.apply(second.accounts, second.transactions, base=base.graph)
    column = base.graph.class_names.index("fraud")
    carried = model.predict_proba(later.graph)[later.new, column]
    seconds = (time.process_time() - start) / later.new.size * 10_000
    whole = drgst.from_tables(tables.accounts, tables.transactions, label="label").graph
    refit = drgst.SelfTraining(recipe, seed=seed).fit(whole).predict_proba()[:, column]
    place = {name: k for k, name in enumerate(whole.node_ids.tolist())}
    again = refit[[place[name] for name in later.graph.node_ids[later.new].tolist()]]
    truth = second.truth.column("fraud").to_numpy(zero_copy_only=False)
    ones = np.ones(truth.size)
    return *(RankScores(p, truth).average_precision(ones) for p in (carried, again)), seconds


def main() -> None:
    """Print one line per data set and seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", nargs="+", default=["cora", "citeseer", "pubmed", "flickr", FRAUD])
    parser.add_argument("--recipe", default="drgst-plus")
    parser.add_argument("--per-class", type=int, default=20)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1000])
    args = parser.parse_args()
    print(f"{'data set':<10} {'seed':>5} {'carried over':>13} {'new fit':>8} {'difference':>11} {'s / 10,000':>11}")
    for name in args.datasets:
        for seed in args.seeds:
            found = on_tables(args.recipe, seed) if name == FRAUD else on_graph(name, args.recipe, args.per_class, seed)
            carried, again, seconds = found
            figures = f"{carried:>13.4f} {again:>8.4f} {carried - again:>+11.4f} {seconds:>11.2f}"
            print(f"{name:<10} {seed:>5} {figures}", flush=True)


if __name__ == "__main__":
    main()
