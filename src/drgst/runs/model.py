"""A fitted model as a folder: ``model.safetensors`` and ``model.json``, nothing that can run code."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, Field, StrictBool, StrictFloat, StrictInt, ValidationError
from safetensors import SafetensorError

from drgst import __version__
from drgst.errors import DrgstError, GraphError, RunError
from drgst.extras import check_imported
from drgst.files import read_bytes, write_text
from drgst.graph.core import Graph
from drgst.graph.invariants import LONGEST_CLASS
from drgst.nn.records import State, under
from drgst.recipes import find_recipe
from drgst.recipes.registry import own_recipe, with_backbone
from drgst.runs.metrics import accuracy, finite
from drgst.runs.predictions import Predictions
from drgst.selftrain.learners.network import Network
from drgst.selftrain.persist import read_tensors, write_tensors
from drgst.selftrain.recipe import AnyRecipe, Recipe, own_state, part_name, predict_logits
from drgst.selftrain.settings import Settings
from drgst.selftrain.views.ensemble import fitted_maps
from drgst.selftrain.views.shared import ViewMaps
from drgst.tables.naming import relabel
from drgst.threads import default_threads, limit_threads
from drgst.transforms.incidence import with_links_as_edges
from drgst.transforms.softmax import softmax

FORMAT = 3
OWN = "own"  # the name of a recipe that is made of the user's parts
MOST_STAGES = 10_000
SAME = (
    "recipe",
    "version",
    "seed",
    "stop_reason",
    "note",
    "class_names",
    "num_features",
    "input_features",
    "classes",
    "relations",
)
WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")  # a number that 64 bits hold and that is written in one way only
Count = Annotated[int, Field(ge=0, lt=2**31)]
Positive = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class ModelFacts(BaseModel):
    """``model.json``."""

    format: int
    drgst: str = __version__
    recipe: str
    version: Count | None = None  # of the recipe; None: it has none
    seed: Annotated[int, Field(ge=0)]
    stop_reason: str
    note: str
    class_names: tuple[Annotated[str, Field(max_length=LONGEST_CLASS)], ...]
    num_features: Count
    input_features: Count | None = None  # columns that the network gets; None: num_features
    settings: dict[str, Any]
    classes: tuple[StrictBool | StrictInt | StrictFloat | str, ...] | None = None  # values of y; None: the names
    relations: dict[str, Positive] | None = None  # weights with which they have become edges
    backbone: str | None = None  # import path of the user's own network
    own_backbone: str | None = None  # name of one that has no import path


@dataclass(frozen=True, eq=False)
class Model:
    """A fitted model: the parts of a recipe, the state of the result, and its predictions on the fitted graph."""

    recipe: str
    parts: AnyRecipe
    settings: Settings
    class_names: tuple[str, ...]
    num_features: int
    state: State
    arrays: Mapping[str, np.ndarray]  # of the fitted graph: probabilities, gain, labeled_stage, …
    seed: int
    stop_reason: str
    note: str = ""  # of the result
    input_features: int | None = None  # columns that the network gets; None: num_features
    classes: tuple[Any, ...] | None = None  # values of y of the fitted arrays
    relations: Mapping[str, float] | None = None  # weights with which they have become edges; None: they have not
    version: int | None = None  # of the recipe that fitted it
    source: str = ""  # the folder that it was read from

    @property
    def labels(self) -> np.ndarray:
        """The labels that predictions are given as, (C,).

        The values of ``y`` after a fit on arrays, else the class names, as whole numbers where all names are such.
        """
        if self.classes is None and all(WHOLE.fullmatch(name) for name in self.class_names):
            return np.array(self.class_names, dtype=np.int64)
        return np.array(self.classes or self.class_names)

    def predict(self, graph: Graph, nodes: np.ndarray | None = None) -> Predictions:
        """The predictions for ``graph``, or for some of its nodes.

        Where ``graph`` is the fitted graph with new nodes after its own, the fitted nodes keep the predictions of the
        run: new neighbours would change some of them. Accuracy is over the nodes whose label is a class of the model.
        """
        p, notes = self.probabilities(graph), self._notes()
        own, maps = self.arrays["probabilities"], ViewMaps({**self.arrays, **fitted_maps(self.state).arrays})
        old = len(own) if nodes is None and "nodes.rows" in maps.arrays else graph.num_nodes
        if old < graph.num_nodes and maps.are_of_the_first_nodes(graph):
            changed = int((p[:old].argmax(axis=1) != own.argmax(axis=1)).sum())
            p = np.concatenate([own, p[old:]])
            first = f"the first {old:,} nodes are those of the run and keep its predictions"
            notes.append(f"{first}; with the new nodes, {changed:,} of them would get another class")
        chosen = np.arange(graph.num_nodes) if nodes is None else nodes
        p, truth = p[chosen], relabel(graph.labels[chosen], graph.class_names, self.class_names)
        ids, right = graph.node_ids[chosen].tolist(), finite(accuracy(p.argmax(axis=1), truth))
        return Predictions(ids, self.class_names, {"probabilities": p}, right, tuple(notes))

    def _notes(self) -> list[str]:
        """A note on a model of another version of its recipe."""
        now = recipe_version(self.recipe)
        if now == self.version or self.version is None:
            return []
        words = "predictions can differ from those of its run; fit it again"
        return [f"the model is of version {self.version} of {self.recipe}, and this is version {now}: {words}"]

    def logits(self, graph: Graph) -> np.ndarray:
        """(N, C) logits on a graph with the same features."""
        with limit_threads(default_threads(graph.num_entries)), self.checked():
            logits = predict_logits(self.parts, self.state, self.unlabelled(graph), self.settings)
        if not np.isfinite(logits).all():
            raise RunError("the outputs of the model are not finite: its weights or the features are too large")
        return logits

    def probabilities(self, graph: Graph) -> np.ndarray:
        """(N, C) probabilities on a graph with the same features."""
        return softmax(self.logits(graph))

    @contextmanager
    def checked(self) -> Iterator[None]:
        """Name the file where a computation inside fails because the tensors of a file do not fit together."""
        try:
            yield
        except DrgstError:
            raise
        except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
            if not self.source:
                raise
            reason = f"its tensors do not fit together ({type(error).__name__}: {error})"
            raise RunError(f"{self.source} is not a usable model: {reason}") from error

    def unlabelled(self, graph: Graph) -> Graph:
        """The graph with the classes of the model and without labels; a graph with other features is refused."""
        if graph.num_features != self.num_features:
            raise GraphError(
                f"the graph has {graph.num_features} features, the model was fitted on {self.num_features}"
            )
        hidden = np.full(graph.num_nodes, -1, dtype=np.int64)
        graph = self.linked(graph)
        return graph.with_(labels=hidden, class_names=self.class_names, splits=())

    def linked(self, graph: Graph) -> Graph:
        """The graph, with edges in place of relations where the learner takes edges only."""
        return with_links_as_edges(graph, self.relations or {}) if needs_edges(graph, self.parts) else graph

    def save(self, folder: str | Path) -> None:
        """Write the model to ``folder``; a model with a learner of the user's own is refused."""
        settings, backbone = self._to_save()
        tensors = {f"state.{k}": v for k, v in self.state.items()}
        tensors |= {f"fitted.{k}": v for k, v in self.arrays.items()}
        write_tensors(Path(folder) / "model.safetensors", tensors)
        same = {name: getattr(self, name) for name in SAME} | backbone
        facts = ModelFacts(format=FORMAT, settings=settings, **same)
        write_text(Path(folder) / "model.json", json.dumps(facts.model_dump(exclude_none=True), indent=2) + "\n")

    def _to_save(self) -> tuple[dict[str, Any], dict[str, str]]:
        """The settings from which the parts that predict can be made again, and the user's own backbone.

        ``backbone``: the import path of its class; ``own_backbone``: the name of one that has none, for which
        :meth:`load` must be given what makes it.
        """
        parts, learner = self.parts, self.parts.learner
        if not isinstance(learner, Network) and self.recipe == OWN:
            raise RunError("a model with your own learner can't be saved here: save its state with safetensors instead")
        usual = own_recipe(Recipe()).make(self.settings)
        if self.recipe == OWN and (parts.calibrate, parts.postprocess) != (usual.calibrate, usual.postprocess):
            raise RunError("a model with your own calibrate or postprocess part can't be saved here")
        backbone = learner.backbone if isinstance(learner, Network) else None
        if backbone is None or isinstance(backbone, str):
            return self.settings.as_dict() | ({} if backbone is None else {"backbone": backbone}), {}
        from drgst.nn.registry import import_path  # imports torch, which is slow

        path = import_path(backbone)
        named = {"own_backbone": part_name(backbone)} if path is None else {"backbone": path}
        return self.settings.as_dict(), named

    @classmethod
    def load(cls, folder: str | Path, backbone: Any = None) -> Model:
        """Read what :meth:`save` wrote; files that do not fit together are refused.

        ``backbone`` is the user's own network, instead of the class at the import path that was saved.
        """
        source = Path(folder)
        try:
            facts = ModelFacts.model_validate(json.loads(read_bytes(source / "model.json").decode("utf-8")))
            if facts.format != FORMAT:
                raise RunError(f"it has model format {facts.format}, this drgst reads format {FORMAT}")
            tensors, _ = read_tensors(source / "model.safetensors")
            return replace(_checked(_model(facts, tensors, backbone)), source=str(source))
        except ValidationError as error:
            first = error.errors()[0]
            reason = f"model.json: {'.'.join(map(str, first['loc'])) or 'it'}: {first['msg']}"
            raise RunError(f"{source} is not a usable model: {reason}") from error
        except (OSError, SafetensorError, AttributeError, KeyError, RuntimeError, TypeError, ValueError) as error:
            kind = "" if isinstance(error, DrgstError) else f"{type(error).__name__}: "
            raise RunError(f"{source} is not a usable model: {kind}{' '.join(str(error).split())}") from error


