"""Softmax regression: against scikit-learn on the same convex problem, weighted, and with another loss."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from drgst.nn.losses import CorrectedCrossEntropy
from drgst.selftrain.learners.multiview.regression import SoftmaxRegression, linear_log_probs


def log_probs(
    z: np.ndarray, y: np.ndarray, w: np.ndarray, regression: SoftmaxRegression, at: np.ndarray | None = None
) -> np.ndarray:
    """log p of ``at`` (of z itself where it is not given) by a regression fitted to z."""
    return linear_log_probs(z if at is None else at, *regression.fit(z, y, w))


def rows_and_labels(count: int = 60, classes: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Overlapping clouds with unit rows."""
    rng = np.random.default_rng(3)
    labels = np.arange(count) % classes
    rows = np.eye(classes, 5)[labels] + rng.normal(scale=0.7, size=(count, 5))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32), labels


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_against_scikit_learn(classes: int, weighted: bool) -> None:
    """C Σ w l + ½ ‖W‖² has the minimum of ours where C = 1 / (λ Σ w); two classes there share one column of W."""
    z, y = rows_and_labels(classes=classes)
    w = np.random.default_rng(0).gamma(1.0, size=y.size) if weighted else np.ones(y.size)
    l2 = 3e-3
    strength = l2 if classes > 2 else l2 / 2  # ½‖w₁‖² + ½‖w₀‖² of w₁ = -w₀ is ¼‖w₁ - w₀‖²
    expected = LogisticRegression(C=1 / (strength * w.sum()), tol=1e-8, max_iter=5_000).fit(z, y, sample_weight=w)
    p = np.exp(log_probs(z, y, w, SoftmaxRegression(classes, l2)))
    np.testing.assert_allclose(p, expected.predict_proba(z), atol=1e-2)


def test_the_scale_of_the_weights_has_no_effect_and_weight_0_is_absence() -> None:
    z, y = rows_and_labels()
    wrong = np.append(y, 0)
    more = np.concatenate([z, z[1:2]])
    plain = log_probs(z, y, np.ones(60), SoftmaxRegression(3, 1e-3))
    scaled = log_probs(z, y, np.full(60, 7.0), SoftmaxRegression(3, 1e-3))
    absent = log_probs(more, wrong, np.append(np.ones(60), 0.0), SoftmaxRegression(3, 1e-3), at=z)
    present = log_probs(more, wrong, np.append(np.ones(60), 30.0), SoftmaxRegression(3, 1e-3), at=z)
    np.testing.assert_allclose(scaled, plain, atol=1e-3)
    np.testing.assert_allclose(absent, plain, atol=1e-3)
    assert np.abs(present - plain).max() > 0.1


def test_the_loss_is_the_one_given() -> None:
    """Labels of which class 0 became 1 in half the cases: the corrected regression predicts class 0 again."""
    z, y = rows_and_labels(240)
    noisy = np.where((y == 0) & (np.arange(240) % 2 == 0), 1, y)
    transition = torch.tensor([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    plain = log_probs(z, noisy, np.ones(240), SoftmaxRegression(3, 1e-3))
    corrected = log_probs(z, noisy, np.ones(240), SoftmaxRegression(3, 1e-3, CorrectedCrossEntropy(transition)))
    zeros = y == 0
    assert np.exp(corrected[zeros, 0]).mean() > np.exp(plain[zeros, 0]).mean() + 0.1
    assert (corrected.argmax(1) == y).mean() > (plain.argmax(1) == y).mean()


def test_an_identity_correction_changes_nothing() -> None:
    z, y = rows_and_labels()
    plain = log_probs(z, y, np.ones(60), SoftmaxRegression(3, 1e-3))
    same = log_probs(z, y, np.ones(60), SoftmaxRegression(3, 1e-3, CorrectedCrossEntropy(torch.eye(3))))
    np.testing.assert_allclose(np.exp(same), np.exp(plain), atol=1e-2)


def test_log_probs_by_hand() -> None:
    z = np.array([[1.0, 0.0], [0.0, 2.0]], dtype=np.float32)
    log_p = linear_log_probs(z, torch.tensor([[np.log(3.0), 0.0], [0.0, 0.0]], dtype=torch.float32), torch.zeros(2))
    np.testing.assert_allclose(np.exp(log_p), [[0.75, 0.25], [0.5, 0.5]], atol=1e-6)


def test_a_class_without_a_label_is_the_least_likely() -> None:
    z, y = rows_and_labels()
    p = np.exp(log_probs(z, y, np.ones(60), SoftmaxRegression(4, 1e-3)))
    assert p[:, 3].max() < 0.05
    assert np.isfinite(p).all()
