"""What a user's own parts hand back, checked: the engine relies on it and does not check again."""

from __future__ import annotations

import numpy as np

from drgst.errors import SettingError
from drgst.selftrain.beliefs import Beliefs, Chosen
from drgst.selftrain.weigh import Weights


def check_chosen(chosen: Chosen, beliefs: Beliefs) -> Chosen:
    """S_U: nodes of the pool and nowhere else, each once, each with the label of a class."""
    outside = np.setdiff1d(chosen.nodes, beliefs.split.pool)
    if outside.size:
        raise SettingError(f"the select part chose node {outside[0]}, which is not in the pool")
    if chosen.labels.shape != chosen.nodes.shape:
        raise SettingError(f"the select part gave {chosen.labels.size} labels for {chosen.nodes.size} nodes")
    unique, counts = np.unique(chosen.nodes, return_counts=True)
    if unique.size != chosen.nodes.size:
        raise SettingError(f"the select part chose node {unique[counts > 1][0]} more than once")
    classes = beliefs.logits.shape[1]
    strange = chosen.labels[(chosen.labels < 0) | (chosen.labels >= classes)]
    if strange.size:
        raise SettingError(f"the select part gave label {strange[0]} (allowed: 0 to {classes - 1})")
    return chosen


def check_weights(weights: Weights, beliefs: Beliefs, chosen: Chosen) -> Weights:
    """w: one for every training node and every chosen node, finite and never negative."""
    for name, given, nodes in (
        ("training", weights.true, beliefs.split.train),
        ("chosen", weights.chosen, chosen.nodes),
    ):
        if np.shape(given) != nodes.shape:
            raise SettingError(f"the weigh part gave {np.size(given)} weights for {nodes.size} {name} nodes")
        bad = np.flatnonzero(~(np.isfinite(given) & (given >= 0)))
        if bad.size:
            raise SettingError(
                f"the weigh part gave {name} node {nodes[bad[0]]} the weight {given[bad[0]]} (allowed: finite, from 0)"
            )
    return weights
