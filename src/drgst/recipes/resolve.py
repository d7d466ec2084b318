"""From a recipe's name to its parts and settings on a graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drgst.graph.core import Graph
from drgst.graph.split import Split
from drgst.recipes import find_recipe
from drgst.recipes.presets import labels_per_class
from drgst.recipes.registry import RecipeSpec, own_recipe
from drgst.selftrain.recipe import AnyRecipe
from drgst.selftrain.settings import Settings


def resolve(
    recipe: str | AnyRecipe | RecipeSpec, graph: Graph, split: Split, changes: Mapping[str, Any]
) -> tuple[Settings, AnyRecipe]:
    """The settings and parts of a recipe, named or made of the user's own parts, on this graph and split.

    The general defaults, the recipe's preset for the data set and the label count, the recipe's own defaults, and
    ``changes``, each over the one before.
    """
    spec = as_spec(recipe)
    gain = str(changes.get("gain", spec.defaults.get("gain", "dropedge")))
    per_class = labels_per_class(graph.labels[split.train])
    settings = spec.settings(changes, spec.presets(graph.name, per_class, gain))
    return settings, spec.make(settings)


def as_spec(recipe: str | AnyRecipe | RecipeSpec) -> RecipeSpec:
    """A recipe by name, made of the user's own parts, or as it is."""
    if isinstance(recipe, RecipeSpec):
        return recipe
    return find_recipe(recipe) if isinstance(recipe, str) else own_recipe(recipe)
