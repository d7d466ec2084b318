"""A stage as one file: safetensors with its plain facts in the header, written whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from drgst.errors import RunError
from drgst.nn.training import Curve, Training
from drgst.selftrain.beliefs import PseudoLabels
from drgst.selftrain.history import Stage
from drgst.selftrain.persist.tensors import write_tensors

ARRAYS = ("weights", "gain", "confidence", "logits", "all_gain", "embedding")
OPTIONAL = ("transition", "calibrated", "selection_logits")


def save_stage(stage: Stage, path: Path) -> None:
    """Write ``stage`` to ``path``."""
    arrays = {name: getattr(stage, name) for name in (*ARRAYS, *OPTIONAL)}
    arrays |= {"nodes": stage.pseudo_labels.nodes, "labels": stage.pseudo_labels.labels}
    tensors = {name: torch.from_numpy(np.require(a, None, ("C", "W"))) for name, a in arrays.items() if a is not None}
    tensors = _apart(tensors | {f"state.{name}": value for name, value in stage.state.items()})
    facts = {
        "number": stage.number,
        "seconds": stage.seconds,
        "accepted": stage.accepted,
        "note": stage.note,
        "trainings": [asdict(t) for t in stage.trainings],
    }
    write_tensors(path, tensors, {"stage": json.dumps(facts)})


def load_stage(path: Path) -> Stage:
    """Read what :func:`save_stage` wrote; a damaged file is refused by name."""
    try:
        with safe_open(path, framework="pt") as file:
            facts = json.loads(file.metadata()["stage"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        arrays = {name: tensors[name].numpy() for name in ARRAYS}
        pseudo = PseudoLabels(tensors["nodes"].numpy(), tensors["labels"].numpy())
        trainings = tuple(Training(**{**t, "curve": Curve(**t["curve"])}) for t in facts.pop("trainings"))
        state = {name.removeprefix("state."): t for name, t in tensors.items() if name.startswith("state.")}
        optional = {name: tensors[name].numpy() for name in OPTIONAL if name in tensors}
        given: dict[str, Any] = {**dict.fromkeys(OPTIONAL), **optional, **arrays, **facts}
        return Stage(pseudo_labels=pseudo, trainings=trainings, state=state, **given)
    except (OSError, SafetensorError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise RunError(f"{path} is damaged or was not written by drgst ({error})") from error


def _apart(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors, with a copy of each that shares its memory with another, since a file holds no memory twice."""
    seen: set[int] = set()
    apart = {}
    for name, tensor in tensors.items():
        place = tensor.untyped_storage().data_ptr()
        apart[name] = tensor.clone() if place in seen else tensor
        seen.add(place)
    return apart
