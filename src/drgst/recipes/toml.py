"""A recipe of one's own from a TOML file: a base recipe, settings, and parts from a fixed table.

    base = "m3s"                      # optional: start from a known recipe
    summary = "my own"                # optional
    [settings]                        # optional: defaults of this recipe
    threshold = 0.7
    [parts]                           # optional: one part a slot, a list for stop and finish
    select = { part = "Intersection", a = { part = "Threshold" }, b = { part = "RandomWalk", top = 50 } }
    stop = [{ part = "NoNewLabels" }, { part = "MaxStages", stages = "settings.stages" }]
    carry = true                      # the flags of Recipe stand beside the parts

An argument that a part needs and the file leaves out takes the setting of the same name, as does one written
``"settings.NAME"``, so that ``--set`` reaches it. Nothing but the parts of :mod:`drgst.selftrain.parts` can be named.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, replace
from pathlib import Path
from typing import Any

from drgst.errors import DrgstError, SettingError, unknown
from drgst.recipes.registry import RecipeSpec, find_recipe, in_full
from drgst.selftrain.parts import PARTS
from drgst.selftrain.recipe import Recipe
from drgst.selftrain.settings import Settings

KEYS = ("base", "summary", "paper", "settings", "parts")
FLAGS = tuple(f.name for f in fields(Recipe) if f.name not in PARTS)
LISTS = ("stop", "finish")
WORDS: dict[str, Any] = {"float": int | float, "int": int, "int | None": int, "bool": bool, "str": str}  # as annotated


def read_recipe(path: str) -> RecipeSpec:
    """The recipe in the file ``path``; what is wrong in it is named with the file."""
    document = _document(Path(path))
    try:
        base = find_recipe(document["base"]) if "base" in document else None
        defaults = {**(base.defaults if base else {}), **document.get("settings", {})}
        maker = _Maker(document.get("parts", {}), base)
        maker(Settings().updated(defaults))  # a wrong part is refused now, not at the first run
    except DrgstError as error:
        raise SettingError(f"recipe file {path}: {error}") from error
    summary = str(document.get("summary", f"own recipe{f' on {base.name}' if base else ''}"))
    paper = str(document.get("paper", base.paper if base else ""))
    name = str(Path(path).absolute())  # a run begun here can be gone on with elsewhere
    return RecipeSpec(name, summary, paper, in_full(maker), defaults, base.doc if base else summary)


def _document(path: Path) -> dict[str, Any]:
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise SettingError(f"recipe file {path} can't be read: {reason}") from error
    except tomllib.TOMLDecodeError as error:
        raise SettingError(f"recipe file {path} is not TOML: {error}") from error
    for key, kind in zip(KEYS, (str, str, str, dict, dict), strict=True):
        if key in document and not isinstance(document[key], kind):
            raise SettingError(f"recipe file {path}: {key} must be a {'table' if kind is dict else 'text'}")
    for key in document:
        if key not in KEYS:
            raise SettingError(f"recipe file {path}: {unknown('key', key, KEYS)}")
    return document


class _Maker:
    """Settings -> Recipe, as the table ``[parts]`` says, over the parts of the base recipe."""

    def __init__(self, table: Mapping[str, Any], base: RecipeSpec | None) -> None:
        self.table, self.base = table, base
        for slot in table:
            if slot not in PARTS and slot not in FLAGS:
                raise SettingError(unknown("slot", slot, (*PARTS, *FLAGS)))

    def __call__(self, settings: Settings) -> Recipe:
        start = self.base.make(settings) if self.base else Recipe()
        return replace(start, **{slot: self._slot(slot, said, settings) for slot, said in self.table.items()})

    def _slot(self, slot: str, said: Any, settings: Settings) -> Any:
        if slot in FLAGS:
            if not isinstance(said, bool):
                raise SettingError(f"{slot} is {said!r} (allowed: true, false)")
            return said
        if slot not in LISTS:
            return make_part(slot, said, settings)
        items = said if isinstance(said, list) else [said]
        return tuple(make_part(slot, item, settings) for item in items)


def make_part(slot: str, said: Any, settings: Settings) -> Any:
    """The part that ``said`` names: ``"Margin"`` or ``{"part": "Margin", "top": 50}``."""
    table = {"part": said} if isinstance(said, str) else said
    if not isinstance(table, dict) or not isinstance(table.get("part"), str):
        raise SettingError(f'{slot} must be the name of a part or a table such as {{ part = "…" }}, not {said!r}')
    name = table["part"]
    if name not in PARTS[slot]:
        raise SettingError(unknown(f"{slot} part", name, PARTS[slot]))
    return _made(slot, PARTS[slot][name], {k: v for k, v in table.items() if k != "part"}, settings)


def _made(slot: str, kind: Any, said: Mapping[str, Any], settings: Settings) -> Any:
    known = {f.name: f for f in fields(kind)}
    for name in said:
        if name not in known:
            raise SettingError(unknown(f"argument of {kind.__name__}", name, known))
    given = {name: _argument(slot, kind, name, value, settings) for name, value in said.items()}
    return kind(**_from_settings(kind, known, given, settings), **given)


def _argument(slot: str, kind: Any, name: str, value: Any, settings: Settings) -> Any:
    if isinstance(value, dict) or name in ("a", "b", "inner"):
        return make_part(slot, value, settings)
    if isinstance(value, list):
        return tuple(make_part(slot, item, settings) for item in value)
    if isinstance(value, str) and value.startswith("settings."):
        return _setting(value.removeprefix("settings."), settings)
    wanted = next(str(f.type) for f in fields(kind) if f.name == name)
    if not isinstance(value, WORDS.get(wanted, bool | int | float | str)) or (
        isinstance(value, bool) and wanted != "bool"
    ):
        raise SettingError(f"{name} of {kind.__name__} is {value!r} (allowed: {wanted})")
    return value


def _from_settings(
    kind: Any, known: Mapping[str, Field[Any]], given: Mapping[str, Any], settings: Settings
) -> dict[str, Any]:
    """Arguments that are needed and not given, from the settings of the same name."""
    bare = [n for n, f in known.items() if n not in given and f.default is MISSING and f.default_factory is MISSING]
    for name in bare:
        if name not in Settings.model_fields:
            raise SettingError(f"{kind.__name__} needs {name}")
    return {name: getattr(settings, name) for name in bare}


def _setting(name: str, settings: Settings) -> Any:
    if name not in Settings.model_fields:
        raise SettingError(unknown("setting", name, Settings.model_fields))
    return getattr(settings, name)
