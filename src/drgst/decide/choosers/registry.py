"""The choosers by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from drgst.decide.choosers.base import Chooser
from drgst.decide.choosers.gain import InformationGain
from drgst.decide.choosers.mixture import BeforeLabels, Mixture, Switch
from drgst.decide.choosers.partition import Partition
from drgst.decide.choosers.representative import Density, KCenter, Medoids
from drgst.decide.choosers.sample import ClassBalanced, Random, Spread, Uncertain
from drgst.decide.choosers.uncertain import Entropy, Margin
from drgst.decide.choosers.variance import VarianceReduction
from drgst.errors import SettingError, unknown


@dataclass(frozen=True)
class ChooserSpec:
    """A chooser with its name and what it chooses, in a few words."""

    name: str
    chooser: Chooser
    summary: str
    is_sample: bool = False  # whether every candidate has a known probability of being chosen


_AT_UNCERTAIN = VarianceReduction(target=1.0)
_TYPICAL = VarianceReduction(target=0.5, doubt=10.0, balanced=True)
_ALL = (
    ChooserSpec("random", Random(), "a simple random sample", is_sample=True),
    ChooserSpec("balanced", ClassBalanced(), "a random sample of each predicted class, equally many", is_sample=True),
    ChooserSpec("spread", Spread(), "a random sample that is spread over the propagated features", is_sample=True),
    ChooserSpec("uncertain-sample", Uncertain(), "a random sample, uncertain nodes more often", is_sample=True),
    ChooserSpec("entropy", Entropy(), "the nodes of highest entropy"),
    ChooserSpec("margin", Margin(), "the nodes whose first two classes are nearest"),
    ChooserSpec("gain", InformationGain(), "typical nodes of high information gain, one per cluster"),
    ChooserSpec("medoids", Medoids(), "the medoids of clusters of propagated features (FeatProp)"),
    ChooserSpec("uncertain-medoids", Medoids(1.0), "the medoids of clusters that are weighted by uncertainty"),
    ChooserSpec("density", Density(), "uncertain nodes in dense regions, far from labels"),
    ChooserSpec("k-center", KCenter(), "the nodes farthest from every label"),
    ChooserSpec("partition", Partition(), "typical nodes of communities of the graph (GraphPart)"),
    ChooserSpec("design", VarianceReduction(), "the nodes whose labels lower the variance of a linear model most"),
    ChooserSpec(
        "variance",
        BeforeLabels(Medoids(), _AT_UNCERTAIN),
        "the nodes whose labels lower the variance of uncertain predictions most; before any label, medoids",
    ),
    ChooserSpec(
        "balanced-variance",
        BeforeLabels(Medoids(), _TYPICAL),
        "typical nodes whose labels lower the variance most, as many of each predicted class; medoids at first",
    ),
    ChooserSpec(
        "typical-first",
        BeforeLabels(Medoids(), Switch(_TYPICAL, _AT_UNCERTAIN)),
        "medoids before any label; typical nodes of each predicted class up to 6 labels per class; then the nodes "
        "whose labels lower the variance of uncertain predictions most",
    ),
    ChooserSpec("half-margin", Mixture(Random(), Margin()), "half a random sample, half by margin"),
    ChooserSpec(
        "shift", Mixture(VarianceReduction(), Margin(), shift=10.0), "by design at first, more by margin as labels grow"
    ),
)
CHOOSERS: Mapping[str, ChooserSpec] = {spec.name: spec for spec in _ALL}


def find_chooser(name: str) -> ChooserSpec:
    """The chooser of that name; an unknown name is refused with the nearest one."""
    if name not in CHOOSERS:
        raise SettingError(unknown("chooser", name, CHOOSERS))
    return CHOOSERS[name]
