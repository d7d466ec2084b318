"""The one type of a finished run, and predictions on other graphs."""

import gc
import json
import weakref
from dataclasses import replace
from pathlib import Path
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
from drgst.runs.config import RunConfig
from drgst.runs.result import Result
from drgst.runs.run import Run


def test_arrays_of_the_result(result: Result) -> None:
    """Those of its stage; training nodes are of stage 0, others of the stage of their first pseudo-label."""
    arrays, stage = result.model.arrays, result.stage
    np.testing.assert_array_equal(arrays["probabilities"], stage.probabilities)
    np.testing.assert_array_equal(arrays["gain"], stage.all_gain)
    assert (arrays["labeled_stage"][result.split.train] == 0).all()
    first = result.history[1].pseudo_labels.nodes
    assert (arrays["labeled_stage"][first] == 1).all()


def test_metrics_are_those_of_the_folder(result: Result, folder: Path) -> None:
    """Written once, computed once."""
    summary = json.loads((folder / "summary.json").read_text())
    assert {name: summary[name] for name in result.metrics} == result.metrics
    p, split, labels = result.probabilities, result.split, result.graph.labels
    assert result.metrics["test_accuracy"] == (p[split.test].argmax(axis=1) == labels[split.test]).mean()
    assert summary["epochs"] == sum(t.epochs for s in result.history.stages for t in s.trainings)


def test_hidden_labels_give_no_test_metric(result: Result) -> None:
    """As tuning does it: the labels of test nodes are not there at all."""
    run = result.run
    blind = Result.of(replace(run, graph=run.problem.graph), result.history, 0.0)
    assert blind.metrics["test_accuracy"] is None
    assert blind.metrics["val_accuracy"] == result.metrics["val_accuracy"]


def test_candidates_are_pool_nodes_whose_labels_the_run_was_not_given(town: Graph) -> None:
    """Never a training, validation or test node; nodes without any label do not displace those of hidden label."""
    split = RunConfig(per_class=3, seed=0, pool="all-but-validation").make_split(town)
    free = np.setdiff1d(split.pool, split.test)
    labels = town.labels.copy()
    labels[free[:5]] = -1
    run = Run.of(town.with_(labels=labels), RunConfig(recipe="label-propagation", seed=0), split)
    np.testing.assert_array_equal(run.execute().model.arrays["candidates"], free)


def test_a_result_does_not_keep_the_tensors_of_its_run(town: Graph, config: RunConfig) -> None:
    """They are released with the run."""
    run = Run.of(town, config)
    result = run.execute()
    inputs = weakref.ref(run.problem.inputs)
    del run
    gc.collect()
    assert inputs() is None
    assert result.graph is town


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


@pytest.mark.parametrize("recipe", ["drgst-plus", "drgst-de"])
def test_fitted_nodes_keep_the_predictions_of_the_run(recipe: str, tmp_path: Path) -> None:
    """New neighbours change some of them, which is no news on these nodes."""
    fitted(recipe).save(tmp_path)
    model = drgst.load_model(tmp_path)
    moved = model.predict_proba(WHOLE)
    assert np.abs(moved[:OLD] - model.probabilities_).max() > 1e-3
    found = model.model_.predict(WHOLE)
    np.testing.assert_array_equal(found.arrays["probabilities"][:OLD], model.probabilities_)
    np.testing.assert_array_equal(found.arrays["probabilities"][OLD:], moved[OLD:])
    changed = (moved[:OLD].argmax(axis=1) != model.probabilities_.argmax(axis=1)).sum()
    assert f"keep its predictions; with the new nodes, {changed} of them" in found.notes[0]
    others = model.model_.predict(WHOLE.with_(node_ids=np.arange(1000, 1090)))  # other nodes, though as many
    assert not others.notes


def test_a_model_of_another_version_of_its_recipe_says_so(tmp_path: Path) -> None:
    fitted("drgst-plus").save(tmp_path)
    facts, now = json.loads((tmp_path / "model.json").read_text(encoding="utf-8")), find_recipe("drgst-plus").version
    assert facts["version"] == now
    assert not drgst.load_model(tmp_path).model_.predict(WHOLE.with_(node_ids=np.arange(1000, 1090))).notes
    (tmp_path / "model.json").write_text(json.dumps(facts | {"version": now - 1}), encoding="utf-8")
    note = drgst.load_model(tmp_path).model_.predict(WHOLE).notes[0]
    assert note.startswith(f"the model is of version {now - 1} of drgst-plus, and this is version {now}")
