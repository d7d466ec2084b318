"""A stage as one file: safetensors with its plain facts in the header, written whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from drgst.errors import RunError
from drgst.files import open_regular, replacing
from drgst.nn.records import Training, under
from drgst.selftrain.beliefs import PseudoLabels
from drgst.selftrain.history import Stage

ARRAYS = ("weights", "gain", "confidence", "logits", "all_gain", "embedding")
OPTIONAL = ("transition", "calibrated", "selection_logits")
SHARED_BYTES = 10 * 2**20  # above which a tensor that the stage before holds, too, is not written again


class StageFacts(BaseModel):
    """The facts in the header of the file of a stage."""

    number: int
    seconds: float
    accepted: bool
    note: str
    trainings: tuple[Training, ...]
    shared: tuple[str, ...] = ()  # tensors that the stage before holds


def save_stage(stage: Stage, path: Path, before: Stage | None = None) -> None:
    """Write ``stage`` to ``path``, without the large tensors that it shares with the stage ``before``."""
    tensors = _tensors(stage)
    earlier = {} if before is None else _tensors(before)
    large = (name for name, tensor in tensors.items() if tensor.nbytes > SHARED_BYTES and name in earlier)
    shared = sorted(name for name in large if tensors[name].ctypes.data == earlier[name].ctypes.data)
    facts = {
        "number": stage.number,
        "seconds": stage.seconds,
        "accepted": stage.accepted,
        "note": stage.note,
        "trainings": [asdict(t) for t in stage.trainings],
        **({"shared": shared} if shared else {}),
    }
    kept = {name: tensor for name, tensor in tensors.items() if name not in shared}
    write_tensors(path, kept, {"stage": json.dumps(facts)})


def _tensors(stage: Stage) -> dict[str, np.ndarray]:
    arrays = {name: getattr(stage, name) for name in (*ARRAYS, *OPTIONAL)}
    arrays |= {"nodes": stage.pseudo_labels.nodes, "labels": stage.pseudo_labels.labels}
    arrays |= {f"state.{name}": array for name, array in stage.state.items()}
    return {name: array for name, array in arrays.items() if array is not None}


def load_stage(path: Path, before: Stage | None = None) -> Stage:
    """Read what :func:`save_stage` wrote, with the stage ``before`` where it shares tensors with it.

    A damaged file is refused, and the error names it.
    """
    try:
        tensors, metadata = read_tensors(path)
        facts = StageFacts.model_validate(json.loads(metadata["stage"]))
        if facts.shared:
            earlier = {} if before is None else _tensors(before)
            tensors |= {name: earlier[name] for name in facts.shared}
        arrays = {name: tensors[name] for name in ARRAYS}
        pseudo = PseudoLabels(tensors["nodes"], tensors["labels"])
        optional = {name: tensors[name] for name in OPTIONAL if name in tensors}
        plain = {name: value for name, value in facts if name != "shared"}
        given: dict[str, Any] = {**dict.fromkeys(OPTIONAL), **optional, **arrays, **plain}
        return Stage(pseudo_labels=pseudo, state=under("state.", tensors), **given)
    except (OSError, SafetensorError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise RunError(f"{path} is damaged or was not written by drgst ({error})") from error


def read_tensors(path: Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """The tensors and the metadata of a file, which must be a regular one."""
    with open_regular(path), safe_open(path, framework="np") as file:
        return {name: file.get_tensor(name) for name in file.keys()}, file.metadata() or {}  # noqa: SIM118


def write_tensors(path: Path, tensors: Mapping[str, np.ndarray], metadata: Mapping[str, str] | None = None) -> None:
    """Write ``tensors`` to ``path``; a full disk is a DataFileError that names it, and the old file stays."""
    with replacing(path) as temporary:
        try:
            save_file(
                {name: np.asarray(t, order="C") for name, t in tensors.items()},
                temporary,
                metadata=dict(metadata) if metadata else None,
            )
        except SafetensorError as error:
            raise OSError(str(error)) from error
