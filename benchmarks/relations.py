"""Relations: public graphs of several kinds of nodes, fraud rings that share devices, and the cost of links.

``python benchmarks/relations.py hetero --data FOLDER`` gives Micro-F1 on the public test nodes of ``acm``, ``dblp`` and
``aminer``. ``fraud`` gives the average precision of fraud on accounts without a label, where transactions tell nothing
and rings share devices. ``star`` and ``links`` give CPU seconds and memory of the views of one relation beside those of
as many plain edges: a star whose rows all share one value, and 10 links per row. Rows go to ``results/relations.csv``;
those that it has of this version are not computed again.
"""

from __future__ import annotations

import argparse
import csv
import resource
import time
import warnings
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score

import drgst
from drgst.graph.core import Graph, edge_matrix, make_graph
from drgst.graph.relation import Relation
from drgst.graph.split import Split
from drgst.recipes import find_recipe
from drgst.runs.config import RunConfig
from drgst.runs.run import Run
from drgst.selftrain.problem import GraphCache
from drgst.selftrain.views.graph_views import Views

RESULTS = Path(__file__).parents[1] / "results" / "relations.csv"
COLUMNS = ("kind", "data", "method", "per_class", "draw", "value", "cpu_seconds", "peak_mb", "version")
PLACE = COLUMNS[:5]
VERSION = f"drgst-plus {find_recipe('drgst-plus').version}"
LINKS = 10  # per row
TABLES = {  # the classified kind of nodes, and the tables of links
    "acm": ("paper", ("paper_author", "paper_subject")),
    "dblp": ("author", ("paper_author", "paper_conference", "paper_term")),
    "aminer": ("paper", ("paper_author", "paper_reference")),
}
PUBLISHED = (  # of other papers, at 20 labels per class and at 1, 5 and 10
    *(
        ("acm", "HeCo, published", 20, 88.1),
        ("acm", "RMR, published", 20, 87.6),
        ("aminer", "RMR, published", 20, 93.0),
    ),
    *(("acm", "RMR, published", k, value) for k, value in ((1, 60.4), (5, 86.3), (10, 86.8))),
    *(("aminer", "RMR, published", k, value) for k, value in ((1, 53.0), (5, 79.8), (10, 87.4))),
)

Row = dict[str, Any]


def stored() -> list[Row]:
    """The rows of the results."""
    if not RESULTS.exists():
        return []
    with RESULTS.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def store(row: Row) -> None:
    """Replace the stored row of the same place."""
    fresh = (
        {"version": VERSION} | {name: str(row.get(name, "")) for name in PLACE} | {n: str(v) for n, v in row.items()}
    )
    rows = [old for old in stored() if any(old[name] != fresh[name] for name in PLACE)]
    with RESULTS.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.DictWriter(handle, COLUMNS, lineterminator="\n", restval="")
        writer.writeheader()
        writer.writerows(sorted([*rows, fresh], key=lambda r: (r["kind"], r["data"])))
    print(*fresh.values(), flush=True)


def is_stored(place: Row) -> bool:
    """Whether this version has a row of that place."""
    wanted = {"version": VERSION} | {name: str(place.get(name, "")) for name in PLACE}
    return any(all(row[name] == value for name, value in wanted.items()) for row in stored())


def hetero_graphs(folder: Path, name: str) -> tuple[Graph, Graph, np.ndarray]:
    """The graph with relations, the graph whose entities are nodes without features, and the part of each row."""
    kind, links = TABLES[name]
    nodes = pd.read_csv(folder / name / f"{kind}.csv")
    parts, nodes = nodes["split20"].fillna("").to_numpy(), nodes[["id", "label"]]
    files = [str(folder / name / f"{link}.csv") for link in links]
    linked = drgst.from_tables(nodes, label="label", id="id", links=[drgst.Link(file) for file in files]).graph
    added = drgst.from_tables(nodes, files, label="label", id="id", unknown_endpoints="add", edge_columns=False).graph
    source = folder / name / f"{kind}_features.npz"
    if source.exists():
        arrays = np.load(source)
        x = sp.csr_array((arrays["data"], arrays["indices"], arrays["indptr"]), shape=tuple(arrays["shape"]))
        linked = linked.with_(features=x)
        none = sp.csr_array((added.num_nodes - x.shape[0], x.shape[1]), dtype=x.dtype)
        added = added.with_(features=sp.csr_array(sp.vstack([x, none])))
    return linked, added, parts


