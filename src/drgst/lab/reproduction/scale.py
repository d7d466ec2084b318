"""How much of the paper is run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from drgst.lab.experiments import CURVES, DRGST, SWEEPS, Experiment, ablations
from drgst.lab.figures.request import ToySizes
from drgst.lab.grid.grid import Grid
from drgst.lab.paper import DATASETS, LABELS, METHODS


@dataclass(frozen=True)
class Scale:
    """What is run; the first data set is the one of figures and claims about a single data set."""

    name: str
    datasets: Sequence[str]
    per_class: Sequence[int]
    recipes: Sequence[str]
    draws: int
    ablation_labels: Sequence[int]
    sweep_labels: Sequence[int]
    sweep_recipes: Sequence[str]
    sweeps: Mapping[str, Sequence[float]]
    changes: Mapping[str, Any] = field(default_factory=dict)  # of settings, for every run
    root: str | None = None
    toy: ToySizes = field(default_factory=ToySizes)

    def grids(self) -> dict[str, list[Grid]]:
        """Title -> grids. A run that is in several grids is made once."""
        main = Experiment(self.datasets, self.per_class, self.draws, self.changes, self.root)
        ablated = replace(main, per_class=self.ablation_labels)
        swept = replace(main, datasets=self.datasets[:1], per_class=self.sweep_labels)
        return {
            "accuracy against labels per class": [main.grid(self.recipes)],
            "the ablations": [ablated.grid([recipe for full in DRGST for recipe in ablations(full)])],
            **{f"the {name}": swept.sweep(name, self.sweep_recipes, values) for name, values in self.sweeps.items()},
        }


QUICK = Scale(
    name="quick",
    datasets=("cora",),
    per_class=(3, 20),
    recipes=("gcn", *DRGST),
    draws=3,
    ablation_labels=(3,),
    sweep_labels=(3,),
    sweep_recipes=("drgst-de",),
    sweeps={"threshold": (0.4, 0.55, 0.7), "beta": (1 / 3, 2 / 3, 1.0)},
)
FULL = Scale(
    name="full",
    datasets=DATASETS,
    per_class=LABELS,
    recipes=tuple(dict.fromkeys([*METHODS, *CURVES, "self-training", "cagcn-st", "margin-st"])),
    draws=10,
    ablation_labels=LABELS,
    sweep_labels=LABELS,
    sweep_recipes=DRGST,
    sweeps=SWEEPS,
)
