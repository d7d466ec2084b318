"""The grid: data sets × labels per class × recipes × draws."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product, starmap
from typing import TYPE_CHECKING, Any

from drgst.datasets.registry import data_source
from drgst.errors import SettingError

if TYPE_CHECKING:
    from drgst.runs.config import RunConfig


@dataclass(frozen=True, order=True)
class Cell:
    """All draws of one recipe on one data set with so many labels per class."""

    source: str
    per_class: int
    recipe: str


@dataclass(frozen=True)
class Grid:
    """The runs that a bench is to make."""

    datasets: Sequence[str]  # names or paths
    per_class: Sequence[int]
    recipes: Sequence[str]
    draws: int
    changes: Mapping[str, Any] = field(default_factory=dict)  # of settings, for all runs
    presets: Sequence[RunConfig] = ()  # settings for the cells they name; the last that fits counts
    pool: str = "unlabelled"
    validation: str = "public"
    root: str | None = None  # folder with the data sets' files
    own: Sequence[str] = ()  # recipes that only this process knows

    def __post_init__(self) -> None:
        for name in ("datasets", "per_class", "recipes"):
            if not getattr(self, name):
                raise SettingError(f"the grid is empty: {name} names nothing")
            object.__setattr__(self, name, tuple(dict.fromkeys(getattr(self, name))))
        if self.draws < 1:
            raise SettingError(f"the grid is empty: draws is {self.draws}, but at least 1 is needed")
        for k in self.per_class:
            if k < 1:
                raise SettingError(f"per_class is {k}, but at least 1 label per class is needed")
        object.__setattr__(self, "datasets", tuple(data_source(d) for d in self.datasets))

    def cells(self) -> Iterator[Cell]:
        """Every cell, data sets outermost."""
        yield from starmap(Cell, product(self.datasets, self.per_class, self.recipes))

    def changes_of(self, cell: Cell) -> dict[str, Any]:
        """The settings of this cell: those of the last preset that fits it, then those for all cells."""
        fitting = [p.settings for p in self.presets if _fits(p, cell)]
        return {**(fitting[-1] if fitting else {}), **self.changes}


def _fits(preset: RunConfig, cell: Cell) -> bool:
    """Whether the cell has everything that the preset names."""
    pairs = ((preset.data, cell.source), (preset.recipe, cell.recipe), (preset.per_class, cell.per_class))
    return all(named in (None, value) for named, value in pairs)
