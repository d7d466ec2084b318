"""The description of a run: one object behind the command line, the config file and the run folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from drgst.errors import SettingError, unknown
from drgst.graph.datasets.registry import DATASETS, data_source
from drgst.recipes import find_recipe
from drgst.runs.protocol import VALIDATIONS
from drgst.selftrain.settings import Settings

DATA, RECIPE, PER_CLASS = "cora", "drgst-de", 3


@dataclass(frozen=True)
class RunConfig:
    """One field per key of ``[run]``; None means not given. The config of a started run is complete."""

    data: str | None = None  # name of a data set, or path of a graph
    recipe: str | None = None
    per_class: int | None = None  # training labels to draw per class …
    split: str | None = None  # … or a split file
    seed: int | None = None  # of the draw and of the training
    pool: str | None = None  # the nodes that may be pseudo-labelled
    validation: str | None = None  # "none": validation labels are hidden from the run
    threads: int | None = None  # of torch; another number changes the last bits
    recipe_sha256: str | None = None  # of a recipe file
    data_sha256: str | None = None
    known_sha256: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)

    def updated(self, other: RunConfig) -> RunConfig:
        """This config with every value that ``other`` gives, without the fingerprints that no longer apply."""
        if self.versions and other.recipe not in (None, self.recipe):
            raise SettingError(
                f"the config holds every setting of recipe {self.recipe!r}, which {other.recipe!r} would inherit; "
                "run the other recipe without --config"
            )
        new = {k: v for k, v in other.keys().items() if v is not None}
        if other.recipe is not None:
            new |= {"recipe_sha256": None}
        if other.per_class is not None:
            new |= {"split": None}
        if other.split is not None:
            new |= {"per_class": None}
        if other.data is not None:
            new |= {"data_sha256": None, "known_sha256": None}
        if {"per_class", "split", "seed", "pool", "validation"} & new.keys():
            new |= {"known_sha256": None}
        return replace(self, **new, settings={**self.settings, **other.settings})

    def conflict(self, other: RunConfig) -> str | None:
        """The first value of ``other`` that differs, in words, or None; split files are compared by their content."""
        for key, value in other.keys().items():
            mine = getattr(self, key) or ("public" if key == "validation" else getattr(self, key))
            if key not in ("split", "threads") and value not in (None, mine):
                return f"{key} = {mine!r}, not {value!r}"
        settings = Settings().updated(self.settings)
        wanted = settings.updated(other.settings)
        for key in other.settings:
            if getattr(settings, key) != getattr(wanted, key):
                return f"{key} = {getattr(settings, key)!r}, not {getattr(wanted, key)!r}"
        return None

    def with_defaults(self) -> RunConfig:
        """Missing values filled in: Cora, drgst-de, seed 0, and 3 labels per class on a data set of the paper."""
        data = data_source(self.data or DATA)
        seed = self.seed or 0
        if seed < 0:
            raise SettingError(f"seed is {seed}, but must be 0 or above")
        validation = self.validation or VALIDATIONS[0]
        if validation not in VALIDATIONS:
            raise SettingError(unknown("validation", validation, VALIDATIONS))
        drawn = self.per_class
        if drawn is None and self.split is None and data in DATASETS:
            drawn = PER_CLASS
        recipe = find_recipe(self.recipe or RECIPE).name
        pool = self.pool or ("unlabelled" if drawn is not None else None)
        return replace(self, data=data, recipe=recipe, seed=seed, per_class=drawn, pool=pool, validation=validation)

    def run_name(self) -> str:
        """A folder name: ``cora-drgst-de-3-seed0``, or ``cora-drgst-plus-3-no-validation-seed0`` without validation.

        A run on a given split has no label count in its name.
        """
        data, recipe = Path(str(self.data)).stem, str(self.recipe)
        method = Path(recipe).stem if recipe.endswith(".toml") else recipe
        hidden = "no-validation" if self.validation == "none" else None
        return "-".join(str(p) for p in (data, method, self.per_class, hidden, f"seed{self.seed}") if p is not None)

    def keys(self) -> dict[str, Any]:
        """The values of ``[run]``."""
        return {k: getattr(self, k) for k in RUN_KEYS}


RUN_KEYS = tuple(f.name for f in fields(RunConfig) if f.name not in ("settings", "versions"))
