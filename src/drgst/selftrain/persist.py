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
from safetensors.torch import save_file
from torch import Tensor

from drgst.errors import RunError
from drgst.files import replacing
from drgst.nn.training import Curve, Training
from drgst.selftrain.beliefs import PseudoLabels
from drgst.selftrain.history import Stage

ARRAYS = ("weights", "gain", "confidence", "logits", "all_gain", "embedding")
OPTIONAL = ("transition", "calibrated", "selection_logits")
SHARED_BYTES = 10 * 2**20  # above which a tensor that the stage before holds, too, is not written again


def save_stage(stage: Stage, path: Path, before: Stage | None = None) -> None:
    """Write ``stage`` to ``path``, without the large tensors that it shares with the stage ``before``."""
    tensors = _tensors(stage)
    earlier = {} if before is None else _tensors(before)
    shared = sorted(name for name, tensor in tensors.items() if _same_memory(tensor, earlier.get(name)))
    facts = {
        "number": stage.number,
        "seconds": stage.seconds,
        "accepted": stage.accepted,
        "note": stage.note,
        "trainings": [asdict(t) for t in stage.trainings],
        **({"shared": shared} if shared else {}),
    }
    kept = {name: tensor for name, tensor in tensors.items() if name not in shared}
    write_tensors(path, apart(kept), {"stage": json.dumps(facts)})


def _tensors(stage: Stage) -> dict[str, Tensor]:
    arrays = {name: getattr(stage, name) for name in (*ARRAYS, *OPTIONAL)}
    arrays |= {"nodes": stage.pseudo_labels.nodes, "labels": stage.pseudo_labels.labels}
    tensors = {name: torch.from_numpy(np.require(a, None, ("C", "W"))) for name, a in arrays.items() if a is not None}
    return tensors | {f"state.{name}": value for name, value in stage.state.items()}


def _same_memory(tensor: Tensor, other: Tensor | None) -> bool:
    size = tensor.numel() * tensor.element_size()
    return other is not None and size > SHARED_BYTES and tensor.data_ptr() == other.data_ptr()


def load_stage(path: Path, before: Stage | None = None) -> Stage:
    """Read what :func:`save_stage` wrote, with the stage ``before`` where it shares tensors with it.

    A damaged file is refused by name.
    """
    try:
        with safe_open(path, framework="pt") as file:
            facts = json.loads(file.metadata()["stage"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        shared = facts.pop("shared", ())
        if shared:
            earlier = {} if before is None else _tensors(before)
            tensors |= {name: earlier[name] for name in shared}
        arrays = {name: tensors[name].numpy() for name in ARRAYS}
        pseudo = PseudoLabels(tensors["nodes"].numpy(), tensors["labels"].numpy())
        trainings = tuple(Training(**{**t, "curve": Curve(**t["curve"])}) for t in facts.pop("trainings"))
        state = {name.removeprefix("state."): t for name, t in tensors.items() if name.startswith("state.")}
        optional = {name: tensors[name].numpy() for name in OPTIONAL if name in tensors}
        given: dict[str, Any] = {**dict.fromkeys(OPTIONAL), **optional, **arrays, **facts}
        return Stage(pseudo_labels=pseudo, trainings=trainings, state=state, **given)
    except (OSError, SafetensorError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise RunError(f"{path} is damaged or was not written by drgst ({error})") from error


def write_tensors(path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None = None) -> None:
    """Write ``tensors`` to ``path``; a full disk is a DataFileError that names it, and the old file stays."""
    with replacing(path) as temporary:
        try:
            save_file(
                {name: t.contiguous() for name, t in tensors.items()},
                temporary,
                metadata=dict(metadata) if metadata else None,
            )
        except SafetensorError as error:
            raise OSError(str(error)) from error


def apart(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors, with a copy of each that shares its memory with another, since a file holds no memory twice."""
    seen: set[int] = set()
    apart = {}
    for name, tensor in tensors.items():
        place = tensor.untyped_storage().data_ptr()
        apart[name] = tensor.clone() if place in seen else tensor
        seen.add(place)
    return apart
