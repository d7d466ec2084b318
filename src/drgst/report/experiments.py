"""The grids that figures and claims are made from, and the words of the shell that run them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from drgst.bench.grid import Grid
from drgst.report.paper import LABELS

CURVES = ("gcn", "gat", "appnp", "drgst-do", "drgst-de")  # of accuracy against labels a class, as in the paper
FAMILIES = {"do": "drgst-do", "de": "drgst-de"}
SWEEPS: dict[str, tuple[float, ...]] = {  # setting -> the values of the paper's figure for Cora
    "threshold": (0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7),
    "beta": (1 / 3, 1 / 2, 2 / 3, 1.0),
}
SWEEP_LABELS = (3, 5, 10)


@dataclass(frozen=True)
class Plan:
    """What all grids of one experiment share."""

    datasets: Sequence[str] = ("cora",)
    per_class: Sequence[int] = LABELS
    draws: int = 3
    changes: Mapping[str, Any] = field(default_factory=dict)
    root: str | None = None

    def grid(self, recipes: Sequence[str], **changes: Any) -> Grid:
        """These recipes, with these settings over the plan's own."""
        settings = {**self.changes, **changes}
        return Grid(self.datasets, self.per_class, recipes, self.draws, settings, root=self.root)


def family(whole: str) -> tuple[str, ...]:
    """A variant of DR-GST and its ablations: both parts, information gain, loss correction, neither."""
    return whole, f"{whole}-ig", f"{whole}-lc", f"{whole}-wo"


def sweep(plan: Plan, setting: str, recipes: Sequence[str], values: Sequence[float] | None = None) -> list[Grid]:
    """A grid for each value of a setting."""
    return [plan.grid(recipes, **{setting: value}) for value in values or SWEEPS[setting]]


def variant(changes: Mapping[str, Any]) -> str:
    """How the store calls runs of a recipe with these settings over its own."""
    return ",".join(f"{name}={value}" for name, value in sorted(changes.items())) or "default"


def command(grid: Grid, store: Path | str) -> str:
    """The words of the shell that run a grid."""
    settings = "".join(f" --set {name}={value:.6g}" for name, value in grid.changes.items())
    labels = ",".join(str(k) for k in grid.per_class)
    return (
        f"drgst bench --datasets {','.join(grid.datasets)} --per-class {labels} --recipes {','.join(grid.recipes)} "
        f"--draws {grid.draws}{settings} --store {store}"
    )
