"""Explanations on graphs whose truth is built in: the one feature or neighbour that decides comes first."""

from __future__ import annotations

import numpy as np
import pytest

import drgst
from drgst.errors import RunError
from drgst.graph.core import Graph
from drgst.graph.split import random_split

N = 300


def random_edges(rng: np.random.Generator, count: int) -> np.ndarray:
    a = np.zeros((N, N))
    a[rng.integers(0, N, count), rng.integers(0, N, count)] = 1
    np.fill_diagonal(a, 0)
    return a


def one_feature_decides() -> tuple[Graph, str]:
    """Feature 3 of 8 is the class, the others and the edges are noise."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, N)
    x = rng.normal(size=(N, 8))
    x[:, 3] = 4 * (2 * labels - 1) + rng.normal(scale=0.3, size=N)
    return drgst.make_graph(x, random_edges(rng, N // 2), labels), "feature 3"


def one_neighbour_decides() -> tuple[Graph, np.ndarray]:
    """Nodes 0 to 99 carry a class, all others take that of the one such node they are joined to."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, N)
    decider = rng.integers(0, 100, N)
    labels[100:] = labels[decider[100:]]
    x = rng.normal(scale=0.05, size=(N, 6))
    x[:100, 0] += 3 * (2 * labels[:100] - 1)
    a = np.zeros((N, N))
    a[np.arange(100, N), decider[100:]] = 1
    for u in range(100, N):
        a[u, rng.integers(100, N, 3)] = 1
    np.fill_diagonal(a, 0)
    return drgst.make_graph(x, a, labels), decider


@pytest.mark.parametrize("recipe", ["gcn", "logistic-ppr"])
def test_the_feature_that_decides_comes_first(recipe: str) -> None:
    graph, name = one_feature_decides()
    split = random_split(graph, per_class=40, val=40, test=40, seed=0)
    model = drgst.SelfTraining(recipe, {"normalise": "none"} if recipe == "gcn" else None).fit(graph, split)
    nodes = [u for u in range(60) if model.predict()[u] == graph.labels[u]]
    first = [model.explain(u).of_kind("feature")[0] for u in nodes]
    assert np.mean([reason.name == name for reason in first]) >= 0.95
    assert np.mean([reason.pull > 0 for reason in first]) >= 0.95


def test_the_neighbour_that_decides_comes_first() -> None:
    graph, decider = one_neighbour_decides()
    split = random_split(graph, per_class=60, val=40, test=40, seed=0)
    model = drgst.SelfTraining("gcn", {"normalise": "none"}).fit(graph, split)
    nodes = [u for u in range(100, 170) if model.predict()[u] == graph.labels[u]]
    assert len(nodes) > 50
    hits = [model.explain(u).of_kind("neighbour")[0].name == str(decider[u]) for u in nodes]
    assert np.mean(hits) >= 0.95


def test_label_propagation_names_labelled_nodes_exactly() -> None:
    graph, _ = one_neighbour_decides()
    split = random_split(graph, per_class=30, val=0, test=0, seed=0)
    model = drgst.SelfTraining("label-propagation").fit(graph, split)
    found = model.explain(150)
    assert not found.of_kind("feature")
    reason = found.of_kind("labelled")[0]
    labels = graph.labels.copy()
    labels[np.setdiff1d(np.arange(N), split.train)] = -1
    labels[int(reason.name)] = -1
    again = drgst.SelfTraining("label-propagation").fit(graph.with_(labels=labels))
    expected = again.predict_proba()[150][model.predict()[150]]
    assert reason.probability == pytest.approx(expected, abs=1e-4)


def test_what_a_prediction_becomes_is_that_of_the_changed_graph() -> None:
    """The part of the graph around a node gives the same as the whole."""
    graph, _ = one_neighbour_decides()
    split = random_split(graph, per_class=60, val=40, test=40, seed=0)
    model = drgst.SelfTraining("gcn", {"epochs": 20}).fit(graph, split)
    found = model.explain(150)
    reason = found.of_kind("neighbour")[0]
    a = graph.adjacency.tolil()
    a[150, int(reason.name)] = a[int(reason.name), 150] = 0
    changed = drgst.make_graph(graph.features, a.tocsr(), graph.labels)
    label = graph.class_names.index(found.label)
    assert reason.probability == pytest.approx(model.predict_proba(changed)[150][label], abs=1e-3)
    document = found.to_dict(2)
    assert len(document["neighbours"]) == 2
    assert {row["label"] for row in document["similar"]} <= {"0", "1"}


def test_an_unknown_node_is_refused() -> None:
    graph, _ = one_feature_decides()
    split = random_split(graph, per_class=10, val=10, test=10, seed=0)
    model = drgst.SelfTraining("logistic-ppr").fit(graph, split)
    with pytest.raises(RunError, match="has no node 'x'"):
        model.explain("x")


def test_columns_of_tables_are_named() -> None:
    tables = drgst.fraud_tables(3, accounts=200, positive_rate=0.2, labelled=10)
    made = drgst.from_tables(tables.accounts, tables.transactions, label="label")
    model = drgst.SelfTraining("logistic-ppr").fit(made)
    names = {reason.name for reason in model.explain(made.graph.node_ids[3]).of_kind("feature")}
    assert {"income", "note", "edges out: rows"} <= names
