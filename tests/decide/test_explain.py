"""Explanations on graphs whose truth is built in: the one feature or neighbour that decides comes first."""

import numpy as np
import pytest
from scipy.stats import spearmanr

import drgst
from drgst.decide.contributions import ViewContributions
from drgst.errors import RunError
from drgst.graph.core import Graph
from drgst.graph.split import random_split
from drgst.selftrain.recipe import adjust_logits, own_state
from drgst.selftrain.views.graph_views import VIEWS
from drgst.transforms.softmax import softmax

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


def surely_right(model: drgst.SelfTraining, graph: Graph, nodes: np.ndarray) -> list[int]:
    """Of the nodes that are predicted right, the half of highest confidence, in which a reason must be found."""
    right = nodes[model.predict()[nodes] == graph.labels[nodes]]
    p = model.predict_proba()[right].max(axis=1)
    assert right.size > 0.5 * nodes.size
    return right[p >= np.median(p)].tolist()


@pytest.mark.parametrize("recipe", ["gcn", "logistic-ppr", "drgst-plus"])
def test_the_feature_that_decides_comes_first(recipe: str) -> None:
    graph, name = one_feature_decides()
    split = random_split(graph, per_class=40, val=40, test=40, seed=0)
    model = drgst.SelfTraining(recipe, {"normalise": "none"} if recipe == "gcn" else None).fit(graph, split)
    first = [model.explain(u).of_kind("feature")[0] for u in surely_right(model, graph, np.arange(60))]
    assert np.mean([reason.name == name for reason in first]) >= 0.95
    assert (
        np.mean([reason.pull > 0 for reason in first]) >= 0.9
    )  # it pulls away where neighbours are of the other class


@pytest.mark.parametrize("recipe", ["gcn", "drgst-plus"])
def test_the_neighbour_that_decides_comes_first(recipe: str) -> None:
    graph, decider = one_neighbour_decides()
    split = random_split(graph, per_class=60, val=40, test=40, seed=0)
    model = drgst.SelfTraining(recipe, {"normalise": "none"} if recipe == "gcn" else None).fit(graph, split)
    nodes = surely_right(model, graph, np.arange(100, 200))
    hits = [model.explain(u).of_kind("neighbour")[0].name == str(decider[u]) for u in nodes]
    assert np.mean(hits) >= 0.9


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


@pytest.fixture(scope="module")
def fraud() -> tuple[drgst.SelfTraining, drgst.TableGraph]:
    tables = drgst.fraud_tables(7, accounts=600, positive_rate=0.15, labelled=60)
    made = drgst.from_tables(tables.accounts, tables.transactions, label="label")
    return drgst.SelfTraining("drgst-plus", prior={"fraud": 0.15}).fit(made), made


def test_reasons_of_drgst_plus_agree_with_refits_without_the_column(
    fraud: tuple[drgst.SelfTraining, drgst.TableGraph],
) -> None:
    """Rare categories, whose columns make up most of a row's length, must not come first, as they once did."""
    model, made = fraud
    p = model.predict_proba()
    order = model.result_.unlabelled[np.argsort(-p[model.result_.unlabelled, 0])]
    nodes = np.concatenate([order[:15], order[50::20]])  # surely fraud, and others
    sign = np.where(p[nodes, 0] > 0.5, 1, -1)  # reasons are for the predicted class
    columns = np.array(made.schema.feature_columns)
    names = ["note", "verified", "country", "branch", "device", "income"]
    found = [{r.name: r.pull for r in model.explain(made.graph.node_ids[u]).of_kind("feature")} for u in nodes]
    falls = []
    for name in names:
        less = made.graph.with_(features=made.graph.features[:, np.flatnonzero(columns != name)])
        q = drgst.SelfTraining("drgst-plus", prior={"fraud": 0.15}).fit(less).predict_proba()
        falls.append(np.log(p[nodes, 0] / p[nodes, 1]) - np.log(q[nodes, 0] / q[nodes, 1]))
    pulls = np.array([[each[name] for each in found] for name in names]) * sign
    assert spearmanr(pulls.ravel(), np.ravel(falls)).statistic > 0.4
    assert names[pulls[:, :15].mean(axis=1).argmax()] == "note"  # its words go with fraud, by construction
    assert pulls[0, :15].mean() > 3 * np.abs(pulls[[2, 3], :15].mean(axis=1)).max()  # country and branch are noise


def test_contributions_of_drgst_plus_add_up(fraud: tuple[drgst.SelfTraining, drgst.TableGraph]) -> None:
    """Without all of them a view of features has its intercept alone; without none of them, the node its prediction."""
    model, made = fraud
    graph, state = made.graph, own_state(model.result_.model.state)
    found = ViewContributions(state, graph).at(5, np.arange(3))
    for v, name in enumerate(found.names):
        rest = found.logits[v] - found.features[v].sum(axis=0)
        if VIEWS[name].needs_features:
            np.testing.assert_allclose(rest, state[f"{name}.bias"], atol=1e-3)
    fitted, logits = model.result_.model, model.result_.stage.logits.copy()
    logits[5] = found.without(np.zeros_like(found.logits))
    final = adjust_logits(fitted.parts, fitted.state, logits, graph, fitted.settings)[5]
    np.testing.assert_allclose(softmax(final[None])[0], model.predict_proba()[5], atol=1e-4)
