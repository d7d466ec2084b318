"""How much of the paper is run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from drgst.bench.grid import Grid
from drgst.report.experiments import CURVES, FAMILIES, SWEEP_LABELS, SWEEPS, Plan, family, sweep, variant
from drgst.report.figures.request import Sizes
from drgst.report.paper import DATASETS, LABELS, METHODS

WHOLES = tuple(FAMILIES.values())


@dataclass(frozen=True)
class Scale:
    """What is run; the first data set is the one of figures and claims that are about one."""

    name: str
    datasets: Sequence[str]
    per_class: Sequence[int]
    recipes: Sequence[str]
    ablation_labels: Sequence[int]
    draws: int
    sweep_labels: Sequence[int]
    sweep_recipes: Sequence[str]
    sweeps: Mapping[str, Sequence[float]]
    networks: int  # that the correlation of confidence and gain is taken of
    changes: Mapping[str, Any] = field(default_factory=dict)  # of settings, for every run
    root: str | None = None
    toy: Sizes = field(default_factory=Sizes)

    def grids(self) -> dict[str, list[Grid]]:
        """Title -> grids; runs that several ask for are made once, since the store knows them."""
        main = Plan(self.datasets, self.per_class, self.draws, self.changes, self.root)
        parts = replace(main, per_class=self.ablation_labels)
        swept = replace(main, datasets=self.datasets[:1], per_class=self.sweep_labels)
        found = {
            "accuracy against labels a class": [main.grid(self.recipes)],
            "both ablations": [parts.grid([recipe for whole in WHOLES for recipe in family(whole)])],
        }
        for setting, values in self.sweeps.items():
            found[f"impact of {setting}"] = sweep(swept, setting, self.sweep_recipes, values)
        return found

    @property
    def variant(self) -> str:
        """How the store calls runs with the changes of this scale."""
        return variant(self.changes)


QUICK = Scale(
    name="quick",
    datasets=("cora",),
    per_class=(3, 20),
    recipes=("gcn", *WHOLES),
    ablation_labels=(3,),
    draws=3,
    sweep_labels=(3,),
    sweep_recipes=("drgst-de",),
    sweeps={"threshold": (0.4, 0.55, 0.7), "beta": (1 / 3, 2 / 3, 1.0)},
    networks=2,
)
FULL = Scale(
    name="full",
    datasets=DATASETS,
    per_class=LABELS,
    recipes=tuple(dict.fromkeys([*METHODS, *CURVES, "self-training", "cagcn-st", "margin-st"])),
    ablation_labels=LABELS,
    draws=10,
    sweep_labels=SWEEP_LABELS,
    sweep_recipes=WHOLES,
    sweeps=SWEEPS,
    networks=5,
)
