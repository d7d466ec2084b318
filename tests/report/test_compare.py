"""Two runs side by side: nodes are found by their ids, figures and settings are those of each run."""

from __future__ import annotations

import base64

import numpy as np

from drgst.datasets.synthetic import block_model
from drgst.graph.core import Graph, make_graph
from drgst.report.compare import comparison
from drgst.report.nodes import Sample
from drgst.runs.config import RunConfig
from drgst.runs.result import Result
from drgst.runs.run import Run


def made(graph: Graph, **settings: object) -> Result:
    return Run.of(graph, RunConfig(recipe="drgst-plus", seed=0, settings=settings)).execute()


def test_nodes_are_compared_by_id() -> None:
    graph = block_model(60, 160, seed=2, classes=2, features=12)
    labels = np.where(np.arange(60) < 20, graph.labels, -1)
    graph = graph.with_(labels=labels, splits=(), class_names=("a", "b"), node_ids=np.arange(60))
    order = np.arange(50)[::-1]
    near = graph.adjacency[order][:, order]
    part = make_graph(graph.features[order], near, labels[order], class_names=("a", "b"), node_ids=order)
    own, other = made(graph), made(part, stages=1)
    found = comparison(own, other, Sample.of(60, np.empty(0, dtype=np.int64), 0))
    predicted = np.frombuffer(base64.b64decode(found["label"]["data"]), dtype="<i2")
    place = {str(name): k for k, name in enumerate(other.node_ids)}
    for node, name in enumerate(own.node_ids):
        k = place.get(str(name), -1)
        assert predicted[node] == (-1 if k < 0 else other.probabilities[k].argmax())
    assert found["common"] == len(place)
    assert ["stages", "5", "1"] in [list(row) for row in found["settings"]]
    figures = {title: values for title, *values in found["figures"]}
    assert figures["training labels"] == ["20", f"{other.train.size}"]
    assert figures["predicted a"][0] == str((own.probabilities.argmax(axis=1) == 0).sum())
    assert "test accuracy" not in figures
