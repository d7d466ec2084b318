"""Proposition 1: when training through T on pseudo-labels is training on the truth.

The paper says: under cross-entropy if T is a permutation, under squared error for any non-zero T. The first holds as
stated. The second does not for every non-zero T: ‖T f - T y‖² = (f - y)ᵀ TᵀT (f - y) has the minimiser of ‖f - y‖² for
every family f_θ if TᵀT is a multiple of the identity, or for any injective T if some θ fits the truth exactly. Both are
tested as conditions, and so are the cases in which it fails.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from drgst.nn.losses import CorrectedCrossEntropy, cross_entropy


def difference(t: np.ndarray, y: np.ndarray, f: np.ndarray) -> np.ndarray:
    """T (Tᵀy ⊘ Tᵀf) - y ⊘ f: the bracket of the appendix (there with T where we write Tᵀ: T_kj = P(j | k))."""
    return t @ ((t.T @ y) / (t.T @ f)) - y / f


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_permutation_under_cross_entropy(order: tuple[int, ...]) -> None:
    """l(π(y), Tᵀp) = l(y, p), value and gradient, for every permutation T and every label."""
    t = np.eye(3)[list(order)]  # T_kj = 1 where j = π(k)
    z = torch.from_numpy(np.random.default_rng(1).normal(size=(6, 3))).float()
    y = torch.tensor([0, 1, 2, 2, 1, 0])
    pseudo = torch.tensor(order)[y]
    plain, other = z.clone().requires_grad_(), z.clone().requires_grad_()
    on_truth = cross_entropy(plain, y)
    through = CorrectedCrossEntropy(torch.from_numpy(t).float())(other, pseudo)
    np.testing.assert_allclose(through.detach(), on_truth.detach(), rtol=1e-5)
    on_truth.sum().backward()
    through.sum().backward()
    np.testing.assert_allclose(other.grad, plain.grad, atol=1e-6)
    f = z.softmax(dim=1).double().numpy()
    for row, label in zip(f, y.numpy(), strict=True):
        np.testing.assert_allclose(difference(t, np.eye(3)[label], row), 0, atol=1e-9)


def test_no_other_transition_under_cross_entropy() -> None:
    """A T that is no permutation leaves a difference at random f, be it stochastic or orthogonal."""
    rng = np.random.default_rng(0)
    angle = 0.3
    rotation = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    for t in (*rng.dirichlet(np.ones(2), size=(20, 2)), rotation):
        f = rng.dirichlet(np.ones(2) * 5)
        gaps = [np.abs(difference(t, np.eye(2)[k], f)).max() for k in range(2)]
        assert max(gaps) > 1e-3, t


def test_our_gradient_differs_too_where_the_transition_mixes() -> None:
    """The gradient of our corrected loss on the likelier pseudo-label is not that of cross-entropy on the truth."""
    t = torch.tensor([[0.7, 0.3], [0.2, 0.8]])
    plain, other = (torch.tensor([[0.4, -0.2]]).requires_grad_() for _ in range(2))
    cross_entropy(plain, torch.tensor([0])).sum().backward()
    CorrectedCrossEntropy(t)(other, torch.tensor([0])).sum().backward()
    assert (plain.grad - other.grad).abs().max() > 0.05


def least_squares(t: np.ndarray, family: np.ndarray, y: np.ndarray) -> np.ndarray:
    """argmin_θ Σ_u ‖T (F_u θ) - T y_u‖² for the linear family f_θ(u) = F_u θ; F (n, c, d), y (n, c)."""
    left = (t @ family).reshape(-1, family.shape[2])
    return np.linalg.lstsq(left, (y @ t.T).ravel(), rcond=None)[0]


def problem(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(8, 3, 2)), np.eye(3)[rng.integers(3, size=8)]


@pytest.mark.parametrize("seed", range(5))
def test_squared_error_with_a_scaled_orthogonal_transition(seed: int) -> None:
    """TᵀT = c I: the minimiser is the same whether or not the family can fit the truth."""
    family, y = problem(seed)
    t = -2.5 * np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]
    np.testing.assert_allclose(least_squares(t, family, y), least_squares(np.eye(3), family, y), atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_squared_error_with_any_invertible_transition_where_the_truth_can_be_fitted(seed: int) -> None:
    """f_θ* = y for some θ*: both losses are 0 there, and an injective T makes that the only minimum of both."""
    rng = np.random.default_rng(seed)
    family, theta = problem(seed)[0], rng.normal(size=2)
    t = rng.normal(size=(3, 3))
    assert abs(np.linalg.det(t)) > 1e-3
    np.testing.assert_allclose(least_squares(t, family, family @ theta), theta, atol=1e-8)


def test_squared_error_with_an_arbitrary_non_zero_transition_can_fail() -> None:
    """The paper's wording is too wide: an invertible T moves the minimum where the truth can't be fitted, and a
    non-zero T of rank 1 has many minima even where it can."""
    family, y = problem(0)
    stretch = np.diag([10.0, 1.0, 1.0])
    assert np.abs(least_squares(stretch, family, y) - least_squares(np.eye(3), family, y)).max() > 0.05
    thin = np.zeros((3, 3))
    thin[0, 0] = 1.0
    one_node = family[:1]
    assert np.linalg.matrix_rank((thin @ one_node).reshape(-1, 2)) < 2, "θ is not determined by T f = T y"
