"""Files that are written completely or not at all, and their formats."""

from __future__ import annotations

import csv
import hashlib
import io
import math
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from drgst.errors import DataFileError


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside ``path``; on success it takes the name ``path``, on failure it is removed.

    A full disk, a missing permission or an error in the body leaves the old file as it was. Operating-system
    errors become one :class:`~drgst.errors.DataFileError` that names the file.
    """
    target = Path(path)
    temporary: Path | None = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
        os.close(handle)
        temporary = Path(name)
        yield temporary
        os.chmod(temporary, 0o644)
        os.replace(temporary, target)
        temporary = None
    except OSError as error:
        raise DataFileError(f"can't write {target}: {error.strerror or error}") from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write ``text`` to ``path`` as UTF-8, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def plain(value: Any) -> Any:
    """``value`` with None for NaN and infinity, which JSON does not have."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    """``rows``, the first of them the header, as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def sha256(path: str | os.PathLike[str]) -> str:
    """The SHA-256 of a file, read in pieces."""
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
