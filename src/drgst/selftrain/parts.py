"""Every part by slot and name: one place to import them from, and what a recipe file may name."""

from __future__ import annotations

from typing import Any

from drgst.selftrain.calibrate.base import Identity
from drgst.selftrain.calibrate.bias import BiasCorrected
from drgst.selftrain.calibrate.cagcn import CaGCN
from drgst.selftrain.calibrate.mixing import Mixing
from drgst.selftrain.calibrate.temperature import Temperature
from drgst.selftrain.correct.base import NoCorrection
from drgst.selftrain.correct.carried_transition import CarriedTransition
from drgst.selftrain.correct.generalised_ce import GeneralisedCE
from drgst.selftrain.correct.transition import Transition
from drgst.selftrain.learners.logistic import LogisticPPR
from drgst.selftrain.learners.multiview.ensemble import MultiViewEnsemble
from drgst.selftrain.learners.network import Network
from drgst.selftrain.learners.propagation import LabelPropagation
from drgst.selftrain.postprocess.calibrated import Calibrated
from drgst.selftrain.postprocess.class_prior import ClassPrior
from drgst.selftrain.postprocess.smooth import CorrectAndSmooth
from drgst.selftrain.select.accumulate import Accumulate
from drgst.selftrain.select.base import Nothing
from drgst.selftrain.select.clusters import ClusterChecked
from drgst.selftrain.select.combine import Agree, Intersection, Union
from drgst.selftrain.select.random_walk import RandomWalk
from drgst.selftrain.select.threshold import Threshold
from drgst.selftrain.select.top_per_class import Margin, TopPerClass
from drgst.selftrain.select.top_share import TopShare
from drgst.selftrain.stop.agreement import Agreement
from drgst.selftrain.stop.max_stages import MaxStages
from drgst.selftrain.stop.no_new_labels import NoNewLabels
from drgst.selftrain.stop.validation_plateau import ValidationPlateau
from drgst.selftrain.weigh.anchored import Anchored
from drgst.selftrain.weigh.base import Uniform
from drgst.selftrain.weigh.class_balance import ClassBalance
from drgst.selftrain.weigh.information_gain import InformationGain
from drgst.selftrain.weigh.product import Product

SLOTS: dict[str, tuple[Any, ...]] = {
    "select": (
        Threshold,
        TopPerClass,
        TopShare,
        Margin,
        RandomWalk,
        Union,
        Intersection,
        Agree,
        ClusterChecked,
        Accumulate,
        Nothing,
    ),
    "weigh": (Uniform, InformationGain, ClassBalance, Anchored, Product),
    "correct": (NoCorrection, Transition, CarriedTransition, GeneralisedCE),
    "calibrate": (Identity, Temperature, BiasCorrected, Mixing, CaGCN),
    "stop": (MaxStages, NoNewLabels, Agreement, ValidationPlateau),
    "learner": (Network, LabelPropagation, LogisticPPR, MultiViewEnsemble),
    "postprocess": (Calibrated, CorrectAndSmooth, ClassPrior),
}
PARTS: dict[str, dict[str, Any]] = {slot: {kind.__name__: kind for kind in kinds} for slot, kinds in SLOTS.items()}
