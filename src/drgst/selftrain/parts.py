"""Every part by slot and name: one place to import them from, and what a recipe file may name."""

from __future__ import annotations

from typing import Any

from drgst.selftrain.calibrate.parts import BiasCorrected, CaGCN, Identity, Mixing, Temperature
from drgst.selftrain.correct.parts import CarriedTransition, GeneralisedCE, NoCorrection, Transition
from drgst.selftrain.learners.adaptive import Adaptive
from drgst.selftrain.learners.logistic import LogisticPPR
from drgst.selftrain.learners.multiview.ensemble import MultiViewEnsemble
from drgst.selftrain.learners.network import Network
from drgst.selftrain.learners.propagation import LabelPropagation
from drgst.selftrain.postprocess.smooth import CorrectAndSmooth
from drgst.selftrain.select.clusters import ClusterChecked
from drgst.selftrain.select.combine import Agree, Alternatives, Intersection, Union
from drgst.selftrain.select.rank import Margin, TopPerClass
from drgst.selftrain.select.threshold import Nothing, Threshold
from drgst.selftrain.select.top_share import Anchored, TopShare
from drgst.selftrain.select.walks import RandomWalk
from drgst.selftrain.stop.parts import Agreement, MaxStages, NoNewLabels, ValidationPlateau
from drgst.selftrain.weigh.balance import ClassBalance, Product
from drgst.selftrain.weigh.information_gain import InformationGain, Uniform

SELECT = (
    Threshold,
    TopPerClass,
    TopShare,
    Margin,
    RandomWalk,
    Union,
    Intersection,
    ClusterChecked,
    Agree,
    Alternatives,
    Nothing,
)
WEIGH = (Uniform, InformationGain, ClassBalance, Anchored, Product)
CORRECT = (NoCorrection, Transition, CarriedTransition, GeneralisedCE)
CALIBRATE = (Identity, Temperature, BiasCorrected, Mixing, CaGCN)
STOP = (MaxStages, NoNewLabels, Agreement, ValidationPlateau)
LEARNER = (Network, LabelPropagation, LogisticPPR, MultiViewEnsemble)
FINISH = (CorrectAndSmooth,)

PARTS: dict[str, dict[str, Any]] = {  # slot -> name -> class
    slot: {kind.__name__: kind for kind in kinds}
    for slot, kinds in (
        ("select", SELECT),
        ("weigh", WEIGH),
        ("correct", CORRECT),
        ("calibrate", CALIBRATE),
        ("stop", STOP),
        ("learner", LEARNER),
        ("finish", FINISH),
    )
}

__all__ = [
    "PARTS",
    "Adaptive",
    "Agree",
    "Agreement",
    "Alternatives",
    "Anchored",
    "BiasCorrected",
    "CaGCN",
    "CarriedTransition",
    "ClassBalance",
    "ClusterChecked",
    "CorrectAndSmooth",
    "GeneralisedCE",
    "Identity",
    "InformationGain",
    "Intersection",
    "LabelPropagation",
    "LogisticPPR",
    "Margin",
    "MaxStages",
    "Mixing",
    "MultiViewEnsemble",
    "Network",
    "NoCorrection",
    "NoNewLabels",
    "Nothing",
    "Product",
    "RandomWalk",
    "Temperature",
    "Threshold",
    "TopPerClass",
    "TopShare",
    "Transition",
    "Uniform",
    "Union",
    "ValidationPlateau",
]
