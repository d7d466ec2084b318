"""The choosers by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from drgst.errors import SettingError, unknown
from drgst.label.base import Chooser
from drgst.label.gain import InformationGain
from drgst.label.mixture import Mixture
from drgst.label.partition import Partition
from drgst.label.representative import Density, KCenter, Medoids
from drgst.label.sample import ClassBalanced, Random, Spread, Uncertain
from drgst.label.uncertain import Entropy, Margin
from drgst.label.variance import VarianceReduction


@dataclass(frozen=True)
class ChooserSpec:
    """A chooser with its name and what it chooses, in a few words."""

    name: str
    chooser: Chooser
    summary: str


_ALL = (
    ChooserSpec("random", Random(), "a simple random sample"),
    ChooserSpec("balanced", ClassBalanced(), "a random sample of each predicted class, equally many"),
    ChooserSpec("spread", Spread(), "a random sample that is spread over the propagated features"),
    ChooserSpec("uncertain-sample", Uncertain(), "a random sample, uncertain nodes more often"),
    ChooserSpec("entropy", Entropy(), "the nodes of highest entropy"),
    ChooserSpec("margin", Margin(), "the nodes whose first two classes are nearest"),
    ChooserSpec("gain", InformationGain(), "typical nodes of high information gain, one per cluster"),
    ChooserSpec("medoids", Medoids(), "the medoids of clusters of propagated features (FeatProp)"),
    ChooserSpec("uncertain-medoids", Medoids(1.0), "the medoids of clusters that are weighted by uncertainty"),
    ChooserSpec("density", Density(), "uncertain nodes in dense regions, far from labels"),
    ChooserSpec("k-center", KCenter(), "the nodes farthest from every label"),
    ChooserSpec("partition", Partition(), "typical nodes of communities of the graph (GraphPart)"),
    ChooserSpec("design", VarianceReduction(), "the nodes whose labels lower the variance of a linear model most"),
    ChooserSpec("variance", VarianceReduction(target=1.0), "the same, where predictions are uncertain"),
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
