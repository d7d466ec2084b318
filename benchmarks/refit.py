"""What one more label costs in the workbench, as ratios to a fresh drgst-plus fit.

DRGST_DATA=/path/to/data python benchmarks/refit.py cora pubmed accounts

``preview`` is what the workbench shows after a label, ``whole`` the fit that replaces it in a pause: it shares views
with the fit before and agrees with a fresh fit to the last bit. ``agrees`` is the share of nodes for which preview and
whole fit predict the same class. CPU seconds of one thread, in alternation, the lowest of each. ``accounts`` are 20,000
generated accounts with 120 labels, the others have 10 labels per class.
"""

from __future__ import annotations

import logging
import os
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import drgst
from drgst.graph.core import Graph
from drgst.report.serve.refit import preview
from drgst.runs.config import RunConfig
from drgst.runs.result import Result
from drgst.runs.run import Run
from drgst.selftrain.problem import GraphCache
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


def run_of(graph: Graph, nodes: np.ndarray, cache: GraphCache | None = None) -> Run:
    """A run with the labels of ``nodes`` alone; with a ``cache`` it shares views."""
    labels = np.full(graph.num_nodes, -1, dtype=np.int64)
    labels[nodes] = graph.labels[nodes]
    run = Run.of(graph.with_(labels=labels, splits=()), RunConfig(recipe="drgst-plus", seed=0))
    return run if cache is None else run.sharing(cache)


def timed(made: Callable[[], Result]) -> tuple[Result, float]:
    """A result, and its CPU seconds."""
    began = time.process_time()
    return made(), time.process_time() - began


def measure(name: str) -> str:
    """The row of a graph."""
    graph, first, further = labelled(name)
    cache, agrees = GraphCache(), []
    seconds: dict[str, list[float]] = {"fresh": [], "preview": [], "whole": []}
    last = run_of(graph, first, cache).execute()
    for place in range(ROUNDS):
        nodes = np.append(first, further[: place + 1])
        fresh, took = timed(run_of(graph, nodes).execute)
        seconds["fresh"].append(took)
        quick, took = timed(partial(preview, run_of(graph, nodes, cache), last))
        seconds["preview"].append(took)
        last, took = timed(run_of(graph, nodes, cache).execute)
        seconds["whole"].append(took)
        np.testing.assert_array_equal(fresh.probabilities, last.probabilities)
        agrees.append((quick.probabilities.argmax(axis=1) == last.probabilities.argmax(axis=1)).mean())
    least = {what: min(each) for what, each in seconds.items()}
    figures = [f"{least['fresh']:.1f}"]
    for what in ("preview", "whole"):
        figures += [f"{least[what]:.2f}", f"{least[what] / least['fresh']:.2f}"]
    return " | ".join([f"| {name}", f"{graph.num_nodes:,}", f"{first.size}", *figures, f"{np.mean(agrees):.1%} |"])


def main() -> None:
    """One row per graph."""
    warnings.simplefilter("ignore")
    logging.getLogger("drgst").setLevel(logging.ERROR)
    print("| graph | nodes | labels | fresh, s | preview, s | ratio | whole, s | ratio | agrees |")
    print("|:--|--:|--:|--:|--:|--:|--:|--:|--:|", flush=True)
    with limit_threads(1):
        for name in sys.argv[1:] or ["cora", "pubmed", "accounts"]:
            print(measure(name), flush=True)


if __name__ == "__main__":
    main()
