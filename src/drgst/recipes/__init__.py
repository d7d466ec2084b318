"""Every method of the paper and its related work, by name."""

from __future__ import annotations

from drgst.recipes import baselines, drgst, others, plus, sts  # noqa: F401 (each fills the registry)
from drgst.recipes.registry import RecipeSpec, find_recipe, recipe, recipe_names

__all__ = ["RecipeSpec", "find_recipe", "recipe", "recipe_names"]
