"""The choice of drgst-plus: shares, the floor, the pool and nothing else; weights by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from drgst.selftrain.beliefs import Beliefs, PseudoLabels
from drgst.selftrain.select.top_share import Anchored, TopShare


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


def test_what_is_trusted_is_not_chosen_again(beliefs: Beliefs) -> None:
    first = TopShare()(beliefs)
    second = TopShare()(replace(beliefs, kept=first))
    assert not np.isin(second.nodes, first.nodes).any()


def test_an_empty_pool(worlds: Any) -> None:
    world = worlds(nodes=39)  # 9 + 15 + 15
    problem = world.problem()
    assert problem.split.pool.size == 0
    empty = Beliefs(np.zeros((39, 3)), problem.graph, problem.split, 0, np.zeros((39, 2)), np.zeros(39))
    assert TopShare()(empty).nodes.size == 0


def test_anchored_by_hand(beliefs: Beliefs) -> None:
    """Gains 1 and 3 of mean 2: ½ + ½ · ½ and ½ + ½ · 1½; nine true labels share 0.3 of their sum of 2."""
    gain = np.zeros(60, dtype=np.float32)
    nodes = beliefs.split.pool[:2]
    gain[nodes] = [1, 3]
    weights = Anchored()(replace(beliefs, gain=gain), PseudoLabels(nodes, np.array([0, 1])))
    np.testing.assert_allclose(weights.pseudo, [0.75, 1.25])
    np.testing.assert_allclose(weights.true, np.full(9, 0.3 * 2 / 9))


def test_anchored_without_gain_or_where_no_reader_differs(beliefs: Beliefs) -> None:
    nodes = beliefs.split.pool[:6]
    pseudo = PseudoLabels(nodes, np.zeros(6, dtype=np.int64))
    alike = Anchored(share=0.5, gain=0)(beliefs, pseudo)
    np.testing.assert_allclose(alike.pseudo, 1)
    np.testing.assert_allclose(alike.true, 0.5 * 6 / 9)
    still = Anchored()(replace(beliefs, gain=np.zeros(60, dtype=np.float32)), pseudo)
    np.testing.assert_allclose(still.pseudo, 1)
