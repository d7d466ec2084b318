"""The table of recipes: what each is called, reads and is made of, and what its name means on a graph."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, is_dataclass, replace
from typing import Any, cast

from drgst.errors import SettingError, unknown
from drgst.extras import import_named
from drgst.graph.core import Graph
from drgst.graph.split import Split
from drgst.recipes.presets import Presets, for_dataset, labels_per_class
from drgst.selftrain.learners.network import Network
from drgst.selftrain.parts import (
    BiasCorrected,
    CaGCN,
    Calibrated,
    ClassPrior,
    CorrectAndSmooth,
    Identity,
    Mixing,
    Temperature,
)
from drgst.selftrain.recipe import AnyRecipe, wrapped
from drgst.selftrain.settings import Settings
from drgst.selftrain.slots.calibrate import Calibrate
from drgst.selftrain.slots.postprocess import CrossFitted

READS = frozenset({"calibrate", "smooth", "correct_alpha", "smooth_alpha"})  # by every recipe
CALIBRATORS: dict[str, type[Calibrate]] = {
    "none": Identity,
    "temperature": Temperature,
    "bias": BiasCorrected,
    "mixing": Mixing,
    "cagcn": CaGCN,
}
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
    text: str | Callable[[], str] = ""  # equations and choices, or what gives them
    version: int = 1  # raised when the results of the recipe change, so that stored runs are made again
    presets: Presets = for_dataset  # settings for a data set
    defaults: Mapping[str, Any] = field(default_factory=dict)  # settings that differ from the general defaults
    source_sha256: str = ""  # of the Python source of a recipe of the user's own

    @property
    def doc(self) -> str:
        """Equations and choices."""
        return self.text() if callable(self.text) else self.text

    def make(self, settings: Settings) -> AnyRecipe:
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
    doc: str | Callable[[], str] = "",
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
            raise SettingError(f"a recipe named {name!r} already exists")
        text = doc or inspect.getdoc(build) or ""
        line = summary or (text() if callable(text) else text).partition("\n")[0]
        _TABLE[name] = RecipeSpec(name, build, line, paper, text, version, presets, defaults)
        return build

    return enter


def find_recipe(name: str) -> RecipeSpec:
    """The recipe of that name, or of the function ``module:function``; a typo gets the nearest name."""
    if name.endswith(".toml"):
        raise SettingError(f"recipe {name} is a TOML file; write a Python function instead and name it module:function")
    if name not in _TABLE and ":" in name:
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


def with_postprocessing(recipe: AnyRecipe, settings: Settings) -> AnyRecipe:
    """``recipe`` with ``settings.calibrate``, ``settings.smooth`` and ``settings.prior``.

    A recipe that calibrates in its loop (cagcn-st) gets the other calibrator there; in all others it is a
    postprocess part, so that no part of the loop sees what it does.
    """
    if settings.calibrate == "crossfit":
        recipe = recipe.with_parts(postprocess=(CrossFitted(always=True), *recipe.postprocess))
    elif settings.calibrate != "none":
        part = CALIBRATORS[settings.calibrate]()
        if isinstance(recipe.calibrate, Identity):
            recipe = recipe.with_parts(postprocess=(Calibrated(part), *recipe.postprocess))
        else:
            recipe = recipe.with_parts(calibrate=part)
    if settings.smooth != "none" and not any(isinstance(part, CorrectAndSmooth) for part in recipe.postprocess):
        smooth = CorrectAndSmooth(settings.correct_alpha, settings.smooth_alpha)
        recipe = recipe.with_parts(postprocess=(*recipe.postprocess, smooth))
    if settings.prior is not None:
        recipe = recipe.with_parts(postprocess=(*recipe.postprocess, ClassPrior(settings.prior)))
    return recipe


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
    texts = "\0".join([name, *_texts(source)])
    return replace(spec, name=name, source_sha256=hashlib.sha256(texts.encode()).hexdigest())


@contextmanager
def registered(specs: Mapping[str, RecipeSpec]) -> Iterator[None]:
    """The recipes ``specs`` can be found by name inside."""
    taken = specs.keys() & _TABLE.keys()
    if taken:
        raise SettingError(f"a recipe named {min(taken)!r} already exists; give yours another name")
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