def hetero(folder: Path, names: list[str], draws: int) -> None:
    """Micro-F1 in percent on the test nodes of split20; validation labels are not used."""
    for name, method, k, value in PUBLISHED:
        store(
            {"kind": "hetero", "data": name, "method": method, "per_class": k, "value": value, "version": "published"}
        )
    for name in names:
        linked, added, parts = hetero_graphs(folder, name)
        train, test = (np.flatnonzero(parts == part) for part in ("train", "test"))
        cache = GraphCache()

        def measure(method: str, known: np.ndarray, graph: Graph, k: int, draw: int, view: str = "auto") -> None:
            place = {"kind": "hetero", "data": name, "method": method, "per_class": k, "draw": draw}  # noqa: B023
            if is_stored(place):
                return
            began = time.process_time()
            hidden = np.full(graph.num_nodes, -1)
            hidden[known] = graph.labels[known]
            split = Split.of(known, [], [], graph.num_nodes)
            config = RunConfig(recipe="drgst-plus", seed=0, settings={"view": view})
            run = Run.of(graph.with_(labels=hidden), config, split).sharing(cache)  # noqa: B023
            right = run.execute().probabilities.argmax(axis=1)[test] == graph.labels[test]  # noqa: B023
            store(place | {"value": f"{100 * right.mean():.1f}", "cpu_seconds": f"{time.process_time() - began:.1f}"})

        plus = "drgst-plus with relations"
        measure(plus, train, linked, 20, 0)
        summed = [f"{what} by all links" for what in ("features", "links") if what == "links" or linked.num_features]
        measure("all relations summed", train, linked, 20, 0, "+".join(summed))
        for k in (1, 5, 10):
            for draw in range(draws):
                rng = np.random.default_rng([draw, k])
                classes = range(linked.num_classes)
                known = np.concatenate(
                    [rng.choice(train[linked.labels[train] == c], k, replace=False) for c in classes]
                )
                measure(plus, np.sort(known), linked, k, draw)
        for relation in linked.relations:
            measure(f"relation {relation.name} alone", train, linked.with_(relations=(relation,)), 20, 0)
        measure("entities as nodes without features", train, added, 20, 0)
        if linked.num_features:
            model = LogisticRegression(max_iter=2000).fit(linked.features[train], linked.labels[train])
            right = 100 * model.score(linked.features[test], linked.labels[test])
            place = {"kind": "hetero", "data": name, "method": "logistic regression on features", "per_class": 20}
            store(place | {"draw": 0, "value": f"{right:.1f}"})


def fraud(seed: int, accounts: int) -> None:
    """Average precision with and without devices."""
    tables = drgst.fraud_tables(seed, accounts=accounts, positive_rate=0.05, informative_edges=0.0, ring_devices=0.8)
    nodes, edges = tables.accounts.to_pandas(), tables.transactions.to_pandas()
    truth = tables.truth.column("fraud").to_numpy()
    hidden = nodes["label"].isna().to_numpy()

    def plus(*links: str) -> np.ndarray:
        drop = [name for name in ("device_id", "phone") if name not in links]
        graph = drgst.from_tables(nodes, edges, label="label", id="account_id", drop=drop, links=links).graph
        model = drgst.SelfTraining("drgst-plus").fit(graph)
        return np.asarray(model.predict_proba()[:, graph.class_names.index("fraud")])

    def boosting(device: bool) -> np.ndarray:
        graph = drgst.from_tables(nodes, edges, label="label", id="account_id", drop=["phone", "device_id"]).graph
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

    models: dict[str, Callable[[], np.ndarray]] = {
        "drgst-plus without links": plus,
        "drgst-plus with --link device_id": lambda: plus("device_id"),
        "drgst-plus with --link device_id --link phone": lambda: plus("device_id", "phone"),
        "gradient boosting": lambda: boosting(False),
        "gradient boosting, device as a category": lambda: boosting(True),
    }
    for method, make in models.items():
        place = {"kind": "fraud", "data": f"{accounts:,} accounts", "method": method, "draw": seed}
        if is_stored(place):
            continue
        began = time.process_time()
        value = average_precision_score(truth[hidden], make()[hidden])
        seconds = f"{time.process_time() - began:.1f}"
        store(place | {"value": f"{value:.3f}", "cpu_seconds": seconds})


