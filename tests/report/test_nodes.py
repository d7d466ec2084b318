"""The nodes of a page: packed arrays, and what a page of a large run leaves out."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from drgst.report import nodes
from drgst.report.nodes import KINDS, NODES, WHOLE, Sample, neighbours, pack, pack_shares, shown_stages
from drgst.runs.result import Result


def unpack(packed: dict[str, Any]) -> np.ndarray:
    """The array that was packed; shares stay whole numbers out of 65,535."""
    data = np.frombuffer(base64.b64decode(packed["data"]), dtype=KINDS[packed["kind"]])
    return data.reshape(packed["shape"])


@pytest.mark.parametrize(
    ("values", "kind"), [([0, 255], "u1"), ([-1, 7], "i2"), ([[1.5, np.nan]], "f4"), ([70_000], "u4")]
)
def test_round_trip(values: list[float], kind: str) -> None:
    """Shape and values stay, NaN too."""
    again = unpack(pack(values, kind))
    np.testing.assert_array_equal(again, np.array(values))
    assert again.shape == np.array(values).shape


def test_shares_keep_five_digits() -> None:
    """Rounding is at most half of 1/65,535, and what is outside is put on the edge."""
    values = np.random.default_rng(0).random(1000)
    assert np.abs(unpack(pack_shares(values)) / WHOLE - values).max() <= 0.5 / WHOLE + 1e-12
    assert unpack(pack_shares(np.array([-0.1, 1.1]))).tolist() == [0, WHOLE]


def test_predictions_are_those_of_the_stages(result: Result, data: dict[str, Any]) -> None:
    """Likeliest class, its probability and the gain of every node in every stage."""
    best, share, gain = (unpack(data["model"]["nodes"][key]) for key in ("top", "share", "gain"))
    for s, stage in enumerate(result.history.stages):
        np.testing.assert_array_equal(best[s, :, 0], stage.predictions)
        np.testing.assert_allclose(share[s, :, 0] / WHOLE, stage.probabilities.max(axis=1), atol=1e-5)
        np.testing.assert_allclose(gain[s], stage.all_gain, rtol=1e-6)


def test_pseudo_labels(result: Result, data: dict[str, Any]) -> None:
    """The pseudo-labelled nodes of each stage with label and weight."""
    for stage, packed in zip(result.history.stages, data["model"]["nodes"]["pseudo_labels"], strict=True):
        np.testing.assert_array_equal(unpack(packed["node"]), stage.pseudo_labels.nodes)
        np.testing.assert_array_equal(unpack(packed["label"]), stage.pseudo_labels.labels)
        np.testing.assert_allclose(unpack(packed["weight"]), stage.weights, rtol=1e-6)


def test_roles_and_neighbours(result: Result, data: dict[str, Any]) -> None:
    """Parts of the split by name; edges as in the graph."""
    role = unpack(data["model"]["nodes"]["role"])
    assert (role[result.split.train] == data["model"]["roles"].index("training")).all()
    assert (role[result.split.test] == data["model"]["roles"].index("test")).all()
    np.testing.assert_array_equal(unpack(data["nodes"]["neighbours"]), result.graph.adjacency.indices)


def test_given_labels_are_apart_from_the_truth(result: Result, data: dict[str, Any]) -> None:
    """A label that the run was given is never counted as truth that it met."""
    given, truth = (unpack(data["model"]["nodes"][key]) for key in ("given", "truth"))
    shown = np.concatenate([result.split.train, result.split.val])
    np.testing.assert_array_equal(given[shown], result.graph.labels[shown])
    assert (truth[shown] == -1).all()
    np.testing.assert_array_equal(truth[result.split.test], result.graph.labels[result.split.test])


def test_all_of_a_small_run() -> None:
    """Nothing is left out and nothing is said."""
    sample = Sample.of(100, np.array([5]), seed=0)
    assert sample.nodes.tolist() == list(range(100))
    assert sample.notes == []
    assert sample.places([3, 99]) == [3, 99]
    assert shown_stages(100, 3, 1) == [0, 1, 2]


def test_large_graph_keeps_what_it_must() -> None:
    """As many nodes as the bound, sorted, with the labelled ones; the page says so."""
    must = np.array([3, 249_999, 7])
    sample = Sample.of(250_000, must, seed=0)
    assert sample.nodes.size == NODES
    assert (np.diff(sample.nodes) > 0).all()
    assert np.isin(must, sample.nodes).all()
    assert sample.nodes[sample.places(must)].tolist() == must.tolist()
    assert "100,000 of 250,000 nodes" in sample.notes[0]


def test_many_stages_keep_first_last_and_result() -> None:
    """Of 200 stages of a large graph a few are held, never without the result."""
    stages = shown_stages(NODES, 200, 77)
    assert {0, 77, 199} <= set(stages)
    assert len(stages) < 15


def test_neighbours_are_renumbered() -> None:
    """The edge 2-4 of the graph is the edge 0-1 among nodes 2 and 4."""
    adjacency = sp.csr_array(np.array([[0, 1, 0, 0, 0], [1, 0, 1, 0, 0], [0, 1, 0, 0, 1], [0] * 5, [0, 0, 1, 0, 0]]))
    indptr, indices, notes = neighbours(adjacency, np.array([2, 4]))
    assert (indptr.tolist(), indices.tolist(), notes) == ([0, 1, 2], [1, 0], [])


def test_heaviest_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Above the bound the heaviest edges stay, and the page says so."""
    monkeypatch.setattr(nodes, "EDGES", 3)
    monkeypatch.setattr(nodes, "NEIGHBOURS", 1)
    adjacency = sp.csr_array(np.array([[0, 1, 5], [1, 0, 2], [5, 2, 0]], dtype=float))
    indptr, indices, notes = neighbours(adjacency, np.arange(3))
    assert (indptr.tolist(), indices.tolist()) == ([0, 1, 2, 3], [2, 2, 0])
    assert "At most 1 neighbours" in notes[0]
