"""The choosers by name, and the chooser of each recipe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from drgst.decide.labels.choosers import (
    BeforeLabels,
    ClassBalanced,
    HalfRandom,
    InformationGain,
    Margin,
    Medoids,
    Random,
    Switch,
    VarianceReduction,
)
from drgst.decide.labels.state import Chooser
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
TYPICAL_FIRST = BeforeLabels(Medoids(), Switch(TYPICAL, AT_UNCERTAIN))  # 6 labels per class: experiment 030
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
    ChooserSpec("typical-first", TYPICAL_FIRST, "typical nodes first; from 6 labels per class, uncertain ones"),
    ChooserSpec(
        "half-random",
        HalfRandom(TYPICAL_FIRST),
        "half at random until 20 labels are a random sample; the others typical nodes first, then uncertain ones",
    ),
)
CHOOSERS: Mapping[str, ChooserSpec] = {spec.name: spec for spec in _ALL}
SAMPLE = HalfRandom.labels
MEASURED = (  # docs/guides/labels.md; a test compares it with results/label_curves.csv
    "The random ones measure the accuracy. From no labels, its learning curves were above those of random labels on "
    "average and on most graphs, and below them on some."
)
SAFE = "balanced"  # the chooser of a recipe for which none was measured to beat a random sample
CHOOSER_OF = dict.fromkeys(("drgst-plus", "gcn", "drgst-de"), "typical-first")  # experiments 030 and 032
FIRST = "half-random"  # the chooser while fewer than 20 labels are a random sample: experiment 040


def find_chooser(name: str) -> ChooserSpec:
    """The chooser of that name; an unknown name is refused with the nearest one."""
    if name not in CHOOSERS:
        raise SettingError(unknown("chooser", name, CHOOSERS))
    return CHOOSERS[name]


def default_chooser(recipe: str, sampled: int) -> str:
    """The chooser that a recipe suggests labels by where ``sampled`` labels are a random sample.

    One whose learning curves were above those of a random sample, else a class-balanced random sample.
    """
    if recipe not in CHOOSER_OF:
        return SAFE
    return FIRST if sampled < SAMPLE else CHOOSER_OF[recipe]


def chooser_note(recipe: str, by: str) -> str:
    """Why labels are chosen so, in one or two sentences."""
    what = f"Chosen by {by}: {find_chooser(by).summary}."
    if by == FIRST:
        return f"{what} {MEASURED}"
    if by == CHOOSER_OF.get(recipe):
        return f"{what} With {recipe} its learning curves were above those of a random sample on average."
    if by == SAFE and recipe not in CHOOSER_OF:
        return f"A class-balanced random sample: with {recipe} no chooser was measured to beat one."
    return what
