"""The data of a page are those of the run, as strict JSON."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from drgst.estimator import SelfTraining
from drgst.files import plain
from drgst.graph.core import make_graph
from drgst.graph.split import Split
from drgst.report.data import page_data
from drgst.report.packing import WHOLE, unpack
from drgst.report.stages import threshold_of
from drgst.runs.result import Result
from drgst.selftrain.slots.select import ClusterChecked, Nothing, Threshold, TopPerClass


def test_json_without_nan(data: dict[str, Any]) -> None:
    """No NaN, no infinity."""
    assert json.loads(json.dumps(data, allow_nan=False))["format"] == 2


def test_predictions_are_those_of_the_stages(result: Result, data: dict[str, Any]) -> None:
    """Likeliest class, its probability and the gain of every node in every stage."""
    best, share, gain = (unpack(data["nodes"][key]) for key in ("top", "share", "gain"))
    for s, stage in enumerate(result.history.stages):
        np.testing.assert_array_equal(best[s, :, 0], stage.predictions)
        np.testing.assert_allclose(share[s, :, 0] / WHOLE, stage.probabilities.max(axis=1), atol=1e-5)
        np.testing.assert_allclose(gain[s], stage.all_gain, rtol=1e-6)


def test_pseudo_labels(result: Result, data: dict[str, Any]) -> None:
    """The pseudo-labelled nodes of each stage with label and weight."""
    for stage, packed in zip(result.history.stages, data["nodes"]["pseudo_labels"], strict=True):
        np.testing.assert_array_equal(unpack(packed["node"]), stage.pseudo_labels.nodes)
        np.testing.assert_array_equal(unpack(packed["label"]), stage.pseudo_labels.labels)
        np.testing.assert_allclose(unpack(packed["weight"]), stage.weights, rtol=1e-6)


def test_roles_and_neighbours(result: Result, data: dict[str, Any]) -> None:
    """Parts of the split by name; edges as in the graph."""
    role = unpack(data["nodes"]["role"])
    assert (role[result.split.train] == data["roles"].index("training")).all()
    assert (role[result.split.test] == data["roles"].index("test")).all()
    np.testing.assert_array_equal(unpack(data["nodes"]["neighbours"]), result.graph.adjacency.indices)


def test_stages_and_settings(result: Result, data: dict[str, Any]) -> None:
    """T, curves, the result, settings and versions are there."""
    student = data["stages"][1]
    np.testing.assert_allclose(student["transition"], result.history[1].transition, atol=1e-5)
    assert sum(map(sum, student["pseudo"])) == result.history[1].pseudo_labels.nodes.size
    assert len(student["trainings"][0]["train"]) == len(student["trainings"][0]["at"])
    assert [stage["result"] for stage in data["stages"]].count(True) == 1
    tables = {title: dict(rows) for title, rows in data["facts"]["tables"]}
    assert tables["Settings"]["threshold"] == "0.6"
    assert "drgst" in tables["Versions"]
    assert tables["Run"]["pool"] == f"{result.split.pool.size:,} nodes"
    assert data["facts"]["command"] == "command"


def test_plain() -> None:
    """NaN and infinity are None, however deep."""
    assert plain({"a": [float("nan"), (1.0, float("inf"))]}) == {"a": [None, [1.0, None]]}


def test_threshold_of_parts() -> None:
    """The threshold of the part, or of a part within it, or None."""
    assert threshold_of(Threshold(0.7)) == 0.7
    assert threshold_of(ClusterChecked(Threshold(0.4))) == 0.4
    assert threshold_of(TopPerClass(5)) is None
    assert threshold_of(Nothing()) is None


def test_reasons_are_those_of_the_explanation(result: Result) -> None:
    node = 5
    explained = result.explain(result.node_ids[node])
    reasons = page_data(result, "command", [explained])["reasons"]
    assert list(reasons) == [str(node)]
    names = [row["name"] for row in reasons[str(node)]["rows"]]
    assert names[0] == explained.of_kind("feature")[0].name
    assert reasons[str(node)]["label"] == explained.label


def test_out_of_fold_figures_where_the_run_has_them(data: dict[str, Any]) -> None:
    assert "oof_accuracy" not in data
    labels = np.array([0] * 60 + [1] * 4 + [0] * 136)
    features = np.eye(2)[labels] + np.random.default_rng(0).normal(scale=0.1, size=(200, 2))
    graph = make_graph(features, np.zeros((200, 200)), labels, class_names=["ok", "fraud"])
    split = Split.of(np.arange(54, 64), [], [], 200)
    fitted = SelfTraining("logistic-ppr", {"calibrate": "crossfit"}, prior={"fraud": 0.02}).fit(graph, split)
    found = page_data(fitted.result_, "command")
    assert found["oof_accuracy"] == 1
    assert found["average_precision"] == {"fraud": 1}
