"""Graphs as tensors, and what a network is given on graphs without features or with raw amounts."""

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch

import drgst
from drgst.errors import RunError, SettingError
from drgst.graph.core import Graph, make_graph
from drgst.nn.inputs import NOTES, InputFeatures, make_inputs, network_columns, open_device, scaled
from drgst.nn.ops.sparse import SparseMatrix
from drgst.transforms.rank_normalise import RankTable
from drgst.transforms.structure import COLUMNS


def test_rows_are_scaled() -> None:
    x = np.array([[1.0, 3.0], [0.0, 0.0], [0.0, 2.0]], dtype=np.float32)
    np.testing.assert_allclose(scaled(x, "l1"), [[0.25, 0.75], [0, 0], [0, 1]], rtol=1e-6)
    np.testing.assert_allclose(scaled(x, "l2"), [[1 / 10**0.5, 3 / 10**0.5], [0, 0], [0, 1]], rtol=1e-6)
    assert scaled(x, "none") is x


def test_an_unknown_normalisation_is_refused(graph: Graph) -> None:
    with pytest.raises(SettingError, match="normalise is 'max'"):
        make_inputs(graph, normalise="max")


def test_sparse_features_stay_sparse_and_full_ones_become_dense(graph: Graph) -> None:
    assert isinstance(make_inputs(graph).x, SparseMatrix)
    full = make_inputs(graph.with_(features=sp.csr_array(np.ones((6, 4), dtype=np.float32))))
    assert isinstance(full.x, torch.Tensor)
    assert full.x.dtype == torch.float32


@pytest.mark.parametrize("dense", [False, True])
def test_restriction_keeps_rows_and_places(graph: Graph, dense: bool) -> None:
    whole = make_inputs(graph.with_(features=graph.features.toarray()) if dense else graph)
    assert isinstance(whole.x, torch.Tensor) is dense
    part = whole.restrict(np.array([1, 2, 4])).restrict(np.array([0, 2]))
    assert part.nodes.tolist() == [1, 4]
    rows, all_rows = (i.x.numpy() if dense else i.x.scipy.toarray() for i in (part, whole))
    assert np.array_equal(rows, all_rows[[1, 4]])


def test_training_never_writes_into_the_graph() -> None:
    features = np.ones((2, 2), dtype=np.float32)
    graph = make_graph(features, np.array([[0, 1], [1, 0]]), np.array([0, 1]))
    inputs = make_inputs(graph, normalise="none")
    inputs.x.mul_(5)
    assert np.array_equal(graph.features, features)


def test_devices() -> None:
    assert open_device("cpu") == torch.device("cpu")
    assert open_device("auto").type in ("cpu", "cuda", "mps")
    for wrong in ("tpu9", "cuda:77", "meta"):
        with pytest.raises(SettingError, match=f"device {wrong} can't be used here"):
            open_device(wrong)


@pytest.fixture(scope="module")
def karate() -> Graph:
    """The karate club: two groups, no features; two known members of each."""
    club = nx.karate_club_graph()
    groups = np.array([club.nodes[v]["club"] == "Officer" for v in club], dtype=np.int64)
    graph = make_graph(None, nx.to_scipy_sparse_array(club), groups, name="karate")
    known = [0, 1, 32, 33]
    split = drgst.Split.of(known, [], np.setdiff1d(np.arange(34), known), 34)
    return graph.with_(splits=(split.with_pool("all-but-validation", 34),))


@pytest.mark.parametrize("order", [0, 1, 2])
def test_one_known_member_of_each_group(karate: Graph, order: int) -> None:
    """More singular vectors than half of the nodes would make edges look as if neighbours were not alike."""
    nodes = np.random.default_rng(order).permutation(34)
    graph = make_graph(None, karate.adjacency[nodes][:, nodes], karate.labels[nodes])
    split = drgst.Split.of(np.flatnonzero(np.isin(nodes, [0, 33])), [], [], 34)
    assert (drgst.SelfTraining("drgst-plus").fit(graph, split).predict() == graph.labels).sum() >= 30


@pytest.mark.parametrize("recipe", ["gcn", "drgst-de"])
def test_the_karate_club(karate: Graph, recipe: str, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"epochs": 100, **({"samples": 5, "stages": 1} if recipe == "drgst-de" else {})}
    model = drgst.SelfTraining(recipe, settings).fit(karate)
    assert model.score() > 0.9
    assert "structural" in model.history_[0].note
    model.save(str(tmp_path))
    loaded = drgst.load_model(str(tmp_path))
    np.testing.assert_array_equal(loaded.predict_proba(karate), model.predict_proba(karate))
    assert (loaded.predict(karate) == model.predict()).all()
    off = drgst.SelfTraining(recipe, {**settings, "normalise": "none"}).fit(karate)
    assert off.score() < 0.7


