"""A fitted model as a folder: ``model.safetensors`` and ``model.json``, nothing that can run code."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open

from drgst import __version__
from drgst.errors import DrgstError, GraphError, RunError
from drgst.extras import check_imported
from drgst.files import write_text
from drgst.graph.core import Graph
from drgst.nn.records import State
from drgst.recipes import find_recipe
from drgst.recipes.registry import own_recipe, with_backbone
from drgst.selftrain.learners.network import Network
from drgst.selftrain.persist import write_tensors
from drgst.selftrain.predict import own_state, predict_logits
from drgst.selftrain.recipe import AnyRecipe, Recipe, part_name
from drgst.selftrain.settings import Settings
from drgst.threads import default_threads, limit_threads
from drgst.transforms.softmax import softmax

FORMAT = 3
OWN = "own"  # the name of a recipe that is made of the user's parts


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

    def logits(self, graph: Graph) -> np.ndarray:
        """(N, C) logits on a graph with the same features."""
        with limit_threads(default_threads(graph.num_entries)):
            logits = predict_logits(self.parts, self.state, self.unlabelled(graph), self.settings)
        if not np.isfinite(logits).all():
            raise RunError("the outputs of the model are not finite: its weights or the features are too large")
        return logits

    def probabilities(self, graph: Graph) -> np.ndarray:
        """(N, C) probabilities on a graph with the same features."""
        return softmax(self.logits(graph))

    def unlabelled(self, graph: Graph) -> Graph:
        """The graph with the classes of the model and without labels; a graph with other features is refused."""
        if graph.num_features != self.num_features:
            raise GraphError(
                f"the graph has {graph.num_features} features, the model was fitted on {self.num_features}"
            )
        hidden = np.full(graph.num_nodes, -1, dtype=np.int64)
        return graph.with_(labels=hidden, class_names=self.class_names, splits=())

    def save(self, folder: str | Path) -> None:
        """Write the model to ``folder``; a model with a learner of the user's own is refused."""
        settings, backbone = self._to_save()
        tensors = {f"state.{k}": v for k, v in self.state.items()}
        tensors |= {f"fitted.{k}": v for k, v in self.arrays.items()}
        write_tensors(Path(folder) / "model.safetensors", tensors)
        facts = {
            "format": FORMAT,
            "drgst": __version__,
            "recipe": self.recipe,
            "seed": self.seed,
            "stop_reason": self.stop_reason,
            "note": self.note,
            "class_names": list(self.class_names),
            "num_features": self.num_features,
            **({} if self.input_features is None else {"input_features": self.input_features}),
            "settings": settings,
            **backbone,
        }
        write_text(Path(folder) / "model.json", json.dumps(facts, indent=2) + "\n")

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
            facts = json.loads((source / "model.json").read_text(encoding="utf-8"))
            if facts["format"] != FORMAT:
                raise RunError(f"{source} has model format {facts['format']}, this drgst reads format {FORMAT}")
            with safe_open(source / "model.safetensors", framework="np") as file:
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            return _checked(_model(facts, tensors, backbone))
        except DrgstError as error:
            raise RunError(f"{source} is not a usable model: {error}") from error
        except (OSError, SafetensorError, AttributeError, KeyError, TypeError, ValueError) as error:
            raise RunError(f"{source} is not a usable model: {type(error).__name__}: {error}") from error


def _model(facts: dict[str, Any], tensors: State, backbone: Any) -> Model:
    name = str(facts["recipe"])
    named = facts.get("backbone") or facts["settings"].get("backbone")
    check_imported(name, "model.json", f"name it yourself: drgst --import {name.partition(':')[0]} COMMAND")
    if backbone is None:
        check_imported(named, "model.json", f"name it yourself: --backbone {named}, or load_model(folder, backbone=…)")
    spec = own_recipe(Recipe()) if name == OWN else find_recipe(name)
    if backbone is None and "own_backbone" in facts:
        raise RunError(
            f"its network {facts['own_backbone']} can't be imported by name: give it, load_model(folder, backbone=…)"
        )
    backbone = facts.get("backbone") if backbone is None else backbone
    spec = spec if backbone is None else with_backbone(spec, backbone)
    settings = Settings().updated(facts["settings"]) if name == OWN else spec.settings(facts["settings"])
    state, fitted = (
        {key.removeprefix(prefix): t for key, t in tensors.items() if key.startswith(prefix)}
        for prefix in ("state.", "fitted.")
    )
    return Model(
        recipe=name,
        parts=spec.make(settings),
        settings=settings,
        class_names=_texts(facts["class_names"]),
        num_features=int(facts["num_features"]),
        state=state,
        arrays=fitted,
        seed=int(facts["seed"]),
        stop_reason=str(facts["stop_reason"]),
        note=str(facts["note"]),
        input_features=int(facts["input_features"]) if "input_features" in facts else None,
    )


def _texts(names: Any) -> tuple[str, ...]:
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise RunError("its class names are not a list of texts")
    return tuple(names)


def _checked(model: Model) -> Model:
    classes, learner = len(model.class_names), model.parts.learner
    if model.num_features < 0:
        raise RunError(f"its number of features is {model.num_features}")
    if isinstance(learner, Network):
        columns = model.num_features if model.input_features is None else model.input_features
        learner.check_state(own_state(model.state), columns, classes, model.settings)
    for name, values in model.state.items():
        if np.issubdtype(values.dtype, np.floating) and not np.isfinite(values).all():
            raise RunError(f"its weights {name} hold NaN or infinite numbers")
    if not np.isfinite(model.arrays["probabilities"]).all():
        raise RunError("its probabilities hold NaN or infinite numbers")
    nodes = model.arrays["probabilities"].shape[:1]
    fit = all(model.arrays[name].shape == nodes for name in ("gain", "labeled_stage"))
    if model.arrays["probabilities"].shape != (*nodes, classes) or not fit:
        raise RunError("its arrays do not fit its classes")
    return model
