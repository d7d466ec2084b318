"""Every part by slot and name: one place to import them from, and what a recipe file may name."""

from __future__ import annotations

from typing import Any

from drgst.selftrain.adaptive import Adaptive
from drgst.selftrain.balance import ClassBalance, Product
from drgst.selftrain.calibrate import BiasCorrected, CaGCN, Identity, Mixing, Temperature
from drgst.selftrain.clusters import ClusterChecked
from drgst.selftrain.combine import Agree, Alternatives, Intersection, Union
from drgst.selftrain.correct import CarriedTransition, GeneralisedCE, NoCorrection, Transition
from drgst.selftrain.learner import NetworkLearner
from drgst.selftrain.logistic import LogisticPPR
from drgst.selftrain.plus.choose import Anchored, TopShare
from drgst.selftrain.plus.committee import Committee
from drgst.selftrain.propagation import LabelPropagation
from drgst.selftrain.rank import Margin, TopPerClass
from drgst.selftrain.select import Nothing, Threshold
from drgst.selftrain.smooth import CorrectAndSmooth
from drgst.selftrain.stop import Agreement, MaxStages, NoLabels, ValidationPlateau
from drgst.selftrain.walks import RandomWalk
from drgst.selftrain.weigh import InformationGain, Uniform

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
STOP = (MaxStages, NoLabels, Agreement, ValidationPlateau)
LEARNER = (NetworkLearner, LabelPropagation, LogisticPPR, Committee)
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
    "Committee",
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
    "NetworkLearner",
    "NoCorrection",
    "NoLabels",
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