def graph_with(x: Any) -> Graph:
    ring = np.roll(np.eye(x.shape[0]), 1, axis=1)
    return make_graph(x, ring + ring.T, np.arange(x.shape[0]) % 2)


def network_features(graph: Graph, normalise: str) -> Any:
    return InputFeatures.fit(graph, normalise)(graph)


def test_raw_amounts_are_ranked_and_others_scaled_by_their_rows() -> None:
    rng = np.random.default_rng(0)
    amounts = np.column_stack([rng.lognormal(8, 2, 40), rng.integers(18, 90, 40), rng.random(40)])
    graph = graph_with(amounts)
    np.testing.assert_array_equal(network_features(graph, "auto"), RankTable.fit(graph.features)(graph.features))
    assert "raw amounts" in NOTES[InputFeatures.fit(graph, "auto").kind]
    lone = graph_with(rng.lognormal(8, 2, (40, 1)))
    assert np.unique(network_features(lone, "auto")).size == 40
    np.testing.assert_allclose(network_features(lone, "l1"), 1, rtol=1e-6)
    words = (rng.random((40, 300)) < 0.1).astype(float)
    frequent = (rng.random((40, 60)) < 0.8).astype(float)  # as in amazon_cs
    shares = np.column_stack([frequent[:, 0], 0.5 + 0.5 * rng.random((40, 9))])  # as in tolokers
    uneven = words * (rng.random((40, 1)) < 0.5)
    cases = [(x, "l2") for x in (words, 3 * words, frequent, shares, rng.normal(size=(40, 5)), np.eye(40))]
    for x, kind in [*cases, (uneven, "none"), (5 * uneven, "none")]:
        same = graph_with(x)
        np.testing.assert_array_equal(network_features(same, "auto"), scaled(same.features, kind))
        assert InputFeatures.fit(same, "auto").kind == kind
        assert network_columns(same, "auto") == x.shape[1]


def test_constant_features_are_none() -> None:
    for x in (np.ones((40, 2)), np.zeros((40, 3)), np.empty((40, 0))):
        graph = graph_with(x)
        assert network_features(graph, "auto").shape == (40, COLUMNS)
        assert network_columns(graph, "auto") == COLUMNS
        assert network_features(graph, "l1").shape == x.shape


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_another_graph_gets_the_ranks_of_the_fitted_one(kind: Any) -> None:
    """A value has the score that it had in the fitted graph, whatever the other values are; also after a round trip."""
    rng = np.random.default_rng(0)
    amounts = np.column_stack(
        [rng.lognormal(8, 2, 40), rng.integers(18, 90, 40), rng.random(40) * (rng.random(40) < 0.3)]
    )
    graph = graph_with(kind(amounts))
    fitted = InputFeatures.fit(graph, "auto")
    whole = fitted(graph)
    again, part = InputFeatures.of_state(fitted.state, "auto"), graph_with(kind(amounts[5:9]))
    for features in (fitted, again):
        np.testing.assert_array_equal(features(graph), whole)
        np.testing.assert_array_equal(features(part), whole[5:9])
    assert np.abs(InputFeatures.fit(part, "auto")(part) - whole[5:9]).max() > 0.1


def test_a_saved_network_predicts_a_part_of_the_graph_with_the_ranks_of_the_whole(tmp_path: Path) -> None:
    """Two equal halves without an edge between them: each is predicted alone as it is in the whole."""
    rng = np.random.default_rng(0)
    labels = np.arange(60) % 2
    x = np.column_stack([rng.lognormal(8, 2, 60) * (1 + 9 * labels), rng.integers(18, 90, 60)])
    x[30:] *= 5
    ring = np.roll(np.eye(30), 2, axis=1)
    graph = make_graph(x, np.kron(np.eye(2), ring + ring.T), labels)
    model = drgst.SelfTraining("gcn", {"epochs": 30}).fit(graph, drgst.random_split(graph, per_class=5, seed=0))
    model.save(str(tmp_path))
    half = make_graph(x[30:], ring + ring.T, labels[30:])
    for found in (model, drgst.load_model(str(tmp_path))):
        np.testing.assert_allclose(found.predict_proba(graph), model.probabilities_, atol=1e-6)
        np.testing.assert_allclose(found.predict_proba(half), model.probabilities_[30:], atol=1e-5)


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({}, "earlier version"),
        ({"kind": [3, 1, 5]}, "fit it again"),
        ({"kind": [9]}, "damaged"),
        ({"kind": []}, "damaged"),
    ],
)
def test_features_of_a_damaged_model_or_an_earlier_version_are_refused(state: dict[str, Any], message: str) -> None:
    with pytest.raises(RunError, match=message):
        InputFeatures.of_state({f"features:{name}": np.array(value) for name, value in state.items()}, "auto")
    assert InputFeatures.of_state({}, "none").kind == "none"
