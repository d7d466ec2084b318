"""p_kj = T_kj and Eq. update_T: how T is read off a student's output on the true-labelled nodes."""

import numpy as np
import pytest
import torch

from drgst.nn.losses import CorrectedCrossEntropy
from drgst.selftrain.slots.correct import learn_transition, learn_transition_as_released


def transition_loss(t: np.ndarray, p: np.ndarray, labels: np.ndarray) -> float:
    """Σ_k Σ_{i: y_i = k} ‖T_k - f(x_i)‖² + ‖T Tᵀ - I‖² (Eq. update_T)."""
    c = t.shape[0]
    return float(((t[labels] - p) ** 2).sum() + ((t @ t.T - np.eye(c)) ** 2).sum())


def gradient(t: np.ndarray, p: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Of Eq. update_T, by central differences of the formula written out with loops."""

    def loss(m: np.ndarray) -> float:
        fit = sum(((m[k] - row) ** 2).sum() for k, row in zip(labels, p, strict=True))
        return fit + np.linalg.norm(m @ m.T - np.eye(len(m)), "fro") ** 2

    out = np.zeros_like(t)
    for place in np.ndindex(t.shape):
        step = np.zeros_like(t)
        step[place] = 1e-5
        out[place] = (loss(t + step) - loss(t - step)) / 2e-5
    return out


def test_output_of_a_labelled_node_is_a_row_of_the_transition() -> None:
    """p_kj = T_kj: what the corrected output says of a node that is surely of class k is row k of T."""
    t = torch.tensor([[0.7, 0.2, 0.1], [0.0, 1.0, 0.0], [0.3, 0.3, 0.4]])
    sure = torch.full((3, 3), -40.0).fill_diagonal_(40.0)  # p = I
    for j in range(3):
        losses = CorrectedCrossEntropy(t)(sure, torch.full((3,), j))
        np.testing.assert_allclose((-losses).exp(), t[:, j], atol=1e-7)


def test_identity_is_found_where_students_are_sure_and_right() -> None:
    """f(x_i) = e_k for every labelled node: both terms vanish at T = I."""
    labels = np.array([0, 0, 1, 2, 2])
    np.testing.assert_allclose(learn_transition(np.eye(3)[labels], labels, 3), np.eye(3), atol=1e-6)


def test_learnt_transition_is_a_stationary_point_below_the_start() -> None:
    """The gradient of Eq. update_T vanishes at the learnt T and its loss is below those of I and of the class means."""
    rng = np.random.default_rng(0)
    for _ in range(10):
        labels = rng.permutation(np.repeat(np.arange(4), 3))
        p = rng.dirichlet(np.ones(4), size=12) * 0.5 + 0.5 * np.eye(4)[labels]
        t = learn_transition(p, labels, 4)
        assert np.abs(gradient(t, p, labels)).max() < 1e-3
        means = np.stack([p[labels == k].mean(axis=0) for k in range(4)])
        assert transition_loss(t, p, labels) < min(
            transition_loss(np.eye(4), p, labels), transition_loss(means, p, labels)
        )


def test_many_labels_pull_towards_the_class_means_few_towards_orthogonality() -> None:
    """The data term grows with N_k, the regulariser does not: with 10,000 labels per class T is p̄, not with one."""
    p, labels = np.array([[0.6, 0.4], [0.3, 0.7]]), np.array([0, 1])
    many = learn_transition(np.repeat(p, 10_000, axis=0), np.repeat(labels, 10_000), 2)
    np.testing.assert_allclose(many, p, atol=1e-3)
    few = learn_transition(p, labels, 2)
    skew = [np.linalg.norm(t @ t.T - np.eye(2)) for t in (few, p)]
    assert skew[0] < 0.5 * skew[1]


def test_a_class_without_a_labelled_node_keeps_its_row_orthogonal() -> None:
    """N_k = 0: only the regulariser speaks for row k, so it stays e_k where the others are sure."""
    t = learn_transition(np.eye(3)[[0, 1]], np.array([0, 1]), 3)
    np.testing.assert_allclose(t, np.eye(3), atol=1e-6)


def test_as_released_goes_between_the_means_and_the_identity() -> None:
    """mean (T_y - f)² + mean (T - I)²: with equal classes of m nodes its minimum is (p̄ + I)/2, less the decay."""
    labels = np.repeat([0, 1], 5)
    p = np.where(labels[:, None] == 0, [0.8, 0.2], [0.4, 0.6])
    t = np.eye(2)
    for _ in range(10):  # warm starts, as the stages of a run give them
        t = learn_transition_as_released(p, labels, t)
    # per entry the two means have weights 1/(2·2) each; decay 5e-4 acts as ¼·1e-3 on the quadratic
    wanted = (np.array([[0.8, 0.2], [0.4, 0.6]]) * 0.5 + np.eye(2) * 0.5) / (1 + 5e-4)
    np.testing.assert_allclose(t, wanted, atol=2e-3)


@pytest.mark.parametrize("p", [[[0.0, 1.0], [0.0, 1.0]], [[0.0, 1.0], [0.01, 0.99]]])
def test_the_minimum_is_the_one_near_the_identity(p: list[list[float]]) -> None:
    """A student that takes class 0 for class 1: from I the first column still tells the classes apart, T_00 > T_10.

    Started at the class means, two equal rows stay equal, and nearly equal ones part the other way round.
    """
    t = learn_transition(np.array(p), np.array([0, 1]), 2)
    np.testing.assert_allclose(t[:, 0], [0.5, -0.5], atol=0.02)


def test_as_released_is_adam_with_weight_decay() -> None:
    """Step by step as torch's Adam with its published learning rate and decay, which moves T by more than rounding."""
    labels = np.repeat([0, 1, 2], 2)
    p = np.random.default_rng(0).dirichlet(np.ones(3), size=6)
    before = np.eye(3) + 0.1

    def by_torch(decay: float) -> np.ndarray:
        t = torch.tensor(before, requires_grad=True)
        adam = torch.optim.Adam([t], lr=0.01, weight_decay=decay)
        for _ in range(200):
            adam.zero_grad()
            loss = ((t[labels] - torch.tensor(p)) ** 2).mean() + ((t - torch.eye(3)) ** 2).mean()
            loss.backward()
            adam.step()
        return t.detach().numpy()

    ours = learn_transition_as_released(p, labels, before)
    np.testing.assert_allclose(ours, by_torch(5e-4), atol=1e-6)
    assert np.abs(ours - by_torch(0.0)).max() > 1e-4
