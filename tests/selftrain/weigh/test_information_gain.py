"""Weights by information gain, and as the published program weighs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from drgst.selftrain.beliefs import PseudoLabels
from drgst.selftrain.select.threshold import Threshold
from drgst.selftrain.weigh.information_gain import InformationGain


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


def test_no_pseudo_labels(beliefs) -> None:
    weights = InformationGain(0.5)(beliefs, PseudoLabels.empty())
    assert weights.pseudo.size == 0
    assert weights.true.size == 9
