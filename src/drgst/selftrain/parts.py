"""Every part by slot: one place to import them from."""

from __future__ import annotations

from typing import Any

from drgst.selftrain.learners.network import Network
from drgst.selftrain.learners.without_network import LabelPropagation, LogisticPPR
from drgst.selftrain.slots.calibrate import BiasCorrected, CaGCN, Identity, Mixing, Temperature
from drgst.selftrain.slots.correct import CarriedTransition, NoCorrection, Transition
from drgst.selftrain.slots.postprocess import Calibrated, ClassPrior, CorrectAndSmooth
from drgst.selftrain.slots.select import (
    Accumulate,
    ClusterChecked,
    Intersection,
    Margin,
    Nothing,
    Threshold,
    TopPerClass,
    TopShare,
    Union,
)
from drgst.selftrain.slots.stop import Agreement, MaxStages, NoNewLabels, ValidationPlateau
from drgst.selftrain.slots.walks import RandomWalk
from drgst.selftrain.slots.weigh import Anchored, InformationGain, Uniform
from drgst.selftrain.views.ensemble import MultiViewEnsemble

SLOTS: dict[str, tuple[Any, ...]] = {
    "select": (
        Threshold,
        TopPerClass,
        TopShare,
        Margin,
        RandomWalk,
        Union,
        Intersection,
        ClusterChecked,
        Accumulate,
        Nothing,
    ),
    "weigh": (Uniform, InformationGain, Anchored),
    "correct": (NoCorrection, Transition, CarriedTransition),
    "calibrate": (Identity, Temperature, BiasCorrected, Mixing, CaGCN),
    "stop": (MaxStages, NoNewLabels, Agreement, ValidationPlateau),
    "learner": (Network, LabelPropagation, LogisticPPR, MultiViewEnsemble),
    "postprocess": (Calibrated, CorrectAndSmooth, ClassPrior),
}
