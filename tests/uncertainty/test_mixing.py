"""Matrices over a node's own belief and that around it: they find what was done to honest beliefs, and no better."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_softmax

from drgst.uncertainty.bias import SHRINKAGE, best_scale_and_shift
from drgst.uncertainty.mixing import best_mixing, centred, mixed
from drgst.uncertainty.temperature import log_loss


def drawn(logits: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Labels with the probabilities that the logits give."""
    p = np.exp(log_softmax(logits, axis=1))
    return np.minimum((p.cumsum(axis=1) < rng.random((len(p), 1))).sum(axis=1), p.shape[1] - 1)


def test_honest_beliefs_stay_and_a_voice_that_knows_nothing_is_silenced() -> None:
    rng = np.random.default_rng(0)
    z = centred(rng.normal(size=(20_000, 3)) * 1.5)
    noise = centred(rng.normal(size=z.shape))
    matrices, shift = best_mixing(np.stack([z, noise]), drawn(z, rng))
    # a matrix acts on rows of mean 0, so that what it adds to all columns alike is not seen
    np.testing.assert_allclose(centred(matrices[0].T @ centred(np.eye(3))).T, centred(np.eye(3)), atol=0.05)
    np.testing.assert_allclose(matrices[1], 0, atol=0.05)
    np.testing.assert_allclose(shift, 0, atol=0.05)


def test_undoes_what_no_scale_and_shift_can() -> None:
    """Two classes whose beliefs were exchanged are exchanged back."""
    rng = np.random.default_rng(1)
    z = centred(rng.normal(size=(5_000, 3)) * 1.5)
    labels = drawn(z, rng)
    spoilt = z[:, [1, 0, 2]]
    found = mixed(spoilt[None], *best_mixing(spoilt[None], labels))
    scale, offset = best_scale_and_shift(spoilt, labels)
    assert log_loss(found, labels) == pytest.approx(log_loss(z, labels), abs=0.01)
    assert log_loss(found, labels) < log_loss(scale * spoilt + offset, labels) - 0.2
    np.testing.assert_allclose(np.exp(found).sum(axis=1), 1)


def test_no_better_answer_nearby() -> None:
    rng = np.random.default_rng(2)
    z = np.stack([centred(rng.normal(size=(200, 4))) for _ in range(2)])
    labels = drawn(z.sum(axis=0), rng)
    matrices, shift = best_mixing(z, labels)

    def objective(w: np.ndarray, b: np.ndarray) -> float:
        beside = w - np.trace(w, axis1=1, axis2=2)[:, None, None] / 4 * np.eye(4)
        return log_loss(mixed(z, w, b), labels) + (SHRINKAGE * float(b @ b) + 4 * float((beside**2).sum())) / 200

    best = objective(matrices, shift)
    for _ in range(100):
        assert objective(matrices + rng.normal(size=matrices.shape) * 0.05, shift + rng.normal(size=4) * 0.05) > best


def test_few_labels_say_little() -> None:
    """Beside the scale, a matrix learns the more the more labels there are."""
    rng = np.random.default_rng(3)
    z = centred(rng.normal(size=(5_000, 3)) * 1.5)
    labels, spoilt = drawn(z, rng), z[:, [1, 0, 2]]
    beside = []
    for number in (10, 100, 5_000):
        (w,), _ = best_mixing(spoilt[None, :number], labels[:number])
        beside.append(float(np.abs(w - np.trace(w) / 3 * np.eye(3)).mean()))
    assert 0 < beside[0] < beside[1] < beside[2]
