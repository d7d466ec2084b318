"""Two methods that need no network."""

from __future__ import annotations

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