def recipe_version(name: str) -> int | None:
    """Of a recipe that drgst comes with or that is imported; None for parts of the user's own."""
    return None if name == OWN else find_recipe(name).version


def needs_edges(graph: Graph, parts: AnyRecipe) -> bool:
    """Whether the graph has relations, and the learner takes edges only."""
    return bool(graph.relations) and not getattr(parts.learner, "takes_relations", False)


def _model(facts: ModelFacts, tensors: State, backbone: Any) -> Model:
    name, named = facts.recipe, facts.backbone or facts.settings.get("backbone")
    check_imported(name, "model.json", f"name it yourself: drgst --import {name.partition(':')[0]} COMMAND")
    if backbone is None:
        check_imported(named, "model.json", f"name it yourself: --backbone {named}, or load_model(folder, backbone=…)")
    if backbone is None and facts.own_backbone is not None:
        raise RunError(
            f"its network {facts.own_backbone} can't be imported by name: give it, load_model(folder, backbone=…)"
        )
    spec = own_recipe(Recipe()) if name == OWN else find_recipe(name)
    backbone = facts.backbone if backbone is None else backbone
    spec = spec if backbone is None else with_backbone(spec, backbone)
    settings = Settings().updated(facts.settings) if name == OWN else spec.settings(facts.settings)
    state, fitted = under("state.", tensors), under("fitted.", tensors)
    same = {name: getattr(facts, name) for name in SAME}
    return Model(parts=spec.make(settings), settings=settings, state=state, arrays=fitted, **same)


