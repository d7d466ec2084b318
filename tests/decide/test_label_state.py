"""States of choosers from runs and graphs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from drgst.datasets.synthetic import block_model
from drgst.decide.label_state import (
    chooser_note,
    default_chooser,
    first_suggestions,
    known_classes,
    representation,
    trained_on,
)
from drgst.graph.split import random_split
from drgst.runs.config import RunConfig
from drgst.runs.run import Run
from drgst.selftrain.learners.multiview.views import Views

GRAPH = block_model(150, 500, seed=0, classes=3, features=40, words=6)


def test_known_classes() -> None:
    """A class without a training label is removed, and its validation nodes join the pool."""
    split = random_split(GRAPH, per_class=2, val=20, test=20, seed=0)
    lacking = replace(split, train=split.train[GRAPH.labels[split.train] != 1])
    graph, made, known = known_classes(GRAPH, lacking)
    assert known.tolist() == [0, 2]
    assert graph.num_classes == 2
    np.testing.assert_array_equal(graph.labels, np.select([GRAPH.labels == 0, GRAPH.labels == 2], [0, 1], -1))
    assert (GRAPH.labels[made.val] != 1).all()
    assert np.isin(split.val[GRAPH.labels[split.val] == 1], made.pool).all()
    assert known_classes(GRAPH, split)[0] is GRAPH


def test_representation_is_the_weighted_kernel() -> None:
    views = Views(GRAPH)
    weights = {"features": 0.75, "knn": 0.25, "hops": 0.01}
    z = representation(views, weights)
    kernel = 0.75 * views["features"] @ views["features"].T + 0.25 * views["knn"] @ views["knn"].T
    scale = np.linalg.norm(np.hstack([np.sqrt(w) * views[v] for v, w in list(weights.items())[:2]]), axis=1).mean()
    np.testing.assert_allclose(z @ z.T, kernel / scale**2, atol=1e-4)


def test_chooser_by_recipe() -> None:
    """A recipe without a measured chooser suggests a class-balanced random sample, and says so."""
    assert {default_chooser(name) for name in ("drgst-plus", "gcn", "drgst-de")} == {"typical-first"}
    assert default_chooser("own") == "balanced"
    assert "no chooser was measured" in chooser_note("own", "balanced")
    assert "above those of a random sample" in chooser_note("drgst-plus", "typical-first")
    assert chooser_note("drgst-plus", "margin").startswith("Chosen by margin")


def test_first_suggestions() -> None:
    found = first_suggestions(GRAPH.with_(labels=np.full(150, -1), splits=()), 6)
    assert len(set(found.nodes.tolist())) == 6
    assert "No label is known yet" in found.note
    assert all(words.startswith("represents") for words in found.reasons)


def test_a_result_suggests_candidates() -> None:
    split = random_split(GRAPH, per_class=3, val=20, test=20, seed=0)
    result = Run.of(GRAPH, RunConfig(recipe="drgst-plus", seed=0, settings={"stages": 1}), split).execute()
    for by in (None, "balanced", "margin"):
        found = result.suggest(7, by)
        assert np.isin(found.nodes, result.model.arrays["candidates"]).all()
        np.testing.assert_array_equal(found.nodes, result.suggest(7, by).nodes)


def test_validation_nodes_of_a_network_do_not_count_as_labelled() -> None:
    """Their labels stop the training; the model learns nothing from them."""
    split = random_split(GRAPH, per_class=3, val=20, test=20, seed=0)
    every = np.union1d(split.train, split.val)
    for recipe, settings, wanted in (("gcn", {"epochs": 5}, split.train), ("drgst-plus", {"stages": 1}, every)):
        result = Run.of(GRAPH, RunConfig(recipe=recipe, seed=0, settings=settings), split).execute()
        np.testing.assert_array_equal(trained_on(result), wanted)