def linked(rows: int) -> Graph:
    """Rows with 10 links each to as many entities as rows."""
    entity = np.random.default_rng(0).integers(0, rows, rows * LINKS)
    b = sp.csr_array((np.ones(entity.size, np.float32), (np.repeat(np.arange(rows), LINKS), entity)), (rows, rows))
    return _graph(rows).with_(relations=(Relation.of("entity", b),))


def star(rows: int) -> Graph:
    """Rows that all share one value."""
    return _graph(rows).with_(relations=(Relation.of("entity", np.ones((rows, 1))),))


def plain(rows: int, per_row: int) -> Graph:
    """Rows with random edges."""
    ends = np.random.default_rng(0).integers(0, rows, (2, rows * per_row))
    return _graph(rows, edge_matrix(ends[0], ends[1], rows))


def _graph(rows: int, edges: Any = None) -> Graph:
    x = np.random.default_rng(1).standard_normal((rows, 16)).astype(np.float32)
    return make_graph(x, sp.coo_array((rows, rows)) if edges is None else edges, np.arange(rows) % 2)


def cost(make: Callable[..., Graph], arguments: tuple[int, ...], what: str, answer: Any) -> None:
    """CPU seconds and peak memory of one view, or of a whole run with 20 labels per class."""
    graph = make(*arguments)
    began = time.process_time()
    if what == "run":
        run = Run.of(graph, RunConfig(recipe="drgst-plus", seed=0), Split.of(np.arange(40), [], [], graph.num_nodes))
        run.execute()
    else:
        Views(graph)[what]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    answer.put((time.process_time() - began, memory))


def costs(rows: int, which: str) -> None:
    """The cost of each of a pair, each in a process of its own."""
    star_jobs = [
        (plain, (rows, 1), "topology", "edges"),
        (star, (rows,), "features by entity", "star"),
        (plain, (rows, 1), "neighbours", "edges"),
        (star, (rows,), "links by entity", "star"),
        (plain, (rows, 1), "run", "edges"),
        (star, (rows,), "run", "star"),
    ]
    linked_jobs = [
        (plain, (rows, LINKS), "topology", "edges"),
        (linked, (rows,), "features by entity", "links"),
        (plain, (rows, LINKS), "neighbours", "edges"),
        (linked, (rows,), "links by entity", "links"),
    ]
    for make, arguments, what, name in star_jobs if which == "star" else linked_jobs:
        answer = get_context("spawn").Queue()
        process = get_context("spawn").Process(target=cost, args=(make, arguments, what, answer))
        process.start()
        process.join()
        seconds, memory = answer.get()
        place = {"kind": "cost", "data": f"{which}, {rows:,} rows", "method": f"{name}: {what}"}
        store(place | {"cpu_seconds": f"{seconds:.1f}", "peak_mb": f"{memory:.0f}"})


def main() -> None:
    """Compute one of the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("hetero", "fraud", "star", "links"))
    parser.add_argument("--data", type=Path, help="folder with acm, dblp and aminer")
    parser.add_argument("--names", nargs="+", default=list(TABLES))
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1000, 1001, 1002, 1003, 1004])
    parser.add_argument("--accounts", type=int, default=5_000)
    parser.add_argument("--rows", type=int, default=100_000)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.what == "hetero":
        hetero(given.data, given.names, given.draws)
    elif given.what == "fraud":
        for seed in given.seeds:
            fraud(seed, given.accounts)
    else:
        costs(given.rows, given.what)


if __name__ == "__main__":
    main()
