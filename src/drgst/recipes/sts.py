"""STs: self-training, co-training, their union and intersection, and the best of the four."""

from __future__ import annotations

from drgst.recipes.drgst import by_threshold
from drgst.recipes.presets import published_threshold
from drgst.recipes.registry import recipe
from drgst.selftrain.best_of import BestOf
from drgst.selftrain.parts import Intersection, MaxStages, NoNewLabels, RandomWalk, Threshold, TopPerClass, Union
from drgst.selftrain.recipe import Recipe
from drgst.selftrain.settings import Settings
from drgst.selftrain.slots.select import Select

PAPER = "Li, Han, Wu, Deeper Insights into Graph Convolutional Networks, AAAI 2018"


def _rounds(settings: Settings, select: Select) -> Recipe:
    return Recipe(select=select, stop=(NoNewLabels(), MaxStages(settings.stages)))


@recipe("self-training", "the most confident predictions of each class, one round", PAPER, stages=1)
def self_training(settings: Settings) -> Recipe:
    """S_U = for each class k the t_k most confident nodes predicted as k; then GCN from scratch on V_L ∪ S_U.

    t_k = int(3 η |L_k|/|L|), η = n / d̄^τ with d̄ the mean degree and τ = 2 convolutions, at least 1 (76 per class
    on Cora), of which the pool's part of the unlabelled nodes is taken (31 of 76 on the paper's pool); ``top`` sets
    another number for every class. All nodes weigh 1. One round, as in the paper.
    """
    return _rounds(settings, TopPerClass(settings.top))


@recipe("co-training", "the nodes that random walks from each class reach best, one round", PAPER, stages=1)
def co_training(settings: Settings) -> Recipe:
    """S_U = for each class k the t_k nodes of highest s_uk = Σ_{v ∈ L_k} P_uv, P = (D - A + ε I)^-1 (ParWalks).

    ε = ``walk_epsilon`` is 1e-6, A the loop-free graph. A node in the lists of two classes goes to the higher
    score and is not replaced in the other list; a node that no walk reaches is never selected. t_k as in
    self-training. The teacher is trained as in every recipe, though the selection does not depend on it.
    """
    return _rounds(settings, RandomWalk(settings.top, settings.walk_epsilon))


@recipe("union", "what self-training or co-training would add, one round", PAPER, stages=1)
def union(settings: Settings) -> Recipe:
    """S_U = S_self ∪ S_co, class by class; a node in both with different classes keeps the network's."""
    return _rounds(settings, Union(TopPerClass(settings.top), RandomWalk(settings.top, settings.walk_epsilon)))


@recipe("intersection", "what self-training and co-training would both add, one round", PAPER, stages=1)
def intersection(settings: Settings) -> Recipe:
    """S_U = S_self ∩ S_co: the nodes in both lists of the same class."""
    return _rounds(settings, Intersection(TopPerClass(settings.top), RandomWalk(settings.top, settings.walk_epsilon)))


@recipe("sts", "the best of self-training, co-training, union, intersection by validation", PAPER, keep="best-student")
def sts(settings: Settings) -> BestOf:
    """Stage 1 is self-training, 2 co-training, 3 union, 4 intersection, each a student of the same teacher.

    The stages are alternatives, not steps: the result is the student of highest validation accuracy (of equal
    ones that of lower validation loss), so validation nodes are needed. An empty list (mostly the intersection) ends
    the run. A student has other starting weights here than in the recipe of its own name.
    """
    confident, walk = TopPerClass(settings.top), RandomWalk(settings.top, settings.walk_epsilon)
    selectors = (confident, walk, Union(confident, walk), Intersection(confident, walk))
    return BestOf(tuple(Recipe(select=select, stop=(NoNewLabels(),)) for select in selectors))


@recipe(
    "sts-threshold",
    "self-training by a threshold over up to 10 stages, as DR-GST's authors compared it",
    f"{PAPER}; Liu et al., WWW 2022, for the comparison",
    presets=published_threshold,
    stages=10,
    keep="best",
)
def sts_threshold(settings: Settings) -> Recipe:
    """S_U = {u: max_j p_uj > τ}, selected by each stage's network; then GCN from scratch on V_L ∪ S_U, weights 1.

    τ = ``threshold`` is the one published for DR-GST by dropout where the data set is known. Up to 10 stages
    (``stages``), ended earlier where S_U stays the same or the validation loss has not fallen for two stages; the
    result is the stage of lowest validation loss.
    """
    return Recipe(select=Threshold(settings.threshold), stop=by_threshold(settings))
