"""Thresholds: the goal is reached by expectation, and intervals cover the truth about as often as they state."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from drgst.decide.threshold import Goal, choose_threshold
from drgst.errors import SettingError

P = np.array([0.95, 0.9, 0.7, 0.4, 0.05])


def test_a_precision_a_recall_and_a_number() -> None:
    precise = choose_threshold(P, Goal(precision=0.84))
    assert (precise.flagged, precise.threshold) == (3, 0.7)
    assert precise.precision.expected == pytest.approx(2.55 / 3)
    assert choose_threshold(P, Goal(recall=0.84)).flagged == 3
    assert choose_threshold(P, Goal(recall=1)).flagged == 5
    assert choose_threshold(P, Goal(top=2)).recall.expected == pytest.approx(1.85 / 3)
    assert choose_threshold(P, Goal(top=99)).flagged == 5
    assert choose_threshold(P, Goal(top=2)).sure is None


@pytest.mark.parametrize("given", [{}, {"precision": 0.9, "top": 3}, {"precision": 1.2}, {"recall": 0}, {"top": 0}])
def test_impossible_goals_are_refused(given: dict[str, float]) -> None:
    with pytest.raises(SettingError):
        Goal(**given)  # type: ignore[arg-type]


def test_a_precision_that_no_threshold_reaches_is_refused() -> None:
    with pytest.raises(SettingError, match=r"highest probability is 0\.95"):
        choose_threshold(P, Goal(precision=0.99))


@pytest.mark.parametrize("temperature", [0.7, 1.0, 1.4])
def test_intervals_cover_the_precision(temperature: float) -> None:
    """Of 20 worlds whose stated probabilities are too certain, right or too doubtful, most are covered."""
    covered = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        z = rng.normal(scale=3, size=400) - 5
        known = rng.normal(scale=3, size=80)
        truth, labels = (rng.random(v.size) < expit(v) for v in (z, known))
        p = expit(z / temperature)
        found = choose_threshold(p, Goal(top=40), (expit(known / temperature), labels), seed)
        precision = truth[p >= found.threshold].mean()
        covered += found.precision.low - 0.03 <= precision <= found.precision.high + 0.03
    assert covered >= (16 if temperature == 1 else 13)


def test_a_temperature_keeps_the_expected_number() -> None:
    """Labels that contradict certain probabilities flatten them, but the mean over all nodes stays."""
    rng = np.random.default_rng(0)
    p, wrong = rng.beta(0.3, 4.0, 3_000), (np.full(60, 0.999), rng.random(60) < 0.5)
    found = choose_threshold(p, Goal(top=p.size), wrong)
    assert found.precision.low < p.mean() < found.precision.high
    assert found.precision.high - found.precision.low < 0.05
