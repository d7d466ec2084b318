"""drgst-plus: an ensemble over several views of the graph."""

from __future__ import annotations

from drgst.recipes.registry import recipe
from drgst.selftrain.learners.multiview.ensemble import MultiViewEnsemble
from drgst.selftrain.postprocess.cross_fitted import CrossFitted
from drgst.selftrain.recipe import Recipe
from drgst.selftrain.select.top_share import TopShare
from drgst.selftrain.settings import Settings
from drgst.selftrain.stop.max_stages import MaxStages
from drgst.selftrain.stop.no_new_labels import NoNewLabels
from drgst.selftrain.weigh.anchored import Anchored


@recipe(
    "drgst-plus",
    "an ensemble of linear classifiers over automatically chosen views; needs no validation labels",
    "ours, on the loop of Liu et al., WWW 2022",
    version=7,
    keep="best-student",
)
def drgst_plus(settings: Settings) -> Recipe:
    """log p = mean of log softmax(Z W + b) over representations Z = Π X; S_U = the 40, 60, 70 % of highest confidence.

    X is TF-IDF and row-normalised features, each reduced to 256 columns; Π smooths over a view: the graph's edges,
    nearest neighbours, neither, or several views together, chosen from edges, features and the known labels.
    Pseudo-labels have the class prior that the ensemble expects and are weighted by its disagreement; true labels weigh
    0.3 of them together. Three stages. Validation labels choose view, l2 and stage and set a scale per view, a shift
    per class and, where there are enough, mixing matrices over own and smoothed log-probabilities. Without validation
    labels, out-of-fold training labels choose the view, the last student is the result, and cross-fitting sets one
    temperature, which changes no class.
    """
    return Recipe(
        select=TopShare(),
        weigh=Anchored(),
        stop=(NoNewLabels(), MaxStages(settings.stages)),
        learner=MultiViewEnsemble(settings.view),
        postprocess=(CrossFitted(),) if settings.calibrate == "none" else (),
    )
