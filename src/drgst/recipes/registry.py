"""The table of recipes: name, one line, paper, defaults, and the function that names the parts."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any

from drgst.errors import SettingError, unknown
from drgst.recipes.post import dressed
from drgst.selftrain.recipe import Recipe
from drgst.selftrain.settings import Settings

Make = Callable[[Settings], Recipe]
_TABLE: dict[str, RecipeSpec] = {}


@dataclass(frozen=True)
class RecipeSpec:
    """A named recipe: ``make(settings)`` gives its parts."""

    name: str
    summary: str  # one line
    paper: str  # whose method it is
    make: Make
    defaults: Mapping[str, Any]  # settings that differ from the general defaults
    doc: str  # equations and choices

    def settings(self, *changes: Mapping[str, Any]) -> Settings:
        """The general defaults, then this recipe's, then each of ``changes`` in order."""
        settings = Settings().updated(self.defaults)
        for change in changes:
            settings = settings.updated(change)
        return settings


def recipe(name: str, summary: str = "", paper: str = "", doc: str = "", **defaults: Any) -> Callable[[Make], Make]:
    """Decorator: enter ``make`` in the table under ``name``; ``defaults`` are settings that differ from the general.

    ``doc`` is the docstring of ``make`` where it is not given, ``summary`` the first line of that.
    """
    Settings().updated(defaults)  # a wrong one is refused now, not at the first run

    def enter(make: Make) -> Make:
        if name in _TABLE:
            raise SettingError(f"a recipe named {name!r} exists already")
        words = doc or inspect.getdoc(make) or ""
        line = summary or words.partition("\n")[0]
        _TABLE[name] = RecipeSpec(name, line, paper, in_full(make), defaults, words)
        return make

    return enter


def in_full(make: Make) -> Make:
    """``make`` with the post-processing that the settings ask for."""
    return wraps(make)(lambda settings: dressed(make(settings), settings))


def find_recipe(name: str) -> RecipeSpec:
    """The recipe of that name, or in the file of that name where it ends in .toml; a typo gets the nearest name."""
    if name.endswith(".toml"):
        from drgst.recipes.toml import read_recipe  # it reads this table for its base recipes

        return read_recipe(name)
    if name not in _TABLE:
        raise SettingError(unknown("recipe", name, _TABLE))
    return _TABLE[name]


def recipe_names() -> tuple[str, ...]:
    """All names, in the order they were entered."""
    return tuple(_TABLE)
