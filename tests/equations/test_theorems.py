"""Theorem 1, the corollary and Theorem 2, and Proposition 1.

Theorem 1: with γ_u = P_pop/P_st on the pseudo-labelled nodes, L_st is L_pop.

Theorem 2: ‖∇L_pop - ∇L_st‖ ≤ η Ψ (2 P(ȳ ≠ y) + ‖P_st - P_pop‖), η = |S_U|/|V_L ∪ S_U|, in a finite world: nodes with
features x_v and true labels y_v, a softmax-linear model, P_pop and P_st over the nodes. ‖P_st - P_pop‖ is the sum of
absolute differences, which is what bounds ∫ g d(P_pop - P_st) by Ψ times it.

Proposition 1: training through T on pseudo-labels is training on the truth under cross-entropy if T is a permutation,
and not if T mixes classes. (The paper also states it under squared error for any non-zero T. That is too wide: the
minimiser stays for every family f_θ only if TᵀT is a multiple of the identity, or if T is injective and some θ fits the
truth. No squared error is used here.)
"""

import itertools
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from torch import Tensor

from drgst.nn.losses import CorrectedCrossEntropy, WeightedLoss, cross_entropy

POP = np.array([1, 2, 3, 2])  # how often each (node, label) occurs, of 8
SHIFTED = np.array([4, 2, 1, 1])  # … after self-training has favoured the easy first node
SCORES = np.array([[3.0, 0.0], [0.5, 0.0], [-0.5, 0.5], [0.0, 2.0]])
TRUTH = np.array([0, 0, 1, 0])


def mean_loss(places: np.ndarray, weights: np.ndarray, z: np.ndarray = SCORES) -> float:
    """Our loss over a list of places in the finite population."""
    logits = torch.from_numpy(z[places]).double()
    ours = WeightedLoss(np.arange(places.size), TRUTH[places], weights)
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
            loss = WeightedLoss(places, TRUTH[places], weights)((x @ theta)[places], 0)
            grads.append(torch.autograd.grad(loss, theta)[0].numpy())
        np.testing.assert_allclose(grads[0], grads[1], atol=1e-6)


def test_the_condition_that_pseudo_labels_are_right_is_needed() -> None:
    """One wrong pseudo-label, and γ no longer repairs the loss."""
    labelled, pseudo = np.repeat(np.arange(4), POP), np.repeat(np.arange(4), SHIFTED)
    weights = np.concatenate([np.ones(8), (POP / SHIFTED)[pseudo]])
    both = np.concatenate([labelled, pseudo])
    labels = TRUTH[both].copy()
    labels[-1] = 1 - labels[-1]
    wrong = WeightedLoss(both, labels, weights)(torch.from_numpy(SCORES[both]).float(), 0).item()
    assert abs(wrong - mean_loss(labelled, np.ones(8))) > 0.05


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


def test_our_gradient_differs_too_where_the_transition_mixes() -> None:
    """The gradient of our corrected loss on the likelier pseudo-label is not that of cross-entropy on the truth."""
    t = torch.tensor([[0.7, 0.3], [0.2, 0.8]])
    plain, other = (torch.tensor([[0.4, -0.2]]).requires_grad_() for _ in range(2))
    cross_entropy(plain, torch.tensor([0])).sum().backward()
    CorrectedCrossEntropy(t)(other, torch.tensor([0])).sum().backward()
    assert (plain.grad - other.grad).abs().max() > 0.05
