"""M3S, ABN, IceBerg, CaGCN-st and margin self-training."""

from __future__ import annotations

from drgst.recipes.baselines import SETTINGS
from drgst.recipes.drgst import by_threshold, until_convergence
from drgst.recipes.presets import published_threshold
from drgst.recipes.registry import recipe
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
    version=2,
    stages=4,
    keep="best-student",
)
def m3s(settings: Settings) -> Recipe:
    """Stage by stage, K = ``stages`` times: of the t_k/K most confident nodes of each class k that are not yet
    pseudo-labelled, those whose cluster is aligned with k join S_U and stay; then retrain from scratch on V_L ∪ S_U.

    Clusters: k-means of the pool's last hidden layer, rows of unit length, into min(200, |pool|/5) clusters (or
    ``clusters``); c(l) = argmin_k ‖ν_l - μ_k‖² with ν_l the centre of cluster l and μ_k the mean of the
    true-labelled nodes of class k. t_k as in self-training, or ``top``, divided by K, at least 1. K = 4. As published
    the training after the last selection is the result (``keep=last``); as S_U only grows, that drifts on Pubmed, where
    accuracy falls from stage to stage, so the default is the student of highest validation accuracy.
    """
    confident = TopPerClass(settings.top, share=max(settings.stages, 1))
    return Recipe(
        select=Accumulate(ClusterChecked(confident, settings.clusters)),
        stop=(NoNewLabels(), MaxStages(settings.stages)),
    )


@recipe(
    "m3s-threshold",
    "self-training by a threshold, checked by clusters, as DR-GST's authors compared it",
    "Sun, Lin, Zhu, AAAI 2020; Liu et al., WWW 2022, for the comparison",
    presets=published_threshold,
    stages=10,
    keep="best",
)
def m3s_threshold(settings: Settings) -> Recipe:
    """S_U = {u: max_j p_uj > τ, and the cluster of u is aligned with argmax_j p_uj}, selected in each stage.

    Clusters as in ``m3s``. τ = ``threshold``, ``stages`` and the result as in ``sts-threshold``.
    """
    select = ClusterChecked(Threshold(settings.threshold), settings.clusters)
    return Recipe(select=select, stop=by_threshold(settings))


@recipe(
    "abn-threshold",
    "ABN with pseudo-labels by a threshold over up to 10 stages, as DR-GST's authors compared it",
    "Zhou et al., arXiv 1910.02684; Liu et al., WWW 2022, for the comparison",
    threshold=0.9,
    negative_weight=0.1,
    stages=10,
    keep="best",
)
def abn_threshold(settings: Settings) -> Recipe:
    """The loss of ``abn`` with S_U = {u: max_j p_uj > τ} selected once in each stage, not in every epoch.

    τ = ``threshold`` is 0.9, since with the default of the authors' comparison code ABN breaks on Cora. The teacher is
    trained with negative pairs, too. ``stages`` and the result as in ``sts-threshold``.
    """
    from drgst.selftrain.learners.objectives import Adaptive  # imports torch, which is slow

    weights = settings.pseudo_weight, settings.negative_weight
    objective = Adaptive(settings.threshold, *weights, settings.negatives, staged=True)
    return Recipe(
        select=Threshold(settings.threshold), learner=Network(objective=objective), stop=by_threshold(settings)
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

    One training. S = {u ∈ pool: max p_u > τ} is selected in every epoch by the training logits (with dropout),
    without gradient through the selection; n_k is the number of nodes of S with pseudo-label k. Pairs: i goes over
    V_L ∪ S, j is drawn from V_L ∪ pool, never i itself and never adjacent to i; one pair for each i, or ``negatives``
    in all, drawn in each epoch; 1 - p is set to 1e-6 at least. τ = ``threshold`` is 0.7, λ =
    ``pseudo_weight`` is 0.1, λ₁ = ``negative_weight`` is 0.1, set on Cora's validation nodes. As S is never fixed,
    the history has stage 0 alone.
    """
    from drgst.selftrain.learners.objectives import Adaptive  # imports torch, which is slow

    objective = Adaptive(settings.threshold, settings.pseudo_weight, settings.negative_weight, settings.negatives)
    reason = "pseudo-labels are selected inside training, anew in every epoch"
    return Recipe(learner=Network(objective=objective), stop=(NoNewLabels(reason),))


@recipe(
    "iceberg",
    "balanced self-training in every epoch on a network that propagates apart from its layers",
    "Li et al., IceBerg: Debiased Self-Training for Class-Imbalanced Node Classification, WWW 2025",
    backbone="appnp",
    **SETTINGS["appnp"],
)
def iceberg(settings: Settings) -> Recipe:
    """L = mean BCE(V_L) + λ · mean over S of [BCE(u, ȳ_u) + ½ RCE(u, ȳ_u)]; BCE = -log softmax(z + log π)_y.

    S = {u ∈ pool: max p_u ≥ the mean of it over the pool}, selected in every epoch after the first 20; π are the
    class shares of V_L and of S, each in its own term (double balancing); RCE = 4 (1 - p_y) is symmetric and robust
    to wrong pseudo-labels. λ = ``pseudo_weight`` is 0.1, set on validation nodes of fresh draws of Cora. The network
    is APPNP, whose propagation is apart from its layers, as in the paper; propagation follows the layers here. Written
    from the paper's description; weights, warm-up and network settings are ours. As S is never fixed, the history has
    stage 0 alone.
    """
    from drgst.selftrain.learners.objectives import DoubleBalancing  # imports torch, which is slow

    objective = DoubleBalancing(settings.pseudo_weight, reverse=0.5)
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

    The calibrator is fitted to the validation nodes after each training (see
    :class:`~drgst.selftrain.slots.calibrate.CaGCN`), the network stays as it is, and no predicted class changes. τ =
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

    t_k as in self-training, or ``top``. One round (``stages``); further rounds select from all nodes again. The rank
    of the margin is what decides; the paper's further rank measures are left out.
    """
    return Recipe(select=Margin(settings.top), stop=until_convergence(settings))
