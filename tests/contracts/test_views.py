"""What every view of drgst-plus keeps to: what it fits is saved, and is applied to other graphs and to new nodes."""

import numpy as np
import pytest
import scipy.sparse as sp

from drgst.datasets.synthetic import block_model
from drgst.graph.core import Graph, make_graph
from drgst.graph.relation import Relation
from drgst.selftrain.views import shared
from drgst.selftrain.views.graph_views import VIEWS, Views
from drgst.selftrain.views.shared import ViewMaps

SHARED = tuple(
    Relation.of(name, np.random.default_rng(k).random((160, 30)) < 0.1) for k, name in enumerate(("device", "phone"))
)
WORDS = block_model(160, 600, seed=0, classes=3, features=60).with_(relations=SHARED)
AMOUNTS = WORDS.with_(features=np.random.default_rng(1).lognormal(3, 2, size=(160, 70)).astype(np.float32))
RELATED = [f"{kind} by {name}" for name in ("device", "all links") for kind in ("features", "links")]
EVERY = pytest.mark.parametrize("name", [*VIEWS, *RELATED])
KINDS = pytest.mark.parametrize("graph", [WORDS, AMOUNTS], ids=["words", "amounts"])


def part(graph: Graph, nodes: np.ndarray) -> Graph:
    """The subgraph of some nodes."""
    adjacency = graph.adjacency[nodes][:, nodes]
    made = make_graph(graph.features[nodes], adjacency, graph.labels[nodes], node_ids=graph.node_ids[nodes])
    return made.with_(relations=tuple(relation.rows(nodes) for relation in graph.relations))


def fitted(graph: Graph, name: str) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The representation, and what is saved with a model that uses this view alone."""
    views = Views(graph)
    return views[name], views.saved([name])


@pytest.fixture(autouse=True)
def few_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared, "MAX_COLUMNS", 40)  # fewer than features, so that every view is reduced


@EVERY
@KINDS
def test_rows_have_unit_length_at_most_and_no_label_is_read(graph: Graph, name: str) -> None:
    z, _ = fitted(graph, name)
    assert (np.linalg.norm(z, axis=1) <= 1 + 1e-5).all()
    np.testing.assert_array_equal(fitted(graph.with_(labels=np.full(160, -1)), name)[0], z)


@EVERY
@KINDS
def test_the_row_of_a_node_is_a_sum_over_the_rows_of_all_nodes(graph: Graph, name: str) -> None:
    views = Views(graph)
    z = views[name]
    for node in (0, 7, 159):
        terms = views.views[name].terms(views, node)
        np.testing.assert_allclose(sum(term.row @ term.weight for term in terms), z[node], atol=2e-4)


@EVERY
@KINDS
def test_the_fitted_graph_again(graph: Graph, name: str) -> None:
    z, saved = fitted(graph, name)
    again = Views(graph, ViewMaps(dict(saved)))
    assert again.carried_over([name]) == (name,)
    np.testing.assert_allclose(again[name], z, atol=1e-5)


@EVERY
@KINDS
def test_nothing_is_fitted_again_on_other_nodes(graph: Graph, name: str) -> None:
    """Of new nodes beside the fitted ones, and of new nodes alone where the view does not know nodes."""
    _, saved = fitted(part(graph, np.arange(120)), name)
    others = [graph] if Views(graph).views[name].of_nodes else [graph, part(graph, np.arange(120, 160))]
    for other in others:
        views = Views(other, ViewMaps(dict(saved)))
        assert np.isfinite(views[name]).all()
        assert views.maps.arrays.keys() == saved.keys()
        for array, before in saved.items():
            np.testing.assert_array_equal(views.maps.arrays[array], before)


@EVERY
def test_a_graph_that_lacks_what_a_view_needs_does_not_allow_it(name: str) -> None:
    bare = WORDS.with_(adjacency=sp.csr_array((160, 160), dtype=np.float32))
    plain = WORDS.with_(features=sp.csr_array((160, 0), dtype=np.float32))
    view = Views(WORDS).views[name]
    assert (name in Views(bare).available) == (not view.needs_edges)
    assert (name in Views(plain).available) == (not view.needs_features)
    assert (name in Views(WORDS.with_(relations=())).available) == (name not in RELATED)


def test_whether_features_are_used_is_decided_on_the_fitted_graph() -> None:
    """One new node alone, whose features tell it apart from no other, is represented as beside other nodes."""
    z, saved = fitted(AMOUNTS, "features")
    alone = Views(part(AMOUNTS, np.array([7])), ViewMaps(dict(saved)))
    assert alone.carried_over(["features"]) == ("features",)
    np.testing.assert_allclose(alone["features"], z[[7]], atol=1e-5)


def test_a_model_of_very_many_nodes_leaves_out_vectors_of_nodes_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared, "MAPPED_NODES", 100)
    monkeypatch.setattr(shared, "WIDE_NODES", 100)
    saved = {name: fitted(WORDS, name)[1] for name in ("features", "structure", "neighbours")}
    assert "features.vectors" in saved["features"]
    assert "structure.vectors" not in saved["structure"]
    assert "neighbours.vectors" not in saved["neighbours"]
