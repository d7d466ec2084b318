"""A user's own network in a recipe."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from drgst.errors import SettingError
from drgst.recipes.registry import RecipeSpec
from drgst.selftrain.learners.network import Network
from drgst.selftrain.recipe import AnyRecipe
from drgst.selftrain.settings import Settings


def with_backbone(spec: RecipeSpec, backbone: Any) -> RecipeSpec:
    """The recipe with the network ``backbone``, as :func:`~drgst.nn.registry.make_backbone` takes it.

    Settings of our networks that it does not take are no longer accepted. A recipe that trains no network is refused.
    """

    def build(settings: Settings) -> AnyRecipe:
        recipe = spec.build(settings)
        if not isinstance(recipe.learner, Network):
            raise SettingError(f"recipe {spec.name} trains no network, so it takes no backbone")
        return recipe.with_parts(learner=replace(recipe.learner, backbone=backbone))

    made = replace(spec, build=build, defaults={})
    read = made.reads(Settings())
    return replace(made, defaults={name: value for name, value in spec.defaults.items() if name in read})
