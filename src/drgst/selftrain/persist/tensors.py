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
