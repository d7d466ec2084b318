"""A scale and a shift a class: they find what was done to honest logits, and gradients are those of the loss."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_softmax
from sklearn.linear_model import LogisticRegression

from drgst.uncertainty.bias import SHRINKAGE, best_scale_and_shift, best_scales_and_shift
from drgst.uncertainty.temperature import best_temperature, log_loss


def honest(number: int = 20_000) -> tuple[np.ndarray, np.ndarray]:
    """Logits, and labels drawn with the probabilities that they give."""
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(number, 3)) * 1.5
    p = np.exp(log_softmax(logits, axis=1))
    return logits, (p.cumsum(axis=1) < rng.random((number, 1))).sum(axis=1)


def test_honest_logits_stay() -> None:
    scale, shift = best_scale_and_shift(*honest())
    assert scale == pytest.approx(1, abs=0.03)
    np.testing.assert_allclose(shift, 0, atol=0.03)


def test_finds_what_was_done() -> None:
    """z' = 3 z + c is undone by a = 1/3, b = -c/3."""
    logits, labels = honest()
    spoilt = 3 * logits + np.array([1.5, 0.0, -1.5])
    scale, shift = best_scale_and_shift(spoilt, labels)
    assert scale == pytest.approx(1 / 3, abs=0.02)
    np.testing.assert_allclose(shift - shift.mean(), [-0.5, 0, 0.5], atol=0.03)
    assert log_loss(scale * spoilt + shift, labels) < log_loss(spoilt / best_temperature(spoilt, labels), labels) - 0.02


def test_no_better_pair_nearby() -> None:
    logits, labels = honest(300)
    scale, shift = best_scale_and_shift(logits, labels)

    def objective(a: float, b: np.ndarray) -> float:
        return log_loss(a * logits + b, labels) + SHRINKAGE / 300 * float(b @ b)

    best = objective(scale, shift)
    rng = np.random.default_rng(1)
    for _ in range(50):
        assert objective(scale + rng.normal() * 0.05, shift + rng.normal(size=3) * 0.05) > best


def test_two_classes_are_logistic_regression_on_the_margin() -> None:
    """With two classes a z + b is a line in z_1 - z_0: scikit-learn finds nearly the same one without shrinkage."""
    logits, labels = honest(4_000)
    kept = labels < 2
    logits, labels = logits[kept][:, :2], labels[kept]
    scale, shift = best_scale_and_shift(logits, labels)
    line = LogisticRegression(C=1e6).fit((logits[:, 1] - logits[:, 0])[:, None], labels)
    assert scale == pytest.approx(line.coef_[0, 0], rel=0.02)
    assert shift[1] - shift[0] == pytest.approx(line.intercept_[0], abs=0.02)


def test_a_class_that_is_not_among_the_labels() -> None:
    logits, labels = honest(200)
    scale, shift = best_scale_and_shift(logits, np.minimum(labels, 1))
    assert np.isfinite([scale, *shift]).all()
    assert shift[2] < min(shift[0], shift[1])


def test_few_labels_shift_little() -> None:
    """Four labels of one class are no reason to believe in no other."""
    logits, _ = honest(4)
    few = best_scale_and_shift(logits, np.zeros(4, dtype=np.int64))[1]
    many = best_scale_and_shift(np.tile(logits, (100, 1)), np.zeros(400, dtype=np.int64))[1]
    assert np.abs(few).max() < 0.5 < np.abs(many).max()


def test_a_voice_that_knows_nothing_is_silenced() -> None:
    """z and noise: a = (1, next to nothing)."""
    logits, labels = honest()
    noise = np.random.default_rng(1).normal(size=logits.shape) * 2
    scales, shift = best_scales_and_shift(np.stack([logits, noise]), labels)
    np.testing.assert_allclose(scales, [1, 0.02], atol=0.03)
    np.testing.assert_allclose(shift, 0, atol=0.03)


def test_two_voices_that_know_something_each() -> None:
    """z = u + 2 v from u and v: a = (1, 2)."""
    logits, labels = honest()
    u = np.random.default_rng(2).normal(size=logits.shape)
    scales, _ = best_scales_and_shift(np.stack([u, (logits - u) / 2]), labels)
    np.testing.assert_allclose(scales, [1, 2], atol=0.08)
