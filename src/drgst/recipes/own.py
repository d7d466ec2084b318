"""Recipes that only this process knows: given as objects, or imported as ``module:function``."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import is_dataclass, replace
from typing import Any

from drgst.errors import SettingError
from drgst.extras import import_named
from drgst.recipes.registry import _TABLE, RecipeSpec
from drgst.selftrain.recipe import wrapped


def import_recipe(path: str) -> RecipeSpec:
    """The recipe of the function at ``"package.module:function"``, from Settings to a Recipe; or a Recipe there."""
    found, module = import_named(path, "recipe"), path.partition(":")[0]
    if hasattr(found, "with_parts"):
        made = RecipeSpec(path, lambda _: found)
    elif _makes_recipes(found, module):
        made = RecipeSpec(path, found, text=inspect.getdoc(found) or "")
    else:
        raise SettingError(
            f"recipe {path!r} is neither a Recipe nor a function of its module with one argument, settings"
        )
    return own_spec(replace(made, summary=f"recipe of the function {path}"), path, found)


def _makes_recipes(found: Any, module: str) -> bool:
    """Whether ``found`` is written as a recipe is, so that a name in a file can't call any function there is."""
    if not inspect.isfunction(found) or found.__module__ != module:
        return False
    return list(inspect.signature(found).parameters) == ["settings"]


def own_spec(spec: RecipeSpec, name: str, source: Any) -> RecipeSpec:
    """``spec`` under ``name``, with a fingerprint of the Python source that defines it.

    The store makes the runs again when the fingerprint changes. Code that the source calls elsewhere is not part of it.
    """
    return replace(spec, name=name, source_sha256=_fingerprint([name, *_texts(source)]))


@contextmanager
def registered(specs: Mapping[str, RecipeSpec]) -> Iterator[None]:
    """The recipes ``specs`` can be found by name inside."""
    taken = specs.keys() & _TABLE.keys()
    if taken:
        raise SettingError(f"a recipe named {min(taken)!r} exists already; give yours another name")
    _TABLE.update(specs)
    try:
        yield
    finally:
        for name in specs:
            _TABLE.pop(name, None)


def _texts(source: Any) -> list[str]:
    """The source code of a function or class, or of all functions and classes that a recipe or estimator holds."""
    texts = [repr(source)] if not inspect.isroutine(source) and not isinstance(source, type) else []
    parts: list[Any] = [source]
    if is_dataclass(source) and not isinstance(source, type):
        parts += list(wrapped(source))
    elif hasattr(source, "get_params"):
        for value in source.get_params(deep=False).values():
            parts += [value, *(wrapped(value) if hasattr(value, "with_parts") and is_dataclass(value) else ())]
    for part in parts:
        try:
            texts.append(inspect.getsource(part if inspect.isroutine(part) or isinstance(part, type) else type(part)))
        except (OSError, TypeError):  # a builtin, or code typed into a shell
            texts.append(type(part).__qualname__)
    return texts


def _fingerprint(texts: list[str]) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()
