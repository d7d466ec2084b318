"""What a page leaves out, and that it says so."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from drgst.report import sampling
from drgst.report.sampling import NODES, neighbours, take_sample


def test_all_of_a_small_run() -> None:
    """Nothing is left out and nothing is said."""
    sample = take_sample(100, 3, 1, np.array([5]), seed=0)
    assert sample.nodes.tolist() == list(range(100))
    assert sample.stages == [0, 1, 2]
    assert sample.notes == []


def test_large_graph_keeps_what_it_must() -> None:
    """As many nodes as the bound, sorted, with the labelled ones; the page says so."""
    must = np.array([3, 49_999, 7])
    sample = take_sample(50_000, 3, 2, must, seed=0)
    assert sample.nodes.size == NODES
    assert (np.diff(sample.nodes) > 0).all()
    assert np.isin(must, sample.nodes).all()
    assert "20,000 of 50,000 nodes" in sample.notes[0]


def test_many_stages_keep_first_last_and_result() -> None:
    """Of 200 stages of a large graph a few are held, never without the result."""
    sample = take_sample(NODES, 200, 77, np.array([0]), seed=0)
    assert {0, 77, 199} <= set(sample.stages)
    assert len(sample.stages) < 15
    assert "of 200 stages" in sample.notes[0]


def test_neighbours_are_renumbered() -> None:
    """The edge 2-4 of the graph is the edge 0-1 among nodes 2 and 4."""
    adjacency = sp.csr_array(np.array([[0, 1, 0, 0, 0], [1, 0, 1, 0, 0], [0, 1, 0, 0, 1], [0] * 5, [0, 0, 1, 0, 0]]))
    indptr, indices, notes = neighbours(adjacency, np.array([2, 4]))
    assert (indptr.tolist(), indices.tolist(), notes) == ([0, 1, 2], [1, 0], [])


def test_heaviest_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Above the bound the heaviest edges stay, and the page says so."""
    monkeypatch.setattr(sampling, "EDGES", 3)
    monkeypatch.setattr(sampling, "NEIGHBOURS", 1)
    adjacency = sp.csr_array(np.array([[0, 1, 5], [1, 0, 2], [5, 2, 0]], dtype=float))
    indptr, indices, notes = neighbours(adjacency, np.arange(3))
    assert (indptr.tolist(), indices.tolist()) == ([0, 1, 2, 3], [2, 2, 0])
    assert "At most 1 neighbours" in notes[0]
