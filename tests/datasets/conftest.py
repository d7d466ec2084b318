"""Small files of the public formats, made by the tests themselves."""

import io
import pickle
import struct
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp


class _Python2Pickler(pickle._Pickler):
    """Writes what Python 2 wrote: protocol 2, bytes as plain strings."""

    dispatch = pickle._Pickler.dispatch.copy()

    def save_bytes(self, value: bytes) -> None:
        self.write(pickle.BINSTRING + struct.pack("<i", len(value)) + value)
        self.memoize(value)

    dispatch[bytes] = save_bytes


def dump(value: Any, path: Path) -> None:
    """Pickle ``value`` to ``path`` in the manner of Planetoid's files."""
    buffer = io.BytesIO()
    _Python2Pickler(buffer, protocol=2).dump(value)
    path.write_bytes(buffer.getvalue())


@pytest.fixture
def tiny_planetoid() -> Callable[[Path, str], Path]:
    """Writes eight files for 506 + 4 nodes, node 508 missing: 2 train, 500 validation, test order 509, 506, 507."""

    def write(folder: Path, name: str = "tiny") -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        known = np.arange(506) % 2
        allx = sp.csr_matrix(np.eye(506, 8, dtype=np.float32) + np.eye(506, 8, k=-8, dtype=np.float32))
        tx = sp.csr_matrix(np.diag([1.0, 2.0, 3.0]).astype(np.float32) @ np.eye(3, 8, dtype=np.float32))
        one_hot = np.eye(2, dtype=np.int32)
        graph = defaultdict(list, {0: [1, 1, 509], 1: [0], 2: [2], 509: [0], 506: [3]})
        parts = {
            "x": allx[:2],
            "y": one_hot[known[:2]],
            "tx": tx,
            "ty": one_hot[[1, 0, 1]],
            "allx": allx,
            "ally": one_hot[known],
            "graph": graph,
        }
        for part, value in parts.items():
            dump(value, folder / f"ind.{name}.{part}")
        (folder / f"ind.{name}.test.index").write_text("509\n506\n507\n")
        return folder

    return write
