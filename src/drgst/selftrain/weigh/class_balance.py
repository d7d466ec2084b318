"""Weigh every class alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drgst.selftrain.beliefs import Beliefs, PseudoLabels
from drgst.selftrain.weigh.base import Weights


def balanced(labels: np.ndarray, classes: int) -> np.ndarray:
    """w_u = M / (K n_c) for u of class c, with n_c of the M nodes in c and K classes present, (M,): mean weight 1."""
    counts = np.bincount(labels, minlength=classes)
    present = np.count_nonzero(counts)
    return labels.size / (present * counts[labels]) if labels.size else np.empty(0)


@dataclass(frozen=True)
class ClassBalance:
    """w_u = |S_U| / (K n_c): each pseudo-labelled class has the same total weight; 1 on V_L."""

    def __call__(self, beliefs: Beliefs, pseudo: PseudoLabels) -> Weights:
        weights = balanced(pseudo.labels, beliefs.graph.num_classes)
        return Weights(np.ones(beliefs.split.train.size), weights)
