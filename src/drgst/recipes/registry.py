"""The table of recipes: what each is called, reads and is made of."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from drgst.errors import SettingError, unknown
from drgst.recipes.postprocessing import READS, with_postprocessing
from drgst.recipes.presets import Presets, for_dataset
from drgst.selftrain.recipe import AnyRecipe
from drgst.selftrain.settings import Settings

UNLESS_DEFAULT = frozenset({"prior", "val_labels"})  # read by every recipe, and part of a run that has another value

Make = Callable[[Settings], AnyRecipe]
_TABLE: dict[str, RecipeSpec] = {}


@dataclass(frozen=True)
class RecipeSpec:
    """A named recipe: ``make(settings)`` gives its parts."""

    name: str
    build: Make  # names the parts
    summary: str = ""  # one line
    paper: str = ""  # whose method it is
    doc: str = ""  # equations and choices
    version: int = 1  # raised when the results of the recipe change, so that stored runs are made again
    presets: Presets = for_dataset  # settings for a data set
    defaults: Mapping[str, Any] = field(default_factory=dict)  # settings that differ from the general defaults
    source_sha256: str = ""  # of the Python source of a recipe of the user's own

    def make(self, settings: Settings) -> AnyRecipe:
        """The parts, with the postprocessing that the settings ask for."""
        return with_postprocessing(self.build(settings), settings)

    def settings(self, changes: Mapping[str, Any] | None = None, preset: Mapping[str, Any] | None = None) -> Settings:
        """The general defaults, then ``preset``, this recipe's defaults and ``changes``, each over the one before.

        They are restricted to the settings that the recipe reads; a change or default of another is refused.
        """
        given = {**self.defaults, **(changes or {})}
        given = {name: value for name, value in given.items() if name not in UNLESS_DEFAULT or value != _default(name)}
        settings = Settings().updated({**(preset or {}), **given})
        restricted = settings.restricted(f"recipe {self.name}", self.reads(settings))
        restricted.check_names(given)
        return restricted

    def readable(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Those of ``changes`` that the recipe reads, for a grid of several recipes."""
        read = self.reads(Settings().updated({**self.defaults, **changes}))
        return {name: value for name, value in changes.items() if name in read}

    def reads(self, settings: Settings) -> frozenset[str]:
        """The settings that the recipe reads: while its parts are made, and while they run."""
        recorder = _Recorder(settings)
        recipe = self.make(cast(Settings, recorder))
        names = {*recorder.names, *recipe.reads, *READS, *UNLESS_DEFAULT, "device"}
        return frozenset(n for n in names if n not in UNLESS_DEFAULT or getattr(settings, n) != _default(n))


def _default(name: str) -> Any:
    return Settings.model_fields[name].default


class _Recorder:
    """Settings that record which of them are read."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.names: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        self.names.add(name)
        return getattr(self._settings, name)


def recipe(
    name: str,
    summary: str = "",
    paper: str = "",
    *,
    doc: str = "",
    version: int = 1,
    presets: Presets = for_dataset,
    **defaults: Any,
) -> Callable[[Make], Make]:
    """Decorator: enter ``build`` in the table under ``name``; ``defaults`` are settings that differ from the general.

    ``doc`` is the docstring of ``build`` where it is not given, ``summary`` the first line of that. ``presets`` gives
    the settings for a data set, a number of labels per class and a kind of gain (:mod:`drgst.recipes.presets`).
    ``version`` is part of the key of a stored run: raise it when the results of the recipe change.
    """
    Settings().updated(defaults)  # a wrong one is refused now, not at the first run

    def enter(build: Make) -> Make:
        if name in _TABLE:
            raise SettingError(f"a recipe named {name!r} exists already")
        text = doc or inspect.getdoc(build) or ""
        line = summary or text.partition("\n")[0]
        _TABLE[name] = RecipeSpec(name, build, line, paper, text, version, presets, defaults)
        return build

    return enter


def find_recipe(name: str) -> RecipeSpec:
    """The recipe of that name, in the file ``NAME.toml``, or of the function ``module:function``.

    A typo gets the nearest name.
    """
    if name.endswith(".toml"):
        from drgst.recipes.toml import read_recipe  # it reads this table for its base recipes

        return read_recipe(name)
    if name not in _TABLE and ":" in name:
        from drgst.recipes.own import import_recipe  # it reads this table

        return import_recipe(name)
    if name not in _TABLE:
        raise SettingError(unknown("recipe", name, _TABLE))
    return _TABLE[name]


def own_recipe(recipe: AnyRecipe) -> RecipeSpec:
    """A recipe made of the user's own parts, which has no presets."""
    return RecipeSpec("own", lambda _: recipe, presets=lambda *_: {})


def recipe_names() -> tuple[str, ...]:
    """All names, in the order they were entered."""
    return tuple(_TABLE)
