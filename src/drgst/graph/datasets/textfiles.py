"""Plain text files of whole numbers: node lists, labels and edge lists of the public data sets."""

from __future__ import annotations

from pathlib import Path
from typing import IO

import numpy as np

from drgst.errors import DataFileError


def read_integers(source: Path | IO[bytes], columns: int = 1, name: str | None = None) -> np.ndarray:
    """Whole numbers of 0 or above, ``columns`` to a line: (L,) for one column, (L, columns) for more."""
    where = name or str(source)
    try:
        text = source.read_bytes() if isinstance(source, Path) else source.read()
    except OSError as error:
        raise DataFileError(f"can't read {where}: {error.strerror or error}") from error
    try:
        table = [[int(cell) for cell in line.split()] for line in text.splitlines() if line.strip()]
        values = np.array(table, dtype=np.int64).reshape(-1, columns)
    except (ValueError, OverflowError) as error:
        raise DataFileError(f"{where} must hold {columns} whole numbers on each line") from error
    if len(table) != len(values):
        raise DataFileError(f"{where} must hold {columns} whole numbers on each line")
    if values.size and values.min() < 0:
        raise DataFileError(f"{where} holds the negative number {values.min()}")
    return values[:, 0] if columns == 1 else values
