"""Temperatures: the best one, and one that few labels can't drive to extremes."""

from __future__ import annotations

import numpy as np
import pytest

from drgst.transforms.softmax import softmax
from drgst.uncertainty.calibration import fit_temperature, fit_temperature_with_prior, log_loss


def test_log_loss_by_hand() -> None:
    logits = np.log(np.array([[0.8, 0.2], [0.3, 0.7]])).astype(np.float32)
    assert log_loss(logits, np.array([0, 0])) == pytest.approx(-(np.log(0.8) + np.log(0.3)) / 2, rel=1e-6)


def test_a_likely_temperature_is_1_without_evidence_and_the_best_one_with_much() -> None:
    rng = np.random.default_rng(0)
    z = rng.normal(size=(20_000, 3)) * 2
    p = softmax(z)
    labels = np.minimum((p.cumsum(axis=1) < rng.random((len(p), 1))).sum(axis=1), 2)
    assert fit_temperature_with_prior(3 * z, labels) == pytest.approx(fit_temperature(3 * z, labels), rel=1e-3)
    assert fit_temperature_with_prior(np.zeros((5, 3)), labels[:5]) == pytest.approx(1, abs=1e-3)
    right = z[:10].argmax(axis=1)
    assert 0.2 < fit_temperature_with_prior(z[:10], right) < 1
    assert fit_temperature(z[:10], right) < 0.03, "ten labels that are all correct would make every node certain"


def test_a_second_minimum_far_from_1_is_found() -> None:
    """Very flat logits of many classes, nearly all correct: the loss falls again towards T = 0.02."""
    rng = np.random.default_rng(1)
    z = rng.normal(size=(12, 40)) * 0.01
    right = z.argmax(axis=1)
    grid = np.linspace(np.log(0.02), np.log(50), 2_000)
    losses = [12 * log_loss(z / np.exp(t), right) + t * t / (2 * 0.49) for t in grid]
    assert np.log(fit_temperature_with_prior(z, right)) == pytest.approx(grid[int(np.argmin(losses))], abs=0.01)
