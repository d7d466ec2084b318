"""The losses and the information gain of the paper: what is minimised, with which weights."""

import numpy as np
import pytest
import torch

from drgst.nn.losses import CorrectedCrossEntropy, WeightedLoss, cross_entropy
from drgst.selftrain.slots.weigh import normalised_gain
from drgst.uncertainty.gain import entropy, information_gain

Z = np.array([[2.0, 0.0, -1.0], [0.5, 0.5, 0.5], [-1.0, 3.0, 0.0], [0.0, 0.0, 1.0], [1.0, 2.0, 3.0]])
Y = np.array([0, 2, 1, 2, 0])
TRUE, CHOSEN = np.array([0, 1]), np.array([2, 3, 4])


def minus_log(z: np.ndarray, y: np.ndarray) -> np.ndarray:
    """-log p_y of each row, by hand."""
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    return -np.log(p[np.arange(len(y)), y])


def loss(weights: np.ndarray) -> float:
    """Our loss over V_L ∪ S_U with these weights."""
    return WeightedLoss(np.arange(5), Y, weights)(torch.from_numpy(Z).float(), 0).item()


def test_cross_entropy_is_minus_log_of_the_labels_probability() -> None:
    """l(y, p) = -log p_y; one row by hand: log(1 + e^-2 + e^-3)."""
    ours = cross_entropy(torch.from_numpy(Z).float(), torch.from_numpy(Y)).numpy()
    np.testing.assert_allclose(ours, minus_log(Z, Y), rtol=1e-6)
    assert ours[0] == pytest.approx(np.log(1 + np.exp(-2) + np.exp(-3)), rel=1e-6)
    assert ours[1] == pytest.approx(np.log(3), rel=1e-6)


def test_objective_func_is_the_weighted_loss_with_balanced_weights() -> None:
    """Eq. objective_func, λ = 1: E_{V_L} l + E_{S_U} l is our loss with w = M/|V_L| on V_L and M/|S_U| on S_U.

    With w = 1 our loss is Eq. loss_st instead, in which the two means count by their sizes: the paper defines both,
    and its final loss continues Eq. loss_st.
    """
    l = minus_log(Z, Y)  # noqa: E741
    weights = np.concatenate([np.full(2, 5 / 2), np.full(3, 5 / 3)])
    assert loss(weights) == pytest.approx(l[TRUE].mean() + l[CHOSEN].mean(), rel=1e-6)
    assert loss(np.ones(5)) != pytest.approx(l[TRUE].mean() + l[CHOSEN].mean(), rel=1e-2)


def test_loss_pop_is_the_mean_over_true_labels() -> None:
    """Eq. loss_pop on the sample V_L: the teacher's loss."""
    ours = WeightedLoss(TRUE, Y[TRUE], np.ones(2))(torch.from_numpy(Z[TRUE]).float(), 0).item()
    assert ours == pytest.approx(minus_log(Z, Y)[TRUE].mean(), rel=1e-6)


def test_loss_st_weighs_both_means_by_their_sizes() -> None:
    """Eq. loss_st: |V_L|/M E_{V_L} l + |S_U|/M E_{S_U} l is our loss with w = 1."""
    l = minus_log(Z, Y)  # noqa: E741
    assert loss(np.ones(5)) == pytest.approx(2 / 5 * l[TRUE].mean() + 3 / 5 * l[CHOSEN].mean(), rel=1e-6)


@pytest.mark.parametrize("beta", [0.25, 1 / 3, 0.5, 1.0, 4 / 3])
def test_beta_scales_and_the_unit_of_gain_cancels(beta: float) -> None:
    """mean B̄ = 1/β, B̄(β) = B̄(1)/β, and B̄ of c·B is B̄ of B."""
    gain = np.random.default_rng(0).gamma(2.0, size=40)
    ours = normalised_gain(gain, beta)
    assert ours.mean() == pytest.approx(1 / beta)
    np.testing.assert_allclose(ours, normalised_gain(gain, 1.0) / beta)
    np.testing.assert_allclose(ours, normalised_gain(1e-5 * gain, beta))


def test_final_loss_by_its_own_formula() -> None:
    """Eq. final_loss: |S_U|/M E[B̄ l(ȳ, p)] + |V_L|/M E[l(y, p)] with B̄ from gains 0, 1, 5 and β = 1/3."""
    l, gain, beta = minus_log(Z, Y), np.array([0.0, 1.0, 5.0]), 1 / 3  # noqa: E741
    bar = gain / (beta * gain.mean())
    wanted = 3 / 5 * (bar * l[CHOSEN]).mean() + 2 / 5 * l[TRUE].mean()
    assert loss(np.concatenate([np.ones(2), normalised_gain(gain, beta)])) == pytest.approx(wanted, rel=1e-6)


def test_identity_transition_changes_nothing() -> None:
    """With T = I the corrected loss and its gradient are those of cross-entropy."""
    plain = torch.from_numpy(Z).float().requires_grad_()
    through = torch.from_numpy(Z).float().requires_grad_()
    WeightedLoss(np.arange(5), Y, np.arange(1.0, 6.0))(plain, 0).backward()
    corrected = WeightedLoss(np.arange(5), Y, np.arange(1.0, 6.0), CorrectedCrossEntropy(torch.eye(3)))
    value = corrected(through, 0)
    value.backward()
    assert value.item() == pytest.approx(loss(np.arange(1.0, 6.0)), rel=1e-6)
    np.testing.assert_allclose(through.grad, plain.grad, atol=1e-6)


def test_corrected_loss_contracts_over_the_true_label() -> None:
    """f_θ̄,j = Σ_k p_k T_kj with T_kj = P(pseudo j | true k): true 0 is called 1 in three cases of four, by hand."""
    t = torch.tensor([[0.25, 0.75], [0.0, 1.0]])
    p = torch.tensor([[0.8, 0.2]])
    ours = CorrectedCrossEntropy(t)(p.log(), torch.tensor([1])).item()
    assert ours == pytest.approx(-np.log(0.8 * 0.75 + 0.2 * 1.0), rel=1e-6)


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
