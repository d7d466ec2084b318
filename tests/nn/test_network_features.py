"""What a network is given on graphs without features or with raw amounts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import drgst
from drgst.errors import RunError
from drgst.graph.core import Graph, make_graph
from drgst.nn.inputs import describe_features, network_columns, network_features, scaled
from drgst.transforms.rank_normalise import rank_scores
from drgst.transforms.structure import COLUMNS


@pytest.fixture(scope="module")
def karate() -> Graph:
    """The karate club: two groups, no features; two known members of each."""
    club = nx.karate_club_graph()
    groups = np.array([club.nodes[v]["club"] == "Officer" for v in club], dtype=np.int64)
    graph = make_graph(None, nx.to_scipy_sparse_array(club), groups, name="karate")
    known = [0, 1, 32, 33]
    return graph.with_(splits=(drgst.Split.of(known, [], np.setdiff1d(np.arange(34), known), 34),))


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
    ring = np.roll(np.eye(len(x)), 1, axis=1)
    return make_graph(x, ring + ring.T, np.arange(len(x)) % 2)


def test_raw_amounts_are_ranked_and_others_scaled_as_before() -> None:
    rng = np.random.default_rng(0)
    amounts = np.column_stack([rng.lognormal(8, 2, 40), rng.integers(18, 90, 40), rng.random(40)])
    graph = graph_with(amounts)
    np.testing.assert_array_equal(network_features(graph, "auto"), rank_scores(graph.features))
    assert "raw amounts" in describe_features(graph, "auto")
    lone = graph_with(rng.lognormal(8, 2, (40, 1)))
    assert np.unique(network_features(lone, "auto")).size == 40
    np.testing.assert_allclose(network_features(lone, "l1"), 1, rtol=1e-6)
    for x in (rng.normal(size=(40, 5)), (rng.random((40, 30)) < 0.1).astype(float), np.eye(40)):
        same = graph_with(x)
        np.testing.assert_array_equal(network_features(same, "auto"), scaled(same.features, "auto"))
        assert describe_features(same, "auto") == ""
        assert network_columns(same, "auto") == x.shape[1]


def test_constant_features_are_none() -> None:
    for x in (np.ones((40, 2)), np.zeros((40, 3)), np.empty((40, 0))):
        graph = graph_with(x)
        assert network_features(graph, "auto").shape == (40, COLUMNS)
        assert network_columns(graph, "auto") == COLUMNS
        assert network_features(graph, "l1").shape == x.shape


def test_an_edited_number_of_columns_is_refused(karate: Graph, tmp_path: Path) -> None:
    drgst.SelfTraining("gcn", {"epochs": 3}).fit(karate).save(str(tmp_path))
    path = tmp_path / "model.json"
    path.write_text(path.read_text().replace(f'"input_features": {COLUMNS}', '"input_features": 7'))
    with pytest.raises(RunError, match="do not fit its settings"):
        drgst.load_model(str(tmp_path))
