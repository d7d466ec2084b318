"""A recipe of one's own from a TOML file: a base recipe, settings, and parts from a fixed table.

    base = "m3s"                      # optional: start from a known recipe, with its presets and version
    summary = "my own"                # optional
    [settings]                        # optional: defaults of this recipe
    threshold = 0.7
    [parts]                           # optional: one part per slot, a list for stop and postprocess
    select = { part = "Intersection", a = { part = "Threshold" }, b = { part = "RandomWalk", top = 50 } }
    stop = [{ part = "NoNewLabels" }, { part = "MaxStages", stages = "settings.stages" }]

An argument that a part needs and the file leaves out takes the setting of the same name, as does one written
``"settings.NAME"``, so that ``--set`` reaches it. Nothing but the parts of :mod:`drgst.selftrain.parts` can be named.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from drgst.errors import DrgstError, SettingError, unknown
from drgst.recipes.presets import for_dataset
from drgst.recipes.registry import Make, RecipeSpec, find_recipe
from drgst.selftrain.parts import PARTS
from drgst.selftrain.recipe import AnyRecipe, Recipe
from drgst.selftrain.settings import Settings

KEYS = {"base": str, "summary": str, "paper": str, "settings": dict, "parts": dict}
LISTS = ("stop", "postprocess")
WRAPPED = ("a", "b", "inner", "calibrate")  # arguments that are parts
TYPES: dict[str, Any] = {"float": int | float, "int": int, "int | None": int, "bool": bool, "str": str}  # as annotated


def read_recipe(path: str, above: tuple[str, ...] = ()) -> RecipeSpec:
    """The recipe in the file ``path``; what is wrong in it is named with the file.

    ``above`` are the files that have it as their base.
    """
    document = _document(Path(path))
    try:
        base = _base(document["base"], (*above, os.path.realpath(path))) if "base" in document else None
        summary = str(document.get("summary", f"own recipe{f' on {base.name}' if base else ''}"))
        spec = RecipeSpec(
            name=str(Path(path).absolute()),  # so that a run can be resumed from another folder
            build=_builder(document.get("parts", {}), base),
            summary=summary,
            paper=str(document.get("paper", base.paper if base else "")),
            doc=base.doc if base else summary,
            version=base.version if base else 1,
            presets=base.presets if base else for_dataset,
            defaults={**(base.defaults if base else {}), **document.get("settings", {})},
        )
        spec.settings()  # a wrong part or setting is refused now, not at the first run
    except DrgstError as error:
        raise SettingError(f"recipe file {path}: {error}") from error
    return spec


def _base(name: str, above: tuple[str, ...]) -> RecipeSpec:
    if not name.endswith(".toml"):
        return find_recipe(name)
    if os.path.realpath(name) in above:
        raise SettingError(f"its base {name} has this file as its own base")
    return read_recipe(name, above)


def _document(path: Path) -> dict[str, Any]:
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise SettingError(f"recipe file {path} can't be read: {reason}") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise SettingError(f"recipe file {path} is not TOML: {error}") from error
    for key, value in document.items():
        if key not in KEYS:
            raise SettingError(f"recipe file {path}: {unknown('key', key, KEYS)}")
        if not isinstance(value, KEYS[key]):
            raise SettingError(f"recipe file {path}: {key} must be a {'table' if KEYS[key] is dict else 'text'}")
    return document


def _builder(table: Mapping[str, Any], base: RecipeSpec | None) -> Make:
    """Settings -> recipe, with the parts of ``table`` over those of the base recipe."""
    for slot in table:
        if slot not in PARTS:
            raise SettingError(unknown("slot", slot, PARTS))

    def build(settings: Settings) -> AnyRecipe:
        start = base.build(settings) if base else Recipe()
        return start.with_parts(**{slot: _slot(slot, given, settings) for slot, given in table.items()})

    return build


def _slot(slot: str, given: Any, settings: Settings) -> Any:
    if slot not in LISTS:
        return make_part(slot, given, settings)
    return tuple(make_part(slot, item, settings) for item in (given if isinstance(given, list) else [given]))


def make_part(slot: str, given: Any, settings: Settings) -> Any:
    """The part that ``given`` names: ``"Margin"`` or ``{"part": "Margin", "top": 50}``."""
    table = {"part": given} if isinstance(given, str) else given
    if not isinstance(table, dict) or not isinstance(table.get("part"), str):
        raise SettingError(f'{slot} must be the name of a part or a table such as {{ part = "…" }}, not {given!r}')
    if table["part"] not in PARTS[slot]:
        raise SettingError(unknown(f"{slot} part", table["part"], PARTS[slot]))
    kind = PARTS[slot][table["part"]]
    known = {f.name: f for f in fields(kind)}
    arguments: dict[str, Any] = {}
    for name, value in table.items():
        if name == "part":
            continue
        if name not in known:
            raise SettingError(unknown(f"argument of {kind.__name__}", name, known))
        wrapped = isinstance(value, dict) or name in WRAPPED
        inner = name if name in PARTS else slot
        arguments[name] = make_part(inner, value, settings) if wrapped else _value(kind, name, value, settings)
    for name, argument in known.items():
        if name not in arguments and argument.default is MISSING and argument.default_factory is MISSING:
            if name not in Settings.model_fields:
                raise SettingError(f"{kind.__name__} needs {name}")
            arguments[name] = getattr(settings, name)
    return kind(**arguments)


def _value(kind: Any, name: str, value: Any, settings: Settings) -> Any:
    if isinstance(value, str) and value.startswith("settings."):
        setting = value.removeprefix("settings.")
        if setting not in Settings.model_fields:
            raise SettingError(unknown("setting", setting, Settings.model_fields))
        return getattr(settings, setting)
    wanted = next(str(f.type) for f in fields(kind) if f.name == name)
    if wanted.startswith("tuple[float") and isinstance(value, list) and all(type(v) in (int, float) for v in value):
        return tuple(value)
    right = TYPES.get(wanted, bool | int | float | str)
    if not isinstance(value, right) or (isinstance(value, bool) and wanted != "bool"):
        raise SettingError(f"{name} of {kind.__name__} is {value!r} (allowed: {wanted})")
    return value
