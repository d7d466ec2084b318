"""Temperature, scales with class biases, and matrices undo what was done to calibrated logits; CaGCN."""

import numpy as np
import pytest
import torch
from scipy.special import log_softmax, softmax
from torch import Tensor

from drgst.nn.ops.adjacency import Adjacency
from drgst.nn.random import generator, seeded_torch
from drgst.uncertainty.cagcn import CalibrationLoss, Calibrator, apply_cagcn, fit_cagcn
from drgst.uncertainty.calibration import (
    SHRINKAGE,
    apply_matrices,
    centre,
    fit_matrices,
    fit_scale_and_bias,
    fit_temperature,
    fit_temperature_with_prior,
    log_loss,
)


def test_log_loss_by_hand() -> None:
    logits = np.log(np.array([[0.8, 0.2], [0.3, 0.7]])).astype(np.float32)
    assert log_loss(logits, np.array([0, 0])) == pytest.approx(-(np.log(0.8) + np.log(0.3)) / 2, rel=1e-6)


def test_temperature_by_hand() -> None:
    """z = (1, 0), correct in two of three cases: softmax(1/T) = 2/3 at 1/T = log 2."""
    z = np.tile([1.0, 0.0], (3, 1))
    assert fit_temperature(z, np.array([0, 0, 1])) == pytest.approx(1 / np.log(2), rel=1e-4)


def test_temperature_with_prior_is_1_without_evidence_and_the_best_one_with_much() -> None:
    rng = np.random.default_rng(0)
    z = rng.normal(size=(20_000, 3)) * 2
    p = softmax(z, axis=1)
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


def calibrated(number: int = 20_000) -> tuple[np.ndarray, np.ndarray]:
    """Logits, and labels drawn with the probabilities that they give."""
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(number, 3)) * 1.5
    return logits, drawn(logits, rng)


def test_finds_what_was_done() -> None:
    """z' = 3 z + c is undone by a = 1/3, b = -c/3."""
    logits, labels = calibrated()
    spoilt = 3 * logits + np.array([1.5, 0.0, -1.5])
    scale, bias = fit_scale_and_bias(spoilt, labels)
    assert scale == pytest.approx(1 / 3, abs=0.02)
    np.testing.assert_allclose(bias - bias.mean(), [-0.5, 0, 0.5], atol=0.03)
    assert log_loss(scale * spoilt + bias, labels) < log_loss(spoilt / fit_temperature(spoilt, labels), labels) - 0.02


def test_no_better_pair_nearby() -> None:
    logits, labels = calibrated(300)
    scale, bias = fit_scale_and_bias(logits, labels)

    def objective(a: float, b: np.ndarray) -> float:
        return log_loss(a * logits + b, labels) + SHRINKAGE / 300 * float(b @ b)

    best = objective(scale, bias)
    rng = np.random.default_rng(1)
    for _ in range(50):
        assert objective(scale + rng.normal() * 0.05, bias + rng.normal(size=3) * 0.05) > best


def test_a_class_that_is_not_among_the_labels() -> None:
    logits, labels = calibrated(200)
    scale, bias = fit_scale_and_bias(logits, np.minimum(labels, 1))
    assert np.isfinite([scale, *bias]).all()
    assert bias[2] < min(bias[0], bias[1])


def drawn(logits: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Labels with the probabilities that the logits give."""
    p = np.exp(log_softmax(logits, axis=1))
    return np.minimum((p.cumsum(axis=1) < rng.random((len(p), 1))).sum(axis=1), p.shape[1] - 1)


def test_calibrated_logits_stay_and_noise_gets_no_weight() -> None:
    rng = np.random.default_rng(0)
    z = centre(rng.normal(size=(20_000, 3)) * 1.5)
    noise = centre(rng.normal(size=z.shape))
    matrices, bias = fit_matrices(np.stack([z, noise]), drawn(z, rng))
    # a matrix acts on rows of mean 0, so that a constant added to all columns has no effect
    np.testing.assert_allclose(centre(matrices[0].T @ centre(np.eye(3))).T, centre(np.eye(3)), atol=0.05)
    np.testing.assert_allclose(matrices[1], 0, atol=0.05)
    np.testing.assert_allclose(bias, 0, atol=0.05)


def test_undoes_what_no_scale_and_bias_can() -> None:
    """Two classes whose logits were exchanged are exchanged back."""
    rng = np.random.default_rng(1)
    z = centre(rng.normal(size=(5_000, 3)) * 1.5)
    labels = drawn(z, rng)
    spoilt = z[:, [1, 0, 2]]
    found = apply_matrices(spoilt[None], *fit_matrices(spoilt[None], labels))
    scale, offset = fit_scale_and_bias(spoilt, labels)
    assert log_loss(found, labels) == pytest.approx(log_loss(z, labels), abs=0.01)
    assert log_loss(found, labels) < log_loss(scale * spoilt + offset, labels) - 0.2
    np.testing.assert_allclose(np.exp(found).sum(axis=1), 1)


def test_no_better_answer_nearby() -> None:
    rng = np.random.default_rng(2)
    z = np.stack([centre(rng.normal(size=(200, 4))) for _ in range(2)])
    labels = drawn(z.sum(axis=0), rng)
    matrices, bias = fit_matrices(z, labels)

    def objective(w: np.ndarray, b: np.ndarray) -> float:
        beside = w - np.trace(w, axis1=1, axis2=2)[:, None, None] / 4 * np.eye(4)
        return (
            log_loss(apply_matrices(z, w, b), labels) + (SHRINKAGE * float(b @ b) + 4 * float((beside**2).sum())) / 200
        )

    best = objective(matrices, bias)
    for _ in range(100):
        assert objective(matrices + rng.normal(size=matrices.shape) * 0.05, bias + rng.normal(size=4) * 0.05) > best


def test_factors_are_positive_and_follow_the_formula(weighted) -> None:
    adj: Adjacency = weighted.inputs.adj
    logits = torch.randn(60, 3, generator=torch.Generator().manual_seed(0))
    with seeded_torch(generator(0)):
        network = Calibrator(3).eval()
    t: Tensor = network.gcn(logits, adj)
    torch.testing.assert_close(network(logits, adj), logits * torch.log(t.exp() + 1.1))
    assert torch.equal(network(logits, adj).argmax(dim=1), logits.argmax(dim=1))


def test_the_loss_by_hand() -> None:
    """A correct prediction with margin 0.4 and a wrong one with margin 0.2."""
    p = torch.tensor([[0.6, 0.2, 0.2], [0.5, 0.3, 0.2]])
    loss = CalibrationLoss(np.array([0, 1]), np.array([0, 1]), weight=0.5)
    cross_entropy = -np.log([0.6, 0.3]).mean()
    assert np.isclose(loss(p.log(), 0).item(), cross_entropy + 0.5 * (0.6 + 0.2) / 2)


def test_a_fit_lowers_its_loss(weighted) -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(60) % 3
    logits = (8 * (np.eye(3)[labels] + rng.normal(size=(60, 3)))).astype(np.float32)  # overconfident
    loss, adj = CalibrationLoss(np.arange(60), labels, 0.5), weighted.inputs.adj
    made = apply_cagcn(fit_cagcn(logits, adj, loss, generator(0)), logits, adj)
    before, after = (loss(torch.from_numpy(z), 0).item() for z in (logits, made))
    assert after < 0.8 * before
    np.testing.assert_array_equal(made.argmax(axis=1), logits.argmax(axis=1))
