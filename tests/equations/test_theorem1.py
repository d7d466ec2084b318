"""Theorem 1: with γ_u = P_pop/P_st on the pseudo-labelled nodes, L_st is L_pop."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from drgst.nn.losses import WeightedLoss

POP = np.array([1, 2, 3, 2])  # how often each (node, label) occurs, of 8
SHIFTED = np.array([4, 2, 1, 1])  # … after self-training has favoured the easy first node
Z = np.array([[3.0, 0.0], [0.5, 0.0], [-0.5, 0.5], [0.0, 2.0]])
Y = np.array([0, 0, 1, 0])


def mean_loss(places: np.ndarray, weights: np.ndarray, z: np.ndarray = Z) -> float:
    """Our loss over a list of places in the finite population."""
    logits = torch.from_numpy(z[places]).double()
    ours = WeightedLoss(np.arange(places.size), Y[places], weights)
    ours.weights = ours.weights.double()
    return ours(logits, 0).item()


def test_weighted_loss_equals_population_loss() -> None:
    """8 labelled nodes drawn as P_pop, 8 pseudo-labelled ones drawn as P_st, ȳ = y; γ = 1/4, 1, 3, 2."""
    labelled, pseudo = np.repeat(np.arange(4), POP), np.repeat(np.arange(4), SHIFTED)
    both = np.concatenate([labelled, pseudo])
    gamma = (POP / SHIFTED)[pseudo]
    population = mean_loss(labelled, np.ones(8))
    assert mean_loss(both, np.concatenate([np.ones(8), gamma])) == pytest.approx(population, rel=1e-6)
    assert abs(mean_loss(both, np.ones(16)) - population) > 0.05, "without γ the two differ"


def test_so_do_their_gradients_for_any_parameters() -> None:
    """The equality holds for every θ, so the gradients agree as well, and so does the minimum."""
    labelled, pseudo = np.repeat(np.arange(4), POP), np.repeat(np.arange(4), SHIFTED)
    gamma = (POP / SHIFTED)[pseudo].astype(np.float64)
    x = torch.from_numpy(np.random.default_rng(0).normal(size=(4, 3))).float()
    for seed in range(5):
        theta = torch.from_numpy(np.random.default_rng(seed).normal(size=(3, 2))).float().requires_grad_()
        grads = []
        for places, weights in (
            (labelled, np.ones(8)),
            (np.concatenate([labelled, pseudo]), np.concatenate([np.ones(8), gamma])),
        ):
            loss = WeightedLoss(places, Y[places], weights)((x @ theta)[places], 0)
            grads.append(torch.autograd.grad(loss, theta)[0].numpy())
        np.testing.assert_allclose(grads[0], grads[1], atol=1e-6)


def test_the_condition_that_pseudo_labels_are_right_is_needed() -> None:
    """One wrong pseudo-label, and γ no longer repairs the loss."""
    labelled, pseudo = np.repeat(np.arange(4), POP), np.repeat(np.arange(4), SHIFTED)
    weights = np.concatenate([np.ones(8), (POP / SHIFTED)[pseudo]])
    both = np.concatenate([labelled, pseudo])
    labels = Y[both].copy()
    labels[-1] = 1 - labels[-1]
    wrong = WeightedLoss(both, labels, weights)(torch.from_numpy(Z[both]).float(), 0).item()
    assert abs(wrong - mean_loss(labelled, np.ones(8))) > 0.05
