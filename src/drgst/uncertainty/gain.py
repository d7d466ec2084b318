"""One door to the information gain of a network, sampled or closed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from drgst.errors import SettingError
from drgst.nn.inputs import Inputs
from drgst.nn.models.base import Backbone, LinearHead
from drgst.uncertainty.closed import closed_gain
from drgst.uncertainty.sampled import sampled_gain

Kind = Literal["dropout", "dropedge", "both"]
Estimator = Literal["sampled", "closed"]


@dataclass(frozen=True)
class GainSettings:
    """How information gain is estimated."""

    kind: Kind = "dropedge"  # what is random in the last layer
    rate: float = 0.3  # drop rate p
    samples: int = 100  # T, for the sampled estimator
    estimator: Estimator = "sampled"


def gain_of(network: Backbone, inputs: Inputs, settings: GainSettings, rng: np.random.Generator) -> np.ndarray:
    """B_u of every node under ``settings``, (N,) float32; zero everywhere at drop rate 0."""
    check_supported(network, settings)
    if settings.rate == 0:
        return np.zeros(inputs.nodes.size, dtype=np.float32)
    if settings.estimator == "closed":
        return closed_gain(network, inputs, settings.kind, settings.rate)
    return sampled_gain(network, inputs, settings.kind, settings.rate, settings.samples, rng)


def check_supported(network: Backbone, settings: GainSettings) -> None:
    """Refuse an estimator that the network's last layer does not permit, and name those it does."""
    allowed = getattr(network, "estimators", frozenset({"dropout", "dropedge"}))
    wanted = {"dropout", "dropedge"} if settings.kind == "both" else {settings.kind}
    name = type(network).__name__
    if not wanted <= allowed:
        listed = ", ".join(sorted(allowed)) or "none"
        raise SettingError(f"{name} has no last layer for gain by {settings.kind} (it supports: {listed})")
    if settings.estimator == "closed" and not isinstance(network, LinearHead):
        raise SettingError(f"{name} has no closed form of the gain, its last layer is not Â(HW); use estimator=sampled")


def cheapest(network: Backbone, settings: GainSettings) -> GainSettings | None:
    """The quickest estimate of the gain that ``network`` permits, or None where it permits none."""
    if isinstance(network, LinearHead):
        return replace(settings, estimator="closed")
    allowed = getattr(network, "estimators", frozenset({"dropout", "dropedge"}))
    kind = settings.kind if settings.kind in allowed else next(iter(sorted(allowed)), None)
    return (
        None if kind is None else replace(settings, kind=kind, estimator="sampled", samples=min(settings.samples, 20))
    )
