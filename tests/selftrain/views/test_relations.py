"""Views of relations: which there are, what they are, their weights, and new nodes."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import drgst
from drgst.graph.core import Graph, make_graph
from drgst.graph.relation import Relation
from drgst.graph.split import Split
from drgst.runs.config import RunConfig
from drgst.runs.model import Model
from drgst.runs.run import Run
from drgst.selftrain.views.base import ridge_map
from drgst.selftrain.views.graph_views import Views
from drgst.selftrain.views.relations import link_table, relation_weights
from drgst.transforms.features import row_l2
from drgst.transforms.incidence import Factor, LinkMatrix
from drgst.transforms.propagate import propagate

N = 240
pytestmark = pytest.mark.filterwarnings("ignore:no node may be pseudo-labelled")  # teachers are enough here


def shared(informative: float, seed: int = 0, features: bool = True, nodes: int = N) -> Graph:
    """Two classes whose nodes share devices of their class, and phones by chance."""
    rng = np.random.default_rng(seed)
    y = np.arange(nodes) % 2
    same = rng.random(nodes) < informative
    device = rng.integers(0, 6, nodes) * 2 + np.where(same, y, rng.integers(0, 2, nodes))
    rows = np.arange(nodes)
    ones = np.ones(nodes, dtype=np.float32)
    devices = Relation.of("device", sp.csr_array((ones, (rows, device)), shape=(nodes, 12)))
    phones = Relation.of("phone", sp.csr_array((ones, (rows, rng.integers(0, 40, nodes))), shape=(nodes, 40)))
    x = rng.standard_normal((nodes, 4)) if features else None
    return make_graph(x, sp.coo_array((nodes, nodes)), y).with_(relations=(devices, phones))


def trained(graph: Graph, known: int = 40) -> drgst.SelfTraining:
    split = Split.of(np.arange(known), [], np.arange(known, graph.num_nodes), graph.num_nodes)
    return drgst.SelfTraining("drgst-plus").fit(graph, split)


def test_views_of_a_graph_with_relations() -> None:
    graph = shared(1.0)
    relations = [f"{kind} by {name}" for name in ("device", "phone", "all links") for kind in ("features", "links")]
    assert Views(graph).available == ("knn", "features", *relations)
    assert Views(shared(1.0, features=False)).available == tuple(relations[1::2])
    alone = graph.with_(relations=(Relation.of("own", sp.eye_array(N)),))
    assert Views(alone).available == ("knn", "features")


def test_informative_relation_is_found_and_weighs_more() -> None:
    graph = shared(0.9)
    model = trained(graph)
    accuracy = (model.predict(graph)[40:] == graph.labels[40:]).mean()
    assert accuracy > 0.8
    note = model.history_.stages[0].note
    assert note.startswith("Relations: device")


def test_views_are_those_of_the_formed_matrix_by_hand() -> None:
    graph = shared(0.8)
    b = graph.relations[0].incidence.toarray()
    n = b.sum(axis=0)
    a = b @ np.diag(np.where(n > 1, 1 / np.maximum(n - 1, 1), 0)) @ b.T
    np.fill_diagonal(a, 0)
    edges = make_graph(graph.features, a, graph.labels)
    found, expected = Views(graph)["features by device"], Views(edges)["topology"]
    assert np.allclose(found, expected, atol=1e-4)


def test_new_nodes_join_through_known_entities() -> None:
    whole = shared(0.95, seed=3, features=False)
    old = np.arange(200)
    first = make_graph(None, sp.coo_array((200, 200)), whole.labels[old]).with_(
        relations=tuple(relation.rows(old) for relation in whole.relations)
    )
    model = trained(first)
    accuracy = (model.predict(whole)[200:] == whole.labels[200:]).mean()
    assert accuracy > 0.8


def test_a_graph_without_the_relation_is_predicted_by_other_views() -> None:
    graph = shared(0.9)
    model = trained(graph)
    with pytest.warns(UserWarning, match="by device"):
        found = model.predict(graph.with_(relations=()))
    assert found.shape == (N,)


def test_same_seed_same_bits() -> None:
    first, second = (trained(shared(0.9)).predict_proba(shared(0.9)) for _ in range(2))
    assert np.array_equal(first, second)


def test_networks_get_the_weighted_sum_of_relations(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    graph = shared(0.9)
    split = Split.of(np.arange(40), [], np.arange(40, N), N)
    result = Run.of(graph, RunConfig(recipe="gcn", seed=0, settings={"epochs": 2}), split).execute()
    weights = result.model.relations
    assert weights is not None
    assert weights["device"] > 1 > weights["phone"]
    assert sum(weights.values()) == pytest.approx(2)
    said = f"weighted sum of relations (device {weights['device']:.2f}, phone {weights['phone']:.2f}) has become"
    assert said in caplog.text
    plain = [
        make_graph(None, LinkMatrix.of([Factor.of(r.incidence)]) @ np.eye(N), graph.labels).adjacency
        for r in graph.relations
    ]
    summed = (weights["device"] * plain[0] + weights["phone"] * plain[1]).toarray()
    np.fill_diagonal(summed, 0)
    assert np.allclose(result.run.problem.graph.adjacency.toarray(), summed, atol=1e-5)
    result.model.save(tmp_path)
    assert np.array_equal(Model.load(tmp_path).logits(graph), result.model.logits(graph))


def test_weights_by_relation() -> None:
    weights = {"features by device": 0.2, "links by device": 0.3, "knn": 0.4, "links by phone": 0.1}
    assert relation_weights(weights) == {"device": 0.5, "phone": 0.1}


def test_links_propagate_further_without_features() -> None:
    for features, restart, steps in ((True, 0.15, 20), (False, 0.05, 40)):
        views = Views(shared(0.8, features=features))
        s = LinkMatrix.of([Factor.of(views.graph.relations[0].incidence)]).normalised()
        x = link_table(views)
        z = propagate(s, x, 1 - restart, steps)
        z /= np.linalg.norm(z, axis=1, keepdims=True)
        expected = row_l2(z @ ridge_map(x, z))
        assert np.allclose(views["links by device"], expected, atol=1e-4)
