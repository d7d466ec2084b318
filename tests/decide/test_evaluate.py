"""Bootstrap intervals against known errors."""

from __future__ import annotations

import numpy as np
import pytest

from drgst.decide.evaluate import bootstrap
from drgst.runs.metrics import RankScores


def test_intervals_have_the_width_of_the_standard_error() -> None:
    right = np.random.default_rng(1).random(400) < 0.8
    found = bootstrap({"share": lambda w: float(np.average(right, weights=w))}, 400)["share"]
    half = 1.96 * np.sqrt(found.value * (1 - found.value) / 400)
    assert found.high - found.value == pytest.approx(half, rel=0.25)
    assert found.value - found.low == pytest.approx(half, rel=0.25)


def test_figures_that_do_not_exist_are_nan() -> None:
    found = bootstrap({"auc": RankScores(np.arange(300.0), np.zeros(300, dtype=bool)).roc_auc}, 300)["auc"]
    assert np.isnan([found.value, found.low, found.high]).all()
