"""Predictions for new nodes that join the graph of a run, by every recipe."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import drgst
from drgst.datasets.synthetic import block_model
from drgst.graph.core import Graph
from drgst.graph.split import Split
from drgst.recipes import find_recipe
from drgst.recipes.registry import recipe_names

WHOLE = block_model(90, 300, seed=0, classes=3, features=20)
OLD = 70


def first(graph: Graph, nodes: int) -> Graph:
    """The first nodes of a graph and the edges among them."""
    inside = {"features": graph.features[:nodes], "adjacency": sp.csr_array(graph.adjacency[:nodes][:, :nodes])}
    return graph.with_(**inside, labels=graph.labels[:nodes], node_ids=graph.node_ids[:nodes], splits=())


def fitted(recipe: str) -> Any:
    graph = first(WHOLE, OLD)
    train = np.concatenate([np.flatnonzero(graph.labels == c)[:4] for c in range(3)])
    val = np.setdiff1d(np.arange(40), train)
    names = find_recipe(recipe).settings().names
    quick = {k: v for k, v in {"epochs": 3, "stages": 1, "samples": 5, "threshold": 0.4}.items() if k in names}
    return drgst.SelfTraining(recipe, quick).fit(graph, split=Split.of(train, val, [], OLD))


@pytest.mark.parametrize("recipe", recipe_names())
def test_new_nodes_join_the_old_ones(recipe: str) -> None:
    """The fitted nodes with new ones beside them: all are predicted."""
    model = fitted(recipe)
    p = model.predict_proba(WHOLE)
    assert p.shape == (90, 3)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-5)
    new = np.arange(OLD, 90)
    assert np.ptp(p[new], axis=0).max() > 0  # new nodes differ by their features and edges


def test_fitted_nodes_keep_the_predictions_of_the_run() -> None:
    """New neighbours change some of them, which is no news on these nodes."""
    model = fitted("drgst-plus")
    moved = model.predict_proba(WHOLE)
    assert np.abs(moved[:OLD] - model.probabilities_).max() > 1e-3
    found = model.model_.predict(WHOLE)
    np.testing.assert_array_equal(found.arrays["probabilities"][:OLD], model.probabilities_)
    np.testing.assert_array_equal(found.arrays["probabilities"][OLD:], moved[OLD:])
    changed = (moved[:OLD].argmax(axis=1) != model.probabilities_.argmax(axis=1)).sum()
    assert f"keep its predictions; beside the new nodes {changed} of them" in found.notes[0]
    others = model.model_.predict(WHOLE.with_(node_ids=np.arange(1000, 1090)))  # other nodes, though as many
    assert not others.notes
