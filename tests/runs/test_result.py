"""A finished run: arrays, candidates, what is kept in memory."""

from __future__ import annotations

import gc
import json
import weakref
from dataclasses import replace
from pathlib import Path

import numpy as np

from drgst.graph.core import Graph
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
