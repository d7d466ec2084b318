"""drgst-plus: an ensemble over several views of the graph."""

from __future__ import annotations

from drgst.recipes.registry import recipe
from drgst.selftrain.recipe import Recipe
from drgst.selftrain.settings import Settings
from drgst.selftrain.slots.postprocess import CrossFitted
from drgst.selftrain.slots.select import TopShare
from drgst.selftrain.slots.stop import MaxStages, NoNewLabels
from drgst.selftrain.slots.weigh import Anchored
from drgst.selftrain.views.ensemble import MultiViewEnsemble


@recipe(
    "drgst-plus",
    "a linear classifier per view of the graph, combined by out-of-fold likelihood; every label trains",
    "ours, on the loop of Liu et al., WWW 2022",
    version=16,
    stages=5,
    val_labels="train",
)
def drgst_plus(settings: Settings) -> Recipe:
    """log p = log softmax(Σ_v w_v (Z_v W_v + b_v)) over the views v; S_U = the 40, 60, then 70 % most confident.

    Six views of the graph: features propagated along edges, propagated along nearest neighbours, hop by hop, alone, and
    two of edges alone. Propagated features are mapped by their ridge regression on own features, which shortens the
    directions in which a node and its surroundings do not agree. One l2-regularised softmax regression per view. The
    weights w maximise the likelihood of the training labels out of fold, with a Dirichlet prior at the default weights.
    Pseudo-labels are selected by p smoothed over the edges of the views, with the class prior that is stated or that p
    expects. True labels together weigh 0.3 of all pseudo-labels; the part of a class grows with the root of its number
    of labels. Five stages. Validation labels, where there are any, train like all others. Cross-fitting the whole run
    gives the out-of-fold accuracy and one temperature, and its fold runs are averaged with the run. The result is the
    teacher where it hardly predicts held-out labels and the stages predict them worse.
    """
    return Recipe(
        select=TopShare(),
        weigh=Anchored(gain=0.0),
        stop=(NoNewLabels(), MaxStages(settings.stages)),
        learner=MultiViewEnsemble(settings.view, prior=settings.prior),
        postprocess=(CrossFitted(),) if settings.calibrate == "none" else (),
    )
