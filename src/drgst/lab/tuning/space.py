"""The space that tuning searches: the paper's grid, or a wider one."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drgst.errors import SettingError, unknown

SPACES = ("paper", "wide")
BETAS = (4 / 3, 1.0, 2 / 3, 1 / 2, 1 / 3, 1 / 4)
RATES = (0.1, 0.2, 0.3, 0.4, 0.5)
THRESHOLDS = {  # appendix of the paper
    "cora": tuple(round(0.40 + 0.05 * i, 2) for i in range(8)),
    "citeseer": tuple(round(0.40 + 0.05 * i, 2) for i in range(8)),
    "pubmed": tuple(round(0.60 + 0.05 * i, 2) for i in range(7)),
    "corafull": tuple(round(0.60 + 0.05 * i, 2) for i in range(7)),
    "flickr": tuple(round(0.75 + 0.03 * i, 2) for i in range(8)),
}
OTHERS = tuple(round(0.40 + 0.05 * i, 2) for i in range(11))  # a graph that is not in the paper


@dataclass(frozen=True)
class Choice:
    """One of a few values."""

    values: Sequence[Any]


@dataclass(frozen=True)
class Range:
    """Any number between two, whole or not, on an even or a logarithmic scale."""

    low: float
    high: float
    log: bool = False
    whole: bool = False


Space = Mapping[str, Choice | Range]


def space_of(name: str, dataset: str, read: Collection[str], requires: Collection[str]) -> Space:
    """The space ``paper`` or ``wide`` for a recipe: only settings that it reads, and the drop rate where gain decides.

    ``paper``: τ, β and drop rate as in the appendix, τ by data set. ``wide``: the same as ranges, and the network's
    own settings.
    """
    if name not in SPACES:
        raise SettingError(unknown("space", name, SPACES))
    space = _paper(dataset) if name == "paper" else _wide()
    unused = set() if "gain" in requires else {"drop_rate"}
    found = {key: value for key, value in space.items() if key in read and key not in unused}
    if not found:
        raise SettingError("the paper's grid has nothing for a recipe without threshold or gain; take --space wide")
    return found


def _paper(dataset: str) -> dict[str, Choice | Range]:
    return {
        "threshold": Choice(THRESHOLDS.get(dataset, OTHERS)),
        "beta": Choice(BETAS),
        "drop_rate": Choice(RATES),
    }


def _wide() -> dict[str, Choice | Range]:
    return {
        "threshold": Range(0.2, 0.98),
        "beta": Range(0.1, 4.0, log=True),
        "drop_rate": Range(0.05, 0.7),
        "stages": Range(1, 10, whole=True),
        "lr": Range(1e-3, 0.1, log=True),
        "weight_decay": Range(1e-6, 1e-2, log=True),
        "dropout": Range(0.0, 0.9),
        "hidden": Choice((16, 32, 64, 128)),
    }
