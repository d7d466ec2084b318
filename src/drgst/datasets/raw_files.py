"""Readers for downloaded files: zip archives and text files of integers."""

from __future__ import annotations

import shutil
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np

from drgst.errors import DataFileError
from drgst.files import reading, replacing


@contextmanager
def open_archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """The zip archive at ``path``; damage is an error. Its entries are read by names that we know."""
    damage = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, KeyError)
    with reading(path, *damage, kind="a complete zip archive"), zipfile.ZipFile(path) as archive:
        yield archive


def extract(archive: zipfile.ZipFile, member: str, target: Path) -> None:
    """Write one entry to ``target``, atomically; the name of the entry is not used."""
    with archive.open(member) as source, replacing(target) as temporary, open(temporary, "wb") as out:
        shutil.copyfileobj(source, out)


def read_integers(source: Path | IO[bytes], columns: int = 1, name: str | None = None) -> np.ndarray:
    """Integers of 0 or above with ``columns`` per line: (L,) for one column, else (L, columns)."""
    where = name or str(source)
    with reading(where):
        lines = (source.read_bytes() if isinstance(source, Path) else source.read()).splitlines()
    try:
        table = [[int(cell) for cell in line.split()] for line in lines if line.strip()]
        values = np.array(table, dtype=np.int64).reshape(len(table), columns)
    except (ValueError, OverflowError) as error:
        raise DataFileError(f"{where} must hold {columns} whole numbers on each line") from error
    if values.size and values.min() < 0:
        raise DataFileError(f"{where} holds the negative number {values.min()}")
    return values[:, 0] if columns == 1 else values
