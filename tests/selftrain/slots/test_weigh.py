"""Weights by hand: uniform, by information gain, as the published program weighs, and anchored."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from drgst.selftrain.beliefs import Beliefs, PseudoLabels
from drgst.selftrain.slots.select import Threshold
from drgst.selftrain.slots.weigh import Anchored, InformationGain, Uniform


def test_uniform(beliefs) -> None:
    weights = Uniform()(beliefs, Threshold(0.5)(beliefs))
    np.testing.assert_array_equal(weights.true, np.ones(9))
    assert (weights.pseudo == 1).all()


@pytest.mark.parametrize("beta", [0.25, 1.0])
def test_information_gain_on_the_pseudo_labelled_only(beliefs, beta: float) -> None:
    """Mean over S_U alone: the gains of other nodes do not matter."""
    pseudo = Threshold(0.5)(beliefs)
    weights = InformationGain(beta)(beliefs, pseudo)
    np.testing.assert_array_equal(weights.true, np.ones(9))
    mine = beliefs.gain[pseudo.nodes].astype(np.float64)
    np.testing.assert_allclose(weights.pseudo, mine / (beta * mine.mean()), rtol=1e-6)
    others = beliefs.gain.copy()
    others[np.setdiff1d(np.arange(60), pseudo.nodes)] = 77.0
    again = InformationGain(beta)(replace(beliefs, gain=others), pseudo)
    np.testing.assert_array_equal(again.pseudo, weights.pseudo)


def test_as_released_on_true_and_pseudo_labels_alike(beliefs) -> None:
    pseudo = Threshold(0.5)(beliefs)
    weights = InformationGain(0.5, over_true=True)(beliefs, pseudo)
    both = np.concatenate([weights.true, weights.pseudo])
    assert both.mean() == pytest.approx(2.0)
    gain = beliefs.gain[np.concatenate([beliefs.split.train, pseudo.nodes])] + 1e-6
    np.testing.assert_allclose(both, gain / (0.5 * gain.mean()), rtol=1e-5)


@pytest.mark.parametrize("over_true", [False, True])
def test_all_gains_zero(beliefs, over_true: bool) -> None:
    """Nothing to tell the nodes apart: all count 1/β, none is lost and nothing is NaN."""
    flat = replace(beliefs, gain=np.zeros(60, dtype=np.float32))
    weights = InformationGain(0.5, over_true)(flat, Threshold(0.5)(flat))
    np.testing.assert_allclose(weights.pseudo, 2.0)
    np.testing.assert_allclose(weights.true, 2.0 if over_true else 1.0)


def test_anchored_by_hand(beliefs: Beliefs) -> None:
    """Gains 1 and 3 of mean 2: ½ + ½ · ½ and ½ + ½ · 1½; nine true labels share 0.3 of their sum of 2."""
    gain = np.zeros(60, dtype=np.float32)
    nodes = beliefs.split.pool[:2]
    gain[nodes] = [1, 3]
    weights = Anchored()(replace(beliefs, gain=gain), PseudoLabels(nodes, np.array([0, 1])))
    np.testing.assert_allclose(weights.pseudo, [0.75, 1.25])
    np.testing.assert_allclose(weights.true, np.full(9, 0.3 * 2 / 9))


def test_anchored_without_gain_or_where_all_gains_are_zero(beliefs: Beliefs) -> None:
    nodes = beliefs.split.pool[:6]
    pseudo = PseudoLabels(nodes, np.zeros(6, dtype=np.int64))
    alike = Anchored(share=0.5, gain=0)(beliefs, pseudo)
    np.testing.assert_allclose(alike.pseudo, 1)
    np.testing.assert_allclose(alike.true, 0.5 * 6 / 9)
    still = Anchored()(replace(beliefs, gain=np.zeros(60, dtype=np.float32)), pseudo)
    np.testing.assert_allclose(still.pseudo, 1)
