"""A run of the bench, and the key under which the store knows it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Task:
    """Everything that a worker needs to make one run, plain enough to be sent to another machine."""

    source: str  # a data set's name or the path of a graph
    root: str | None  # folder with the data sets' files
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
    recipe_sha256: str = ""  # of the file, for a recipe that is one
    cost: float = 1.0  # in no unit: the fastest_settings runs first

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
        """What a display calls the run beside its data set and label count."""
        return self.recipe

    @property
    def seed(self) -> int:
        """Of the training: the number of the draw."""
        return self.draw


def canonical(value: Any) -> str:
    """JSON with sorted keys and no blanks: equal for equal contents."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def variant(settings: Mapping[str, Any], usual: Mapping[str, Any]) -> str:
    """``beta=1.0,threshold=0.4``: the settings that differ from the recipe's usual ones."""
    return ",".join(f"{k}={settings[k]}" for k in sorted(settings) if settings[k] != usual[k])
