"""What a user's own parts hand back, checked: the engine relies on it and does not check again."""

from __future__ import annotations

import numpy as np

from drgst.errors import SettingError
from drgst.selftrain.beliefs import Beliefs, PseudoLabels
from drgst.selftrain.weigh.information_gain import Weights


def check_pseudo_labels(pseudo: PseudoLabels, beliefs: Beliefs) -> PseudoLabels:
    """S_U: nodes of the pool and nowhere else, each once, each with the label of a class."""
    outside = np.setdiff1d(pseudo.nodes, beliefs.split.pool)
    if outside.size:
        raise SettingError(f"the select part chose node {outside[0]}, which is not in the pool")
    if pseudo.labels.shape != pseudo.nodes.shape:
        raise SettingError(f"the select part gave {pseudo.labels.size} labels for {pseudo.nodes.size} nodes")
    unique, counts = np.unique(pseudo.nodes, return_counts=True)
    if unique.size != pseudo.nodes.size:
        raise SettingError(f"the select part chose node {unique[counts > 1][0]} more than once")
    classes = beliefs.logits.shape[1]
    strange = pseudo.labels[(pseudo.labels < 0) | (pseudo.labels >= classes)]
    if strange.size:
        raise SettingError(f"the select part gave label {strange[0]} (allowed: 0 to {classes - 1})")
    return pseudo


def check_weights(weights: Weights, beliefs: Beliefs, pseudo: PseudoLabels) -> Weights:
    """w: one for every training node and every chosen node, finite and never negative."""
    for name, given, nodes in (
        ("training", weights.true, beliefs.split.train),
        ("chosen", weights.pseudo, pseudo.nodes),
    ):
        if np.shape(given) != nodes.shape:
            raise SettingError(f"the weigh part gave {np.size(given)} weights for {nodes.size} {name} nodes")
        bad = np.flatnonzero(~(np.isfinite(given) & (given >= 0)))
        if bad.size:
            raise SettingError(
                f"the weigh part gave {name} node {nodes[bad[0]]} the weight {given[bad[0]]} (allowed: finite, from 0)"
            )
    return weights
