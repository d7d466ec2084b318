"""drgst-plus: past the paper."""

from __future__ import annotations

from drgst.recipes.registry import recipe
from drgst.selftrain.calibrate.cross_fitted import CrossFitted
from drgst.selftrain.learners.multiview.ensemble import MultiViewEnsemble
from drgst.selftrain.recipe import Recipe
from drgst.selftrain.select.top_share import TopShare
from drgst.selftrain.settings import Settings
from drgst.selftrain.stop.max_stages import MaxStages
from drgst.selftrain.stop.no_new_labels import NoNewLabels
from drgst.selftrain.weigh.anchored import Anchored


@recipe(
    "drgst-plus",
    "a committee of linear readers, views chosen by itself, no validation labels needed",
    "ours, on the loop of Liu et al., WWW 2022",
    version=7,
    keep="best-student",
)
def drgst_plus(settings: Settings) -> Recipe:
    """log p = mean of log softmax(Z W + b) over lenses Z = Π X; S_U = the 40, 60, 70 % of the pool it is surest of.

    X is TF-IDF and row-normalised features, each reduced to 256 columns; Π smooths over the view that joins alike
    nodes: the graph's edges, nearest neighbours, neither, or several such views read together, chosen from edges,
    features and the known labels, with a sentence that says why. Class shares of pseudo-labels are held to what the
    readers expect, so that none takes all. Pseudo-labels weigh by what the readers differ by, true labels 0.3 of them
    together. Three stages. With validation labels, they choose view, l2 and stage, set a scale for each view, a shift
    a class and, where they are plenty, matrices over a node's own belief and that around it. Without, training labels
    left out choose the view, the last student is the result, and runs without a third of the training labels each
    say how sure it may be (one temperature, which changes no class).
    """
    return Recipe(
        select=TopShare(),
        weigh=Anchored(),
        stop=(NoNewLabels(), MaxStages(settings.stages)),
        learner=MultiViewEnsemble(settings.view),
        postprocess=(CrossFitted(),) if settings.calibrate == "none" else (),
    )
