"""The choosers by name, and the chooser of each recipe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from drgst.decide.labels.choosers import (
    BeforeLabels,
    ClassBalanced,
    InformationGain,
    Margin,
    Medoids,
    Random,
    Switch,
)
from drgst.decide.labels.state import Chooser
from drgst.decide.labels.variance import VarianceReduction
from drgst.errors import SettingError, unknown


@dataclass(frozen=True)
class ChooserSpec:
    """A chooser with its name and what it chooses, in a few words."""

    name: str
    chooser: Chooser
    summary: str
    is_sample: bool = False  # whether every candidate has a known probability of being chosen


AT_UNCERTAIN = VarianceReduction(target=1.0)
TYPICAL = VarianceReduction(target=0.5, doubt=10.0, balanced=True)
_ALL = (
    ChooserSpec("random", Random(), "a simple random sample", is_sample=True),
    ChooserSpec("balanced", ClassBalanced(), "a random sample of each predicted class, equally many", is_sample=True),
    ChooserSpec("margin", Margin(), "the nodes whose first two classes are nearest"),
    ChooserSpec("gain", InformationGain(), "typical nodes of high information gain, one per cluster"),
    ChooserSpec("medoids", Medoids(), "the medoids of clusters of propagated features (FeatProp)"),
    ChooserSpec(
        "variance",
        BeforeLabels(Medoids(), AT_UNCERTAIN),
        "the nodes whose labels lower the variance of uncertain predictions most; before any label, medoids",
    ),
    ChooserSpec(
        "typical-first",
        BeforeLabels(Medoids(), Switch(TYPICAL, AT_UNCERTAIN)),
        "medoids before any label; typical nodes of each predicted class up to 6 labels per class; then the nodes "
        "whose labels lower the variance of uncertain predictions most",
    ),
)
CHOOSERS: Mapping[str, ChooserSpec] = {spec.name: spec for spec in _ALL}
SAFE = "balanced"  # the chooser of a recipe for which none was measured to beat a random sample
CHOOSER_OF = dict.fromkeys(("drgst-plus", "gcn", "drgst-de"), "typical-first")  # experiments 030 and 032
FIRST = "typical-first"  # the chooser of a graph without labels: medoids, experiment 022


def find_chooser(name: str) -> ChooserSpec:
    """The chooser of that name; an unknown name is refused with the nearest one."""
    if name not in CHOOSERS:
        raise SettingError(unknown("chooser", name, CHOOSERS))
    return CHOOSERS[name]


def default_chooser(recipe: str) -> str:
    """The chooser that a recipe suggests labels by: one whose learning curves were above those of a random sample."""
    return CHOOSER_OF.get(recipe, SAFE)


def chooser_note(recipe: str, by: str) -> str:
    """Why labels are chosen so, in one or two sentences."""
    what = find_chooser(by).summary
    if by != default_chooser(recipe):
        return f"Chosen by {by}: {what}."
    if recipe in CHOOSER_OF:
        better = f"With {recipe} its learning curves were above those of a random sample on average."
        return f"Chosen by {by}: {what}. {better}"
    return f"A class-balanced random sample: with {recipe} no chooser was measured to beat one."
