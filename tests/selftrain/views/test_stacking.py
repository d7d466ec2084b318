"""Softmax regression, out-of-fold log-probabilities, and the weights of views that are fitted to them."""

import numpy as np
import pytest
from scipy.optimize import minimize

from drgst.selftrain.views.regression import SoftmaxRegression, linear_log_probs
from drgst.selftrain.views.stacking import PSEUDO_COUNTS, folds, out_of_fold, stack, view_weights
from drgst.transforms.softmax import log_softmax
from drgst.uncertainty.calibration import PRIOR_STD


def objective(w: np.ndarray, b: np.ndarray, z: np.ndarray, labels: np.ndarray, weights: np.ndarray, l2: float) -> float:
    log_p = log_softmax(z @ w + b)[np.arange(labels.size), labels]
    return float(-(weights @ log_p) / weights.sum() + l2 / 2 * (w**2).sum())


@pytest.mark.parametrize("count", [12, 200])
def test_the_minimum_of_the_objective(count: int) -> None:
    """Against SciPy; with 12 rows of 20 columns the dual form is used."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, count)
    z = (rng.normal(size=(count, 20)) + np.eye(3, 20)[labels]).astype(np.float32)
    weights = rng.random(count) + 0.1
    w, b = SoftmaxRegression(3, 1e-2).fit(z, labels, weights)
    assert (w.shape, b.shape, w.dtype) == ((20, 3), (3,), np.float32)

    def flat(t: np.ndarray) -> float:
        return objective(t[:60].reshape(20, 3), t[60:], z, labels, weights, 1e-2)

    best = minimize(flat, np.zeros(63), method="L-BFGS-B").fun
    assert best - 1e-5 <= objective(w, b, z, labels, weights, 1e-2) <= best + 2e-3


def test_weight_zero_is_absent() -> None:
    rng = np.random.default_rng(0)
    z, labels = rng.normal(size=(40, 5)).astype(np.float32), rng.integers(0, 2, 40)
    regression = SoftmaxRegression(2, 1e-2)
    some = regression.fit(z[:30], labels[:30], np.ones(30))
    all_ = regression.fit(z, labels, np.append(np.ones(30), np.zeros(10)))
    np.testing.assert_allclose(some[0], all_[0], atol=1e-3)


def test_the_bias_is_not_penalised() -> None:
    """Rows that tell nothing: the bias gives the shares of the classes, however large the l2."""
    labels = np.array([0, 0, 0, 1])
    w, b = SoftmaxRegression(2, 10.0).fit(np.zeros((4, 2), np.float32), labels, np.ones(4))
    p = np.exp(linear_log_probs(np.zeros((1, 2), np.float32), w, b))
    np.testing.assert_allclose(p, [[0.75, 0.25]], atol=0.01)


def test_the_more_labels_the_less_the_penalty_counts() -> None:
    """λ = 1 / n: rows that are repeated tenfold are fitted more closely; below the bound nothing changes."""
    rng = np.random.default_rng(0)
    z, labels = rng.normal(size=(60, 5)).astype(np.float32), rng.integers(0, 2, 60)
    free, bounded = SoftmaxRegression(2, 1.0), SoftmaxRegression(2, 1e-4)
    sizes = [[np.abs(r.fit(z, labels, np.full(60, w))[0]).sum() for w in (1.0, 10.0)] for r in (free, bounded)]
    assert sizes[0][1] > 1.02 * sizes[0][0]
    assert sizes[1][1] == pytest.approx(sizes[1][0], rel=1e-3)


def rows(count: int, signal: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels of 3 classes, and rows that tell them apart by ``signal``."""
    rng = np.random.default_rng(seed)
    labels = np.arange(count) % 3
    return labels, (signal * np.eye(3)[labels] + rng.normal(size=(count, 3))).astype(np.float32)


def test_folds_are_balanced_and_leave_a_label_of_every_class() -> None:
    labels = np.array([0, 0, 0, 0, 1, 1, 2, 2, 2, 2, 2])
    fold = folds(labels)
    for f in range(3):
        assert set(labels[fold != f]) == {0, 1, 2}
    assert np.ptp(np.bincount(fold[labels == 2])) <= 1


def test_a_single_label_of_a_class_is_never_held_out() -> None:
    np.testing.assert_array_equal(folds(np.array([0, 1, 1, 2])), [-1, 0, 1, -1])
    assert (folds(np.arange(4)) == -1).all()


def test_no_label_is_used_for_its_own_node() -> None:
    labels, z = rows(12, 1.0, 0)
    regression = SoftmaxRegression(3, 1e-2)
    before = out_of_fold(z, labels, regression)
    fold = folds(labels)
    inside = fold == 0
    fitted = regression.fit(z[~inside], labels[~inside], np.ones((~inside).sum()))
    np.testing.assert_allclose(before[inside], log_softmax(z[inside] @ fitted[0] + fitted[1]), atol=1e-5)


def test_stack_is_the_maximum() -> None:
    """Against a derivative-free search of the same objective over two views."""
    rng = np.random.default_rng(0)
    labels = np.arange(30) % 3
    log_probs = np.stack([log_softmax(s * np.eye(3)[labels] + rng.normal(size=(30, 3))) for s in (1.5, 0.5)])
    default = np.array([0.3, 0.7])

    def negative(t: np.ndarray) -> float:
        w = np.array([1, np.exp(t[0])]) / (1 + np.exp(t[0]))
        likelihood = log_softmax(np.exp(t[1]) * np.tensordot(w, log_probs, 1))[np.arange(30), labels].sum()
        return -float(likelihood + PSEUDO_COUNTS * default @ np.log(w) - t[1] ** 2 / 2 / PRIOR_STD**2)

    t = minimize(negative, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-9}).x
    np.testing.assert_allclose(stack(log_probs, labels, default)[1], 1 / (1 + np.exp(-t[0])), atol=1e-3)


def test_views_whose_defaults_are_all_0_share_equally() -> None:
    """As topology alone has where edges join nodes that are not alike."""
    labels, z = rows(9, 3.0, 1)
    assert view_weights({"topology": z}, labels, {"topology": 0.0}, SoftmaxRegression(3)) == {"topology": 1.0}
    both = view_weights({"a": z, "b": z}, labels, {"a": 0.0, "b": 0.0}, SoftmaxRegression(3))
    assert both == pytest.approx({"a": 0.5, "b": 0.5})


def test_labels_move_the_default_and_many_decide() -> None:
    default = {"good": 0.2, "bad": 0.8}
    found = []
    for count in (9, 90):
        labels, good = rows(count, 3.0, 1)
        bad = np.random.default_rng(2).normal(size=(count, 40)).astype(np.float32)
        found.append(view_weights({"good": good, "bad": bad}, labels, default, SoftmaxRegression(3, 1e-2))["good"])
    assert 0.2 < found[0] < found[1]
    assert found[1] > 0.5


def test_the_default_where_no_label_can_be_held_out() -> None:
    labels, z = rows(3, 1.0, 0)
    weights = view_weights({"one": z, "two": z}, labels, {"one": 1.0, "two": 3.0}, SoftmaxRegression(3, 1e-2))
    assert weights == pytest.approx({"one": 0.25, "two": 0.75})
