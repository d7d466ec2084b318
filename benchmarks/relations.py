"""Relations: fraud rings that share devices, and the cost of links beside that of as many plain edges.

``python benchmarks/relations.py fraud --seeds 1000 1001`` prints the average precision of fraud on accounts without a
label: transactions tell nothing, and rings share devices. ``python benchmarks/relations.py cost --rows 1000000`` prints
the time of the views of one relation and of as many plain edges: 10 links per row, and a star whose rows all share one
value.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from multiprocessing import get_context
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import average_precision_score

import drgst
from drgst.graph.core import Graph, edge_matrix, make_graph
from drgst.graph.relation import Relation
from drgst.selftrain.views.graph_views import Views

LINKS = 10  # per row
MODELS = ("drgst-plus", "with --link device_id", "with --link device_id and phone", "boosting", "boosting with device")


def fraud_scores(seed: int, accounts: int) -> list[float]:
    """Average precision of each of :data:`MODELS`."""
    tables = drgst.fraud_tables(seed, accounts=accounts, informative_edges=0.0, ring_devices=0.8)
    nodes, edges = tables.accounts.to_pandas(), tables.transactions.to_pandas()
    truth = tables.truth.column("fraud").to_numpy()
    hidden = nodes["label"].isna().to_numpy()

    def plus(links: tuple[str, ...]) -> np.ndarray:
        drop = [name for name in ("device_id", "phone") if name not in links]
        graph = drgst.from_tables(nodes, edges, label="label", id="account_id", drop=drop, links=links).graph
        model = drgst.SelfTraining("drgst-plus").fit(graph)
        return np.asarray(model.predict_proba()[:, graph.class_names.index("fraud")])

    def boosting(device: bool) -> np.ndarray:
        drop = ["phone"] if device else ["phone", "device_id"]
        graph = drgst.from_tables(nodes, edges, label="label", id="account_id", drop=drop).graph
        x = graph.features if isinstance(graph.features, np.ndarray) else graph.features.toarray()
        if device:  # as a category of the most frequent 255 values, which is what the library takes
            codes = nodes["device_id"].map(nodes["device_id"].value_counts().rank(ascending=False, method="first"))
            x = np.column_stack([x, np.minimum(codes.to_numpy(), 254)])
        model = HistGradientBoostingClassifier(
            random_state=0, categorical_features=[x.shape[1] - 1] if device else None
        )
        known = graph.labels >= 0
        model.fit(x[known], graph.labels[known])
        return np.asarray(model.predict_proba(x)[:, graph.class_names.index("fraud")])

    found = [plus(()), plus(("device_id",)), plus(("device_id", "phone")), boosting(False), boosting(True)]
    return [float(average_precision_score(truth[hidden], p[hidden])) for p in found]


def linked(rows: int) -> Graph:
    """Rows with 10 links each to as many entities as rows."""
    entity = np.random.default_rng(0).integers(0, rows, rows * LINKS)
    b = sp.csr_array((np.ones(entity.size, np.float32), (np.repeat(np.arange(rows), LINKS), entity)), (rows, rows))
    return _graph(rows).with_(relations=(Relation.of("entity", b),))


def star(rows: int) -> Graph:
    """Rows that all share one value."""
    return _graph(rows).with_(relations=(Relation.of("entity", np.ones((rows, 1))),))


def plain(rows: int, edges: int) -> Graph:
    """Rows with random edges."""
    ends = np.random.default_rng(0).integers(0, rows, (2, edges))
    return _graph(rows, edge_matrix(ends[0], ends[1], rows))


def _graph(rows: int, edges: Any = None) -> Graph:
    x = np.random.default_rng(1).standard_normal((rows, 16)).astype(np.float32)
    return make_graph(x, sp.coo_array((rows, rows)) if edges is None else edges, np.arange(rows) % 2)


def cost(make: Callable[..., Graph], arguments: tuple[int, ...], view: str) -> None:
    """Print CPU seconds and peak memory of one view, in a process of its own."""
    graph = make(*arguments)
    began = time.process_time()
    Views(graph)[view]
    seconds = time.process_time() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{make.__name__:>7} {arguments[0]:,} rows, {view:<18} {seconds:7.1f} s of CPU, {memory:,.0f} MB", flush=True)


def main() -> None:
    """Print one of the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("fraud", "cost"))
    parser.add_argument("--seeds", type=int, nargs="+", default=[1000, 1001, 1002, 1003, 1004])
    parser.add_argument("--accounts", type=int, default=20_000)
    parser.add_argument("--rows", type=int, default=100_000)
    given = parser.parse_args()
    if given.what == "fraud":
        scores = np.array([fraud_scores(seed, given.accounts) for seed in given.seeds])
        for name, values in zip(MODELS, scores.T, strict=True):
            print(f"{name:<32} {values.mean():.3f}  ({' '.join(f'{v:.3f}' for v in values)})")
        return
    n = given.rows
    jobs: list[tuple[Callable[..., Graph], tuple[int, ...], str]] = [
        (plain, (n, n), "topology"),
        (star, (n,), "features by entity"),
        (star, (n,), "links by entity"),
        (plain, (n, n * LINKS), "topology"),
        (plain, (n, n * LINKS), "neighbours"),
        (linked, (n,), "features by entity"),
        (linked, (n,), "links by entity"),
    ]
    for job in jobs:
        process = get_context("spawn").Process(target=cost, args=job)
        process.start()
        process.join()


if __name__ == "__main__":
    main()