def _checked(model: Model) -> Model:
    arrays, classes, learner = model.arrays, len(model.class_names), model.parts.learner
    if isinstance(learner, Network):
        columns = model.num_features if model.input_features is None else model.input_features
        learner.check_state(own_state(model.state), columns, classes, model.settings)
    if model.classes is not None and len(model.classes) != classes:
        raise RunError(f"model.json has {len(model.classes)} classes, but {classes} class names")
    for name, values in model.state.items():
        if np.issubdtype(values.dtype, np.floating) and not np.isfinite(values).all():
            raise RunError(f"its weights {name} hold NaN or infinite numbers")
    nodes = len(arrays["labeled_stage"])
    check_array("labeled_stage", arrays["labeled_stage"], (nodes,), (-1, MOST_STAGES))
    train = int((arrays["labeled_stage"] == 0).sum())
    shapes: dict[str, tuple[int, ...]] = {"probabilities": (nodes, classes), "gain": (nodes,)}
    optional: dict[str, tuple[int, ...]] = {
        "postprocessed": (nodes, classes),
        "out_of_fold": (train, classes),
        "transition": (classes, classes),
        "nodes.rows": (nodes,),
    }
    for name, shape in (shapes | {name: shape for name, shape in optional.items() if name in arrays}).items():
        check_array(name, arrays[name], shape)
    for name, places, limits in (
        ("given", (nodes,), (-1, classes)),
        ("candidates", (-1,), (0, nodes)),
        ("sampled", (train,), (0, 2)),
        ("nodes.ids", (), (0, 2**32)),
    ):
        if name in arrays:
            check_array(name, arrays[name], places, limits)
    p = arrays["probabilities"]
    if not (np.isfinite(p).all() and (p >= 0).all() and np.allclose(p.sum(axis=1), 1, atol=1e-3)):
        raise RunError("its probabilities hold NaN or infinite or negative numbers, or rows whose sum is not 1")
    return model


def check_array(name: str, array: np.ndarray, shape: tuple[int, ...], limits: tuple[int, int] | None = None) -> None:
    """Refuse an array of a file that has another shape (-1: any length) or type.

    Without ``limits`` it must hold floating-point numbers, else whole numbers from the first limit to below the second.
    """
    fits = array.ndim == len(shape) and all(want in (-1, have) for want, have in zip(shape, array.shape, strict=False))
    if not fits or array.dtype.kind != ("f" if limits is None else "i"):
        raise RunError(f"its array {name} has shape {array.shape} and type {array.dtype}, which do not fit")
    if limits is not None and array.size and not limits[0] <= array.min() <= array.max() < limits[1]:
        raise RunError(f"its array {name} has values outside {limits[0]} to {limits[1] - 1}")
