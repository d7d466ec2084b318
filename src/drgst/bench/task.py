"""A run of the bench, and the key under which the store knows it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

ALGORITHM = 1  # raise by hand when results change: a commit's hash would throw all runs away with every commit
# 7 of drgst-plus was taken back within the hour: its next is 8
REVISED = {"drgst-plus": 6}  # recipe -> how often its results alone have changed since; counted on top of ALGORITHM

WORDS_AND_FEW_CLASSES = frozenset(  # data_sha256
    {
        "e4d3102164c35f7b9e4e51c21e871cba8b9d2291a4d05249e600fcf01d99b484",  # Cora
        "7fb482cc2c6eb4997511b24ea5c9108e10c3a67a7324ef25b8ba4acadcaa988e",  # Citeseer
        "6739eee44ddbbc3f6d087e87076d5ab9f45b0e5794d80b5e90010c0cd4a63a1f",  # Pubmed
        "ed708fbc9eec97647d7b4fbe4bd83129dc9f37fe6dcf3ff50b0b201442c4e378",  # Flickr
    }
)
# Revisions that left some results as they were, to the bit, so that their runs stay.
UNMOVED: dict[tuple[str, int], Callable[[Task], bool]] = {
    # measurements, graphs without features, many classes
    ("drgst-plus", 4): lambda task: task.data_sha256 in WORDS_AND_FEW_CLASSES,
    # matrices that are fitted to validation labels
    ("drgst-plus", 5): lambda task: task.validation == "none",
    # a temperature where there are none
    ("drgst-plus", 6): lambda task: task.validation != "none" and task.data_sha256 in WORDS_AND_FEW_CLASSES,
}

# Settings that a key leaves out while they have these values, so that a new setting (entered here with the value that
# changes nothing) does not throw all runs away. Never change an entry: a new default is a new key. A setting that is
# not entered is part of every key.
NEUTRAL: dict[str, Any] = {
    "backbone": "gcn",
    "hidden": 64,
    "dropout": 0.5,
    "start": "glorot",
    "normalise": "auto",
    "lr": 0.01,
    "weight_decay": 5e-4,
    "epochs": 2000,
    "patience": 200,
    "fixed_epochs": None,
    "gain": "dropedge",
    "drop_rate": 0.3,
    "samples": 100,
    "estimator": "sampled",
    "threshold": 0.6,
    "beta": 0.5,
    "stages": 3,
    "keep": "last",
    "agreement": 1.0,
    "on_collapse": "retry",
    "retries": 2,
    "top": None,
    "walk_epsilon": 1e-6,
    "clusters": None,
    "trust_weight": 0.1,
    "negative_weight": 1.0,
    "negatives": 0,
    "alpha": 0.1,
    "inverse_l2": 100.0,
    "view": "auto",
    "calibrate": "none",
    "smooth": "none",
    "correct_alpha": 0.8,
    "smooth_alpha": 0.8,
    "device": "cpu",
}


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
    settings: Mapping[str, Any]  # all of them
    data_sha256: str
    split_sha256: str
    recipe_sha256: str = ""  # of the file, for a recipe that is one
    cost: float = 1.0  # in no unit: what is cheap is run first

    @property
    def key(self) -> str:
        """SHA-256 of all that decides the result: data, split, recipe and settings, seed, algorithm version."""
        told = {
            "algorithm": self.algorithm,
            "data": self.data_sha256,
            "split": self.split_sha256,
            "recipe": self.recipe,
            "settings": {k: v for k, v in self.settings.items() if k not in NEUTRAL or NEUTRAL[k] != v},
            "seed": self.seed,
        }
        if self.recipe_sha256:
            told["recipe"] = self.recipe_sha256
        return hashlib.sha256(canonical(told).encode()).hexdigest()

    @property
    def algorithm(self) -> int:
        """The version of what its recipe does; one in a file may be made of any other's parts."""
        if self.recipe_sha256:
            return ALGORITHM + sum(REVISED.values())
        revised = REVISED.get(self.recipe, 0)
        while (unmoved := UNMOVED.get((self.recipe, revised))) is not None and unmoved(self):
            revised -= 1
        return ALGORITHM + revised

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
