"""A fitted model as a folder: ``model.safetensors`` and ``model.json``, nothing that can run code."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from drgst import __version__
from drgst.errors import DrgstError, GraphError, RunError
from drgst.files import write_text
from drgst.graph.core import Graph
from drgst.recipes import find_recipe
from drgst.recipes.post import dressed
from drgst.selftrain.calibrate.parts import Calibrate, Identity, parted
from drgst.selftrain.learners.network import Learner, Network
from drgst.selftrain.persist.tensors import write_tensors
from drgst.selftrain.recipe import Recipe
from drgst.selftrain.settings import Settings

FORMAT = 1


@dataclass(frozen=True, eq=False)
class Model:
    """What predicts: a learner with its saved state."""

    recipe: str
    settings: Settings
    class_names: tuple[str, ...]
    num_features: int
    state: Mapping[str, Tensor]
    learner: Learner
    calibrate: Calibrate = field(default_factory=Identity)

    def logits(self, graph: Graph) -> np.ndarray:
        """(N, C) logits on a graph with the same features."""
        if graph.num_features != self.num_features:
            raise GraphError(
                f"the graph has {graph.num_features} features, the model was fitted on {self.num_features}"
            )
        known = graph.with_(
            labels=np.full(graph.num_nodes, -1, dtype=np.int64), class_names=self.class_names, splits=()
        )
        own, learnt = parted(self.state)
        logits = self.learner.predict(own, known, self.settings)
        return self.calibrate.apply(learnt, logits, known, self.settings.device) if learnt else logits


@dataclass(frozen=True, eq=False)
class Saved:
    """A model folder's content."""

    model: Model
    arrays: dict[str, np.ndarray]
    seed: int
    stop_reason: str


def save_model_files(
    folder: str | Path, model: Model, arrays: Mapping[str, np.ndarray], seed: int, stop_reason: str
) -> None:
    """Write ``model`` and the fitted ``arrays`` to ``folder``."""
    settings = _settings_to_save(model)
    target = Path(folder)
    tensors = {f"state.{k}": v.contiguous().clone() for k, v in model.state.items()}
    tensors |= {f"fitted.{k}": torch.from_numpy(np.array(v)) for k, v in arrays.items()}
    write_tensors(target / "model.safetensors", tensors)
    facts = {
        "format": FORMAT,
        "drgst": __version__,
        "recipe": model.recipe,
        "seed": seed,
        "stop_reason": stop_reason,
        "class_names": list(model.class_names),
        "num_features": model.num_features,
        "settings": settings.model_dump(),
    }
    write_text(target / "model.json", json.dumps(facts, indent=2) + "\n")


def _settings_to_save(model: Model) -> Settings:
    """The settings from which the learner can be made again; a learner that only its user can make is refused."""
    named = isinstance(model.learner, Network) and isinstance(model.learner.backbone, str | None)
    if not named and (model.recipe == "own" or isinstance(model.learner, Network)):
        raise RunError(
            "a model with your own backbone or learner can't be saved here: save its state_dict with torch instead"
        )
    backbone = getattr(model.learner, "backbone", None)
    return model.settings if backbone is None else model.settings.updated({"backbone": backbone})


def load_model_files(folder: str | Path) -> Saved:
    """Read what :func:`save_model_files` wrote; a folder that was edited so that it no longer fits is refused."""
    source = Path(folder)
    try:
        facts = json.loads((source / "model.json").read_text(encoding="utf-8"))
        if facts["format"] != FORMAT:
            raise RunError(f"{source} has model format {facts['format']}, this drgst reads format {FORMAT}")
        with safe_open(source / "model.safetensors", framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        model = _model(facts, _part(tensors, "state."))
        arrays = {name: t.numpy() for name, t in _part(tensors, "fitted.").items()}
        _check_arrays(arrays, len(model.class_names))
        return Saved(model, arrays, int(facts["seed"]), str(facts["stop_reason"]))
    except DrgstError as error:
        raise RunError(f"{source} is not a usable model: {error}") from error
    except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
        raise RunError(f"{source} is not a usable model: {type(error).__name__}: {error}") from error


def _part(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): t for name, t in tensors.items() if name.startswith(prefix)}


def _model(facts: dict[str, Any], state: dict[str, Tensor]) -> Model:
    settings = Settings().updated(facts["settings"])
    name = str(facts["recipe"])
    recipe = dressed(Recipe(), settings) if name == "own" else find_recipe(name).make(settings)
    learner = recipe.learner
    names = tuple(str(c) for c in facts["class_names"])
    if int(facts["num_features"]) < 0:
        raise RunError(f"it says that it has {facts['num_features']} features")
    model = Model(name, settings, names, int(facts["num_features"]), state, learner, recipe.calibrate)
    if isinstance(learner, Network):
        learner.check_state(parted(state)[0], model.num_features, len(names), settings)
    return model


def _check_arrays(arrays: Mapping[str, np.ndarray], classes: int) -> None:
    p = arrays["probabilities"]
    if p.ndim != 2 or p.shape[1] != classes or any(arrays[k].shape != (p.shape[0],) for k in ("gain", "labeled_stage")):
        raise RunError("its arrays do not fit its classes")
