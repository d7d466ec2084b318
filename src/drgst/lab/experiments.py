"""The grids of runs behind the figures and claims, and the shell commands that run them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from drgst.lab.grid.grid import Grid
from drgst.lab.paper import LABELS

DRGST = ("drgst-do", "drgst-de")
CURVES = ("gcn", "gat", "appnp", *DRGST)  # recipes of the paper's figure of accuracy against labels per class
SWEEPS: dict[str, tuple[float, ...]] = {  # setting -> values of the paper's figure for Cora
    "threshold": (0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7),
    "beta": (1 / 3, 1 / 2, 2 / 3, 1.0),
}


def ablations(recipe: str) -> tuple[str, ...]:
    """DR-GST in full, with information gain only, with loss correction only, with neither."""
    return recipe, f"{recipe}-ig", f"{recipe}-lc", f"{recipe}-wo"


ABLATED = frozenset(name for recipe in DRGST for name in ablations(recipe)[1:])


@dataclass(frozen=True)
class Experiment:
    """What all grids of one experiment share."""

    datasets: Sequence[str] = ("cora",)
    per_class: Sequence[int] = LABELS
    draws: int = 3
    changes: Mapping[str, Any] = field(default_factory=dict)
    root: str | None = None

    def grid(self, recipes: Sequence[str], **changes: Any) -> Grid:
        """A grid of ``recipes``; ``changes`` override the settings of the experiment."""
        settings = {**self.changes, **changes}
        return Grid(self.datasets, self.per_class, recipes, self.draws, settings, root=self.root)

    def sweep(self, setting: str, recipes: Sequence[str] = DRGST, values: Sequence[float] = ()) -> list[Grid]:
        """One grid per value of ``setting``."""
        return [self.grid(recipes, **{setting: value}) for value in values or SWEEPS[setting]]


def variant_name(changes: Mapping[str, Any]) -> str:
    """The name that the store gives to runs with these changed settings: ``beta=0.5,threshold=0.4``."""
    return ",".join(f"{name}={value}" for name, value in sorted(changes.items())) or "default"


def command(grid: Grid, store: Path | str) -> str:
    """The shell command that runs a grid."""
    settings = "".join(f" --set {name}={value:.6g}" for name, value in grid.changes.items())
    labels = ",".join(str(k) for k in grid.per_class)
    return (
        f"drgst lab bench --datasets {','.join(grid.datasets)} --per-class {labels} --recipes {','.join(grid.recipes)} "
        f"--draws {grid.draws}{settings} --store {store}"
    )
