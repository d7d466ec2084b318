"""M3S, ABN, CaGCN-st and margin self-training."""

from __future__ import annotations

from drgst.recipes.drgst import until_convergence
from drgst.recipes.registry import recipe
from drgst.selftrain.learners.adaptive import Adaptive
from drgst.selftrain.parts import (
    Accumulate,
    CaGCN,
    ClusterChecked,
    Margin,
    MaxStages,
    Network,
    NoNewLabels,
    Threshold,
    TopPerClass,
)
from drgst.selftrain.recipe import Recipe
from drgst.selftrain.settings import Settings


@recipe(
    "m3s",
    "multi-stage self-training checked by clusters",
    "Sun, Lin, Zhu, Multi-Stage Self-Supervised Learning for Graph Convolutional Networks, AAAI 2020",
    stages=4,
)
def m3s(settings: Settings) -> Recipe:
    """Stage by stage, K = ``stages`` times: of the t_k/K most confident nodes of each class k that are not yet
    pseudo-labelled, those whose cluster is aligned with k join S_U and stay; then retrain from scratch on V_L ∪ S_U.

    Clusters: k-means of the pool's last hidden layer, rows of unit length, into min(200, |pool|/5) clusters (or
    ``clusters``); c(l) = argmin_k ‖ν_l - μ_k‖² with ν_l the centre of cluster l and μ_k the mean of the
    true-labelled nodes of class k. Mini-batch k-means. t_k as in self-training, or ``top``, divided by K, at
    least 1. K = 4. The training after the last selection is the result.
    """
    confident = TopPerClass(settings.top, share=max(settings.stages, 1))
    return Recipe(
        select=Accumulate(ClusterChecked(confident, settings.clusters)),
        stop=(NoNewLabels(), MaxStages(settings.stages)),
    )


@recipe(
    "abn",
    "adaptive pseudo-labels every epoch, class balance, negative sampling",
    "Zhou et al., Effective Stabilized Self-Training on Few-Labeled Graph Data, arXiv 1910.02684",
    threshold=0.7,
    negative_weight=0.1,
)
def abn(settings: Settings) -> Recipe:
    """L = 1/|V_L| Σ_{V_L} CE + λ Σ_{u ∈ S} CE(u, ȳ_u) / n_ȳu + λ₁ · mean over pairs of -log(1 - p_j[y_i]).

    One training. S = {u ∈ pool: max p_u > τ} is selected anew in every epoch by the training logits (with dropout),
    without gradient through the selection; n_k is the number of nodes of S with pseudo-label k. Pairs: i goes over
    V_L ∪ S, j is drawn from V_L ∪ pool, never i itself and never adjacent to i; one pair for each i, or ``negatives``
    in all, drawn anew each epoch; 1 - p counts as 1e-6 at least. τ = ``threshold`` is 0.7, λ =
    ``pseudo_weight`` is 0.1, λ₁ = ``negative_weight`` is 0.1, set on Cora's validation nodes. As S is never fixed,
    the history has stage 0 alone.
    """
    objective = Adaptive(settings.threshold, settings.pseudo_weight, settings.negative_weight, settings.negatives)
    reason = "pseudo-labels are selected inside training, anew in every epoch"
    return Recipe(learner=Network(objective=objective), stop=(NoNewLabels(reason),))


@recipe(
    "cagcn-st",
    "self-training by calibrated confidence",
    "Wang et al., Be Confident! Towards Trustworthy Graph Neural Networks via Confidence Calibration, NeurIPS 2021",
    threshold=0.8,
)
def cagcn_st(settings: Settings) -> Recipe:
    """S_U = {u: max_j p'_uj > τ}, p' = softmax(z_u s_u), s_u = log(exp(t_u) + 1.1), t = GCN(Z) (CaGCN).

    The calibrator is fitted anew to the validation nodes after each training (see
    :class:`~drgst.selftrain.calibrate.cagcn.CaGCN`), the network stays as it is, and no predicted class changes. τ =
    ``threshold`` is 0.8. Stages until S_U stays the same, 3 at most (``stages``). Needs validation nodes.
    """
    return Recipe(select=Threshold(settings.threshold), stop=until_convergence(settings), calibrate=CaGCN())


@recipe(
    "margin-st",
    "self-training by the margin of the first class over the second",
    "Pedronette, Latecki, Rank-based self-training for graph convolutional networks, IP&M 2021",
    stages=1,
)
def margin_st(settings: Settings) -> Recipe:
    """S_U = for each class k the t_k nodes predicted as k with the largest p_(1) - p_(2); retrain from scratch.

    t_k as in self-training, or ``top``. One round (``stages``); in further ones the list is made anew. The rank
    of the margin is what decides; the paper's further rank measures are left out.
    """
    return Recipe(select=Margin(settings.top), stop=until_convergence(settings))
