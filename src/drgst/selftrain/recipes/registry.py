"""The table of recipes: name, one line, paper, defaults, and the function that names the parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from drgst.errors import SettingError, unknown
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


def recipe(name: str, summary: str, paper: str, **defaults: Any) -> Callable[[Make], Make]:
    """Decorator: enter ``make`` in the table under ``name``."""

    def enter(make: Make) -> Make:
        if name in _TABLE:
            raise SettingError(f"a recipe named {name!r} exists already")
        _TABLE[name] = RecipeSpec(name, summary, paper, make, defaults, (make.__doc__ or "").strip())
        return make

    return enter


def find_recipe(name: str) -> RecipeSpec:
    """The recipe of that name; a typo is answered with the nearest one."""
    if name not in _TABLE:
        raise SettingError(unknown("recipe", name, _TABLE))
    return _TABLE[name]


def recipe_names() -> tuple[str, ...]:
    """All names, in the order they were entered."""
    return tuple(_TABLE)
