"""Tensors in one safetensors file, whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import save_file
from torch import Tensor

from drgst.files import replacing


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
