"""Checks of what the parts of a recipe return and require; the engine relies on them."""

from __future__ import annotations

import numpy as np

from drgst.errors import SettingError
from drgst.selftrain.beliefs import Beliefs, PseudoLabels
from drgst.selftrain.problem import Problem
from drgst.selftrain.recipe import Recipe, part_name, wrapped
from drgst.selftrain.slots.postprocess import Adjusted
from drgst.selftrain.slots.weigh import Weights


def check_requirements(recipe: Recipe, problem: Problem) -> None:
    """Refuse a part that needs validation nodes where the split has none, before anything is trained."""
    if problem.split.val.size:
        return
    for part in wrapped(recipe):
        if "validation" in getattr(part, "requires", ()):
            raise SettingError(
                f"{part_name(part)} is fitted to validation nodes, but the split has none: use calibrate=none and a "
                "recipe that needs no validation nodes, or add validation nodes to the split"
            )


def check_pseudo_labels(pseudo: PseudoLabels, beliefs: Beliefs) -> PseudoLabels:
    """S_U: nodes of the pool and no others, each once, each with the label of a class."""
    if not isinstance(pseudo, PseudoLabels):
        raise SettingError(
            f"the select part returned a {type(pseudo).__name__} (allowed: PseudoLabels(nodes, labels) of "
            "drgst.selftrain.beliefs)"
        )
    count = beliefs.logits.shape[0]
    free = np.zeros(count, dtype=bool)
    free[beliefs.split.pool] = True
    inside = (pseudo.nodes >= 0) & (pseudo.nodes < count)
    outside = pseudo.nodes[~(inside & free[np.where(inside, pseudo.nodes, 0)])]
    if outside.size:
        raise SettingError(f"the select part returned node {outside.min()}, which is not in the pool")
    if pseudo.labels.shape != pseudo.nodes.shape:
        raise SettingError(f"the select part returned {pseudo.labels.size} labels for {pseudo.nodes.size} nodes")
    twice = np.flatnonzero(np.bincount(pseudo.nodes, minlength=1) > 1)
    if twice.size:
        raise SettingError(f"the select part returned node {twice[0]} more than once")
    classes = beliefs.logits.shape[1]
    strange = pseudo.labels[(pseudo.labels < 0) | (pseudo.labels >= classes)]
    if strange.size:
        raise SettingError(f"the select part returned label {strange[0]} (allowed: 0 to {classes - 1})")
    return pseudo


def check_weights(weights: Weights, beliefs: Beliefs, pseudo: PseudoLabels) -> Weights:
    """w: one for every training node and every pseudo-labelled node, finite and not negative."""
    if not isinstance(weights, Weights):
        raise SettingError(
            f"the weigh part returned a {type(weights).__name__} (allowed: Weights(true, pseudo) of "
            "drgst.selftrain.slots.weigh)"
        )
    for name, given, nodes in (
        ("training", weights.true, beliefs.split.train),
        ("pseudo-labelled", weights.pseudo, pseudo.nodes),
    ):
        if np.shape(given) != nodes.shape:
            raise SettingError(f"the weigh part returned {np.size(given)} weights for {nodes.size} {name} nodes")
        bad = np.flatnonzero(~(np.isfinite(given) & (given >= 0)))
        if bad.size:
            raise SettingError(
                f"the weigh part returned the weight {given[bad[0]]} for {name} node {nodes[bad[0]]} (allowed: finite, "
                "from 0)"
            )
    return weights


def check_adjusted(given: Adjusted | np.ndarray, logits: np.ndarray) -> Adjusted:
    """Logits after a postprocess part: as many as before, all finite."""
    adjusted = given if isinstance(given, Adjusted) else Adjusted(given)
    if np.shape(adjusted.logits) != logits.shape:
        raise SettingError(
            f"the postprocess part returned logits of shape {np.shape(adjusted.logits)} (allowed: {logits.shape})"
        )
    if not np.isfinite(adjusted.logits).all():
        raise SettingError("the postprocess part returned logits that are not finite")
    return adjusted
