"""Eq. information_gain_first, predictive_distribution and information_gain."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from drgst.uncertainty.gain import entropy, information_gain


def samples(seed: int = 0, t: int = 7, n: int = 4, c: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.ones(c), size=(t, n))


def test_entropy_by_hand() -> None:
    """H of a fair coin is log 2, of a sure thing 0, of three equal classes log 3."""
    p = torch.tensor([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0], [1 / 3, 1 / 3, 1 / 3]])
    np.testing.assert_allclose(entropy(p), [np.log(2), 0.0, np.log(3)], atol=1e-6)


def test_information_gain_first_is_a_mutual_information() -> None:
    """H[E_θ p] - E_θ H[p] = Σ_θ Σ_y P(θ) p(y|θ) log p(y|θ)/p(y): between y and a uniform θ of T values."""
    draws = samples()
    mean = draws.mean(axis=0)
    mutual = (draws * np.log(draws / mean)).sum(axis=2).mean(axis=0)
    np.testing.assert_allclose(information_gain(torch.from_numpy(draws)).numpy(), mutual, rtol=1e-10)


def test_information_gain_term_by_term() -> None:
    """B = -Σ_d p^G log p^G + 1/T Σ_d Σ_t p̃ log p̃ with p^G = 1/T Σ_t p̃, by loops."""
    draws = samples(seed=3)
    wanted = []
    for u in range(4):
        mean = draws[:, u].sum(axis=0) / 7
        first = -sum(p * np.log(p) for p in mean)
        second = sum(p * np.log(p) for t in range(7) for p in draws[t, u]) / 7
        wanted.append(first + second)
    np.testing.assert_allclose(information_gain(torch.from_numpy(draws)).numpy(), wanted, rtol=1e-10)


def test_limits() -> None:
    """All samples alike: 0. Two sure samples of different classes: log 2, the most that two samples can tell."""
    alike = np.broadcast_to(samples(t=1), (5, 4, 3)).copy()
    np.testing.assert_allclose(information_gain(torch.from_numpy(alike)).numpy(), 0, atol=1e-12)
    sure = torch.tensor([[[1.0, 0.0]], [[0.0, 1.0]]])
    assert information_gain(sure).item() == pytest.approx(np.log(2))


def test_never_negative_and_never_above_the_entropy_of_the_mean() -> None:
    """0 ≤ B ≤ H[p^G] (Jensen; entropy is never negative)."""
    for seed in range(20):
        draws = torch.from_numpy(samples(seed, t=3, n=10))
        gain = information_gain(draws)
        assert (gain >= 0).all()
        assert (gain <= entropy(draws.mean(dim=0)) + 1e-12).all()
