"""Select by random walks: ParWalks, partially absorbing walks from the labelled nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp

from drgst.errors import SettingError
from drgst.graph.core import Graph
from drgst.selftrain.beliefs import Beliefs, PseudoLabels
from drgst.selftrain.slots.select import best_of_each, class_counts

if TYPE_CHECKING:
    from scipy.sparse.linalg import SuperLU


class WalkSolver:
    """P = (D - A + ε I)^-1 as one sparse factorisation in float64, made only of components with a label.

    On a connected piece of n nodes P is 1/(ε n) everywhere plus differences of order 1, so float64 is needed:
    ε = 1e-6 leaves about eight digits. Minimum degree on A + Aᵀ and no pivoting (the matrix is symmetric and
    positive definite) keep the factors small: 1.2 million entries on Pubmed.
    """

    def __init__(self, adjacency: sp.csr_array, epsilon: float) -> None:
        if not epsilon > 0:
            raise SettingError(f"walk_epsilon is {epsilon}: at 0 or below the walk's system D - A + εI is singular")
        from scipy.sparse.csgraph import connected_components  # slow to import

        self.adjacency, self.epsilon = adjacency.astype(np.float64), epsilon
        self.components = connected_components(adjacency, directed=False)[1]
        self._factors: dict[int, tuple[np.ndarray, SuperLU]] = {}

    def scores(self, nodes: np.ndarray, labels: np.ndarray, classes: int) -> np.ndarray:
        """s_uk = Σ_{v ∈ L_k} P_uv, (N, C): only these sums of labelled columns are solved for.

        A node in a component without labels is reached by no walk: its row is zero.
        """
        wanted = np.zeros((self.adjacency.shape[0], classes))
        np.add.at(wanted, (nodes, labels), 1.0)
        scores = np.zeros_like(wanted)
        for component in np.unique(self.components[nodes]):
            members, factor = self._factor(int(component))
            scores[members] = factor.solve(wanted[members])
        return scores

    def _factor(self, component: int) -> tuple[np.ndarray, SuperLU]:
        if component not in self._factors:
            members = np.flatnonzero(self.components == component)
            self._factors[component] = members, self._decompose(self.adjacency[members][:, members])
        return self._factors[component]

    def _decompose(self, a: sp.csr_array) -> SuperLU:
        from scipy.sparse.linalg import splu  # slow to import

        degrees = np.asarray(a.sum(axis=1)).ravel()
        system = (sp.diags_array(degrees + self.epsilon) - a).tocsc()
        try:
            return splu(system, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
        except RuntimeError as error:
            raise SettingError(f"walk_epsilon is {self.epsilon}, too small: D - A + εI is singular ({error})") from None


_SOLVERS: WeakKeyDictionary[Graph, dict[float, WalkSolver]] = WeakKeyDictionary()  # live as long as their graph


def walk_scores(graph: Graph, nodes: np.ndarray, labels: np.ndarray, epsilon: float = 1e-6) -> np.ndarray:
    """s_uk = Σ_{v ∈ L_k} P_uv with P = (D - A + ε I)^-1 on the loop-free graph, (N, C); factored once per graph."""
    made = _SOLVERS.setdefault(graph, {})
    if epsilon not in made:
        made[epsilon] = WalkSolver(graph.adjacency, epsilon)
    return made[epsilon].scores(nodes, labels, graph.num_classes)


def best_reached(scores: np.ndarray, nodes: np.ndarray, counts: np.ndarray) -> PseudoLabels:
    """For every class k the counts_k of ``nodes`` with the highest scores above 0.

    A node in the lists of two classes goes to the one with the higher score (the lower number at a tie) and is not
    replaced in the other list.
    """
    best = np.full(scores.shape[0], -1.0)
    label = np.full(scores.shape[0], -1, dtype=np.int64)
    for k, count in enumerate(counts):
        reached = nodes[scores[nodes, k] > 0]
        taken = reached[best_of_each(scores[reached, k], np.zeros(reached.size, np.int64), np.array([count]))]
        won = taken[scores[taken, k] > best[taken]]
        best[won], label[won] = scores[won, k], k
    pseudo = np.flatnonzero(label >= 0)
    return PseudoLabels.of(pseudo, label[pseudo])


@dataclass(frozen=True)
class RandomWalk:
    """The t_k nodes that walks from class k's labelled nodes reach best: s_uk = Σ_{v ∈ L_k} P_uv, P = (D-A+εI)^-1.

    ParWalks (Wu et al. 2012), the part of co-training that uses the graph alone. ``top`` as in
    :class:`~drgst.selftrain.slots.select.TopPerClass`; a node in the lists of two classes goes to the higher score.
    """

    top: int | None = None
    epsilon: float = 1e-6

    def __call__(self, beliefs: Beliefs) -> PseudoLabels:
        scores = walk_scores(beliefs.graph, beliefs.split.train, beliefs.train_labels, self.epsilon)
        return best_reached(scores, beliefs.candidates, class_counts(beliefs, self.top))
