"""The corollary and Theorem 2: ‖∇L_pop - ∇L_st‖ ≤ η Ψ (2 P(ȳ ≠ y) + ‖P_st - P_pop‖), η = |S_U|/|V_L ∪ S_U|.

A finite world: nodes with features x_v and true labels y_v, a softmax-linear model, P_pop and P_st over the nodes.
‖P_st - P_pop‖ is the sum of absolute differences, which is what bounds ∫ g d(P_pop - P_st) by Ψ times it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from torch import Tensor

from drgst.nn.losses import WeightedLoss, cross_entropy


@dataclass
class World:
    x: Tensor  # (V, F)
    theta: Tensor  # (F, C), requires grad
    y: np.ndarray  # (V,)
    guess: np.ndarray  # ȳ, (V,)
    pop: np.ndarray  # P_pop, (V,)
    st: np.ndarray  # P_st, (V,)
    labelled: int
    pseudo: int

    @property
    def eta(self) -> float:
        return self.pseudo / (self.labelled + self.pseudo)

    def gradient(self, labels: np.ndarray, share: np.ndarray) -> Tensor:
        """∇ Σ_v share_v l(label_v, p_v), by our weighted loss (which divides by the number of nodes)."""
        nodes = np.arange(share.size)
        loss = WeightedLoss(nodes, labels, share * share.size)(self.x @ self.theta, 0)
        return torch.autograd.grad(loss, self.theta)[0]

    def gap(self) -> float:
        """‖∇L_pop - ∇L_st‖ with Eq. loss_pop and Eq. loss_st."""
        population = self.gradient(self.y, self.pop)
        shifted = (1 - self.eta) * population + self.eta * self.gradient(self.guess, self.st)
        return (population - shifted).norm().item()

    def largest(self) -> float:
        """Ψ: the largest ‖∇l(y, p_v)‖ over nodes and labels."""
        norms = []
        for v in range(self.y.size):
            for c in range(self.theta.shape[1]):
                loss = cross_entropy(self.x[[v]] @ self.theta, torch.tensor([c])).sum()
                norms.append(torch.autograd.grad(loss, self.theta)[0].norm().item())
        return max(norms)

    def bound(self) -> float:
        wrong = self.pop[self.guess != self.y].sum()
        return self.eta * self.largest() * (2 * wrong + np.abs(self.st - self.pop).sum())


def random_world(seed: int, shifted: bool) -> World:
    rng = np.random.default_rng(seed)
    nodes, features, classes = rng.integers(2, 7), rng.integers(1, 4), rng.integers(2, 5)
    pop = rng.dirichlet(np.ones(nodes))
    y = rng.integers(classes, size=nodes)
    wrong = rng.random(nodes) < rng.random()
    return World(
        torch.from_numpy(rng.normal(size=(nodes, features))).float(),
        torch.from_numpy(rng.normal(size=(features, classes))).float().requires_grad_(),
        y,
        np.where(wrong, rng.integers(classes, size=nodes), y),
        pop,
        rng.dirichlet(np.ones(nodes)) if shifted else pop,
        int(rng.integers(1, 20)),
        int(rng.integers(0, 50)),
    )


@pytest.mark.parametrize("shifted", [False, True], ids=["corollary", "theorem 2"])
def test_bound_holds(shifted: bool) -> None:
    """Over 150 random worlds; without shift it is the corollary."""
    ratios = []
    for seed in range(150):
        world = random_world(seed, shifted)
        gap, bound = world.gap(), world.bound()
        assert gap <= bound * (1 + 1e-5) + 1e-6, seed
        ratios.append(gap / bound if bound > 1e-9 else 0.0)
    assert max(ratios) > 0.3, "the worlds come near the bound, so the test means something"


def tight(x: list[list[float]], guess: list[int], pop: list[float], st: list[float]) -> World:
    """Two classes, θ = 0, so p = ½ everywhere and ∇l(0) = -∇l(1) = -∇l(0) at -x; all true labels 0."""
    theta = torch.zeros(1, 2, requires_grad=True)
    zeros = np.zeros(len(guess), dtype=np.int64)
    return World(torch.tensor(x), theta, zeros, np.array(guess), np.array(pop), np.array(st), 3, 5)


def test_where_wrong_labels_alone_make_it_tight() -> None:
    """P_st = P_pop, every pseudo-label wrong: the gap is 2 η Ψ, the bound of the corollary."""
    world = tight([[1.0]], [1], [1.0], [1.0])
    assert world.gap() == pytest.approx(world.bound(), rel=1e-6)
    assert world.gap() == pytest.approx(5 / 8 * 2 * 0.5**0.5, rel=1e-6)


def test_where_shift_alone_makes_it_tight() -> None:
    """All labels right, P_pop on x, P_st on -x: ‖P_st - P_pop‖ = 2 and the gap is 2 η Ψ again."""
    world = tight([[1.0], [-1.0]], [0, 0], [1.0, 0.0], [0.0, 1.0])
    assert world.gap() == pytest.approx(world.bound(), rel=1e-6)


def test_where_neither_occurs_the_gap_is_zero() -> None:
    """Right labels and no shift: L_st is L_pop."""
    world = tight([[1.0], [-1.0]], [0, 0], [0.5, 0.5], [0.5, 0.5])
    assert world.gap() == pytest.approx(0, abs=1e-7)
    assert world.bound() == 0


def test_without_pseudo_labels_the_gap_is_zero() -> None:
    """η = 0."""
    world = random_world(3, shifted=True)
    world.pseudo = 0
    assert world.gap() == pytest.approx(0, abs=1e-6)
