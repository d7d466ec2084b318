"""From a recipe's name to its parts and settings: defaults, then what is published, then what the user says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drgst.graph.core import Graph
from drgst.graph.split import Split
from drgst.recipes import find_recipe
from drgst.recipes.presets import labels_per_class, preset
from drgst.selftrain.recipe import Recipe
from drgst.selftrain.settings import Settings


def resolve(name: str, graph: Graph, split: Split, changes: Mapping[str, Any]) -> tuple[Settings, Recipe]:
    """The settings and parts of recipe ``name`` on this graph and split.

    The general defaults, the preset of the data set and label count where one is published, the recipe's own
    defaults, and ``changes``, each over the one before.
    """
    spec = find_recipe(name)
    gain = str(changes.get("gain", spec.defaults.get("gain", "dropedge")))
    per_class = labels_per_class(graph.labels[split.train])
    settings = spec.settings(preset(graph.name, per_class, spec.name, gain), spec.defaults, changes)
    return settings, spec.make(settings)
