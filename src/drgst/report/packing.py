"""Arrays as little-endian bytes in base 64, which a browser reads a hundred times faster than JSON."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

KINDS = {"u1": "<u1", "u2": "<u2", "u4": "<u4", "i2": "<i2", "f4": "<f4"}
WHOLE = 65_535  # a share of 1 in 16 bits


def pack(values: Any, kind: str) -> dict[str, Any]:
    """``{"kind", "shape", "data"}``."""
    array = np.ascontiguousarray(values, dtype=KINDS[kind])
    return {"kind": kind, "shape": list(array.shape), "data": base64.b64encode(array.tobytes()).decode("ascii")}


def pack_shares(values: np.ndarray) -> dict[str, Any]:
    """Numbers between 0 and 1 in 16 bits."""
    return pack(np.rint(np.clip(values, 0, 1) * WHOLE), "u2")


def unpack(packed: dict[str, Any]) -> np.ndarray:
    """The array that was packed; shares stay whole numbers out of 65,535."""
    data = np.frombuffer(base64.b64decode(packed["data"]), dtype=KINDS[packed["kind"]])
    return data.reshape(packed["shape"])
