"""A share of the pool: shares, the floor, and candidates alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from drgst.selftrain.beliefs import Beliefs
from drgst.selftrain.select.top_share import TopShare


@pytest.mark.parametrize(("stage", "share"), [(1, 0.4), (2, 0.6), (3, 0.7), (4, 0.7), (9, 0.7)])
def test_the_share_of_a_stage(beliefs: Beliefs, stage: int, share: float) -> None:
    pseudo = TopShare(floor=0)(replace(beliefs, next_stage=stage))
    pool = beliefs.split.pool
    assert pseudo.nodes.size == int(share * pool.size)
    assert np.isin(pseudo.nodes, pool).all()
    left = np.setdiff1d(pool, pseudo.nodes)
    assert beliefs.confidence[pseudo.nodes].min() >= beliefs.confidence[left].max()
    np.testing.assert_array_equal(pseudo.labels, beliefs.predictions[pseudo.nodes])


def test_no_class_is_starved(beliefs: Beliefs) -> None:
    """Class 0 is predicted with the least confidence of all; with a floor it still gives its part."""
    pool = beliefs.split.pool
    logits = np.zeros((60, 3))
    logits[np.arange(60), 1] = 5.0
    timid = pool[:10]
    logits[timid] = [0.1, 0.0, 0.0]
    seen = replace(beliefs, logits=logits)
    assert not np.isin(TopShare(floor=0)(seen).nodes, timid).any()
    pseudo = TopShare(floor=0.75)(seen)
    assert np.isin(timid, pseudo.nodes).sum() == int(0.75 * 0.4 * 10)
    assert np.isin(pseudo.nodes, pool).all()
    assert np.unique(pseudo.nodes).size == pseudo.nodes.size


def test_excluded_nodes_are_no_candidates(beliefs: Beliefs) -> None:
    first = TopShare()(beliefs)
    second = TopShare()(replace(beliefs, excluded=first.nodes))
    assert not np.isin(second.nodes, first.nodes).any()


def test_of_a_large_pool_every_kth_node(beliefs: Beliefs) -> None:
    pool = beliefs.split.pool
    few = -(-pool.size // 3)
    pseudo = TopShare(floor=0, most=few)(beliefs)
    assert np.isin(pseudo.nodes, pool[::3]).all()
    assert pseudo.nodes.size == int(0.4 * pool[::3].size)


def test_an_empty_pool(worlds: Any) -> None:
    world = worlds(nodes=39)  # 9 + 15 + 15
    problem = world.problem()
    assert problem.split.pool.size == 0
    empty = Beliefs(np.zeros((39, 3)), problem.graph, problem.split, 0, np.zeros((39, 2)), np.zeros(39))
    assert TopShare()(empty).nodes.size == 0
