"""Every method of the paper and its related work, by name."""

from __future__ import annotations

from drgst.recipes import (
    classics,
    drgst,
    networks,
    others,
    plus,
    sts,
)  # each fills the registry when imported
from drgst.recipes.registry import RecipeSpec, find_recipe, recipe, recipe_names

__all__ = [
    "RecipeSpec",
    "classics",
    "drgst",
    "find_recipe",
    "networks",
    "others",
    "plus",
    "recipe",
    "recipe_names",
    "sts",
]
