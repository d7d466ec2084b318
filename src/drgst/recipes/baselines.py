"""Methods without self-training, S_U = ∅: three without a network, and every network alone.

Each network is also a backbone for any other recipe (setting ``backbone``).
"""

from __future__ import annotations

import inspect
from functools import partial
from typing import Any

from drgst.recipes.registry import recipe
from drgst.selftrain.parts import LabelPropagation, LogisticPPR, NoNewLabels
from drgst.selftrain.recipe import Recipe
from drgst.selftrain.settings import Settings


@recipe(
    "label-propagation",
    "label propagation: the graph alone, no features, no network",
    "Zhou et al., Learning with Local and Global Consistency, NeurIPS 2003",
)
def label_propagation(settings: Settings) -> Recipe:
    """F = α (I - (1-α) S)^-1 Y with S = D^-½ A D^-½ and Y the one-hot labels of V_L; p_u = F_u / Σ_k F_uk.

    α = ``alpha`` is 0.1. A thousandth of the uniform is mixed in, so that no class is impossible; a node that no
    label reaches gets 1/C for each class. There is no information gain.
    """
    return Recipe(learner=LabelPropagation(settings.alpha), stop=(NoNewLabels(),))


@recipe(
    "logistic-ppr",
    "logistic regression on PPR-smoothed features, no network",
    "linear baseline; Gasteiger, Bojchevski, Günnemann, Predict then Propagate, ICLR 2019, for the smoothing",
)
def logistic_ppr(settings: Settings) -> Recipe:
    """logits = Π X W + b, Π = α (I - (1-α) Â)^-1, by logistic regression with penalty ‖W‖² / (2c) on V_L.

    X is TF-IDF with unit rows (unit rows alone where a feature is negative), whatever ``normalise`` says; α =
    ``alpha`` is 0.1 and c = ``inverse_l2`` is 100. There is no information gain.
    """
    return Recipe(learner=LogisticPPR(settings.alpha, settings.inverse_l2), stop=(NoNewLabels(),))


@recipe("logistic", "logistic regression on the features, no edges, no network", "linear baseline")
def logistic(settings: Settings) -> Recipe:
    """logits = X W + b: ``logistic-ppr`` with α = 1, Π = I. c = ``inverse_l2`` is 100."""
    return Recipe(learner=LogisticPPR(1.0, settings.inverse_l2), stop=(NoNewLabels(),))


PAPERS = {
    "gcn": ("GCN", "Kipf, Welling, Semi-Supervised Classification with Graph Convolutional Networks, ICLR 2017"),
    "gat": ("GAT", "Veličković et al., Graph Attention Networks, ICLR 2018"),
    "appnp": ("APPNP", "Gasteiger, Bojchevski, Günnemann, Predict then Propagate, ICLR 2019"),
}


SETTINGS: dict[str, dict[str, Any]] = {  # of each network, as its paper has them
    "gcn": {"hidden": 64, "dropout": 0.5},
    "gat": {"hidden": 64, "dropout": 0.6, "lr": 0.005},
    "appnp": {"hidden": 64, "dropout": 0.5},
}


def alone(_settings: Settings) -> Recipe:
    """The network that the setting ``backbone`` names, trained once on V_L."""
    return Recipe(stop=(NoNewLabels(),))


def _describe(backbone: str) -> str:
    """The equations of a network, and how it is trained."""
    from drgst.nn.registry import BACKBONES  # imports torch, which is slow

    return f"{inspect.getdoc(BACKBONES[backbone])}\n\nTrained on V_L only: L = 1/|V_L| Σ -log p_y, S_U = ∅."


for _name, (_title, _paper) in PAPERS.items():
    _own = {"backbone": _name, **SETTINGS[_name]}
    recipe(_name, f"{_title} alone, no self-training", _paper, doc=partial(_describe, _name), **_own)(alone)
