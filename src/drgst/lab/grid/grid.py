"""The grid (data sets × labels per class × recipes × draws), its tasks, and the keys by which the store knows them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product, starmap
from typing import TYPE_CHECKING, Any

from drgst.datasets.registry import data_source
from drgst.errors import SettingError
from drgst.lab.store.schema import canonical

if TYPE_CHECKING:
    from drgst.runs.config import RunConfig


@dataclass(frozen=True, order=True)
class Cell:
    """All draws of one recipe on one data set with one number of labels per class."""

    source: str
    per_class: int
    recipe: str


@dataclass(frozen=True)
class Grid:
    """The runs of a bench."""

    datasets: Sequence[str]  # names or paths
    per_class: Sequence[int]
    recipes: Sequence[str]
    draws: int | Sequence[int]  # their number, or the draws themselves
    changes: Mapping[str, Any] = field(default_factory=dict)  # of settings, for all runs
    presets: Sequence[RunConfig] = ()  # settings for the cells that they name; the last one that fits counts
    pool: str = "unlabelled"
    validation: str = "public"

    def __post_init__(self) -> None:
        for name in ("datasets", "per_class", "recipes"):
            if not getattr(self, name):
                raise SettingError(f"the grid is empty: {name} names nothing")
            object.__setattr__(self, name, tuple(dict.fromkeys(getattr(self, name))))
        if not self.numbers:
            raise SettingError("the grid is empty: at least 1 draw is needed")
        for k in self.per_class:
            if k < 1:
                raise SettingError(f"per_class is {k}, but at least 1 label per class is needed")
        object.__setattr__(self, "datasets", tuple(data_source(d) for d in self.datasets))

    @property
    def numbers(self) -> tuple[int, ...]:
        """The draws."""
        return tuple(range(self.draws) if isinstance(self.draws, int) else self.draws)

    def cells(self) -> Iterator[Cell]:
        """Every cell, data sets outermost."""
        yield from starmap(Cell, product(self.datasets, self.per_class, self.recipes))

    def changes_of(self, cell: Cell) -> dict[str, Any]:
        """The settings of this cell: those of the last preset that fits it, then those for all cells."""
        fitting = [p.settings for p in self.presets if _fits(p, cell)]
        return {**(fitting[-1] if fitting else {}), **self.changes}


def _fits(preset: RunConfig, cell: Cell) -> bool:
    """Whether the preset names this cell, or leaves open what it does not name."""
    pairs = ((preset.data, cell.source), (preset.recipe, cell.recipe), (preset.per_class, cell.per_class))
    return all(named in (None, value) for named, value in pairs)


@dataclass(frozen=True)
class Task:
    """Everything that a worker needs for one run, plain enough to be sent to another machine."""

    source: str  # a data set's name or the path of a graph
    dataset: str
    per_class: int
    recipe: str
    variant: str
    pool: str
    validation: str
    draw: int
    settings: Mapping[str, Any]  # those that the recipe reads
    data_sha256: str
    split_sha256: str
    recipe_version: int = 1
    recipe_sha256: str = ""  # of the source of a recipe that is not one of drgst
    cost: float = 1.0  # without a unit; runs of low cost start first

    @property
    def key(self) -> str:
        """SHA-256 of all that decides the result: data, split, recipe and its version, the settings it reads, seed."""
        facts = {
            "data": self.data_sha256,
            "split": self.split_sha256,
            "recipe": self.recipe_sha256 or self.recipe,
            "version": self.recipe_version,
            "settings": dict(self.settings),
            "seed": self.seed,
        }
        return hashlib.sha256(canonical(facts).encode()).hexdigest()

    @property
    def title(self) -> str:
        """The name of the run in a display, beside its data set and label count."""
        return self.recipe

    @property
    def seed(self) -> int:
        """The seed of the training is the number of the draw."""
        return self.draw
