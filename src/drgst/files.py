"""Atomic file writes, and file errors as :class:`~drgst.errors.DataFileError`."""

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

from drgst.errors import DataFileError, DrgstError

PathLike = str | os.PathLike[str]


@contextmanager
def replacing(path: PathLike) -> Iterator[Path]:
    """Yield a temporary path next to ``path``; it is renamed to ``path`` on success and removed on failure.

    After a full disk, a missing permission or an error in the body the old file is unchanged. An ``OSError``
    becomes a :class:`~drgst.errors.DataFileError` that names the file.
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


@contextmanager
def reading(path: PathLike, *damage: type[Exception], kind: str = "") -> Iterator[None]:
    """Turn an ``OSError`` or an error of the types ``damage`` into a ``DataFileError`` that names ``path``.

    ``kind`` is the expected format, with its article: ``"a zip archive"``.
    """
    try:
        yield
    except DrgstError:
        raise
    except OSError as error:
        raise DataFileError(f"can't read {path}: {error.strerror or error}") from error
    except damage as error:
        reason = error.args[0] if isinstance(error, KeyError) and error.args else error  # str() would quote the text
        raise DataFileError(f"{path} is damaged or not {kind}: {reason}") from error


def read_text(path: PathLike) -> str:
    """The content of a UTF-8 text file."""
    with reading(path, UnicodeDecodeError, kind="a text file"):
        return Path(path).read_text(encoding="utf-8")


def write_text(path: PathLike, text: str) -> None:
    """Write ``text`` to ``path`` as UTF-8, atomically."""
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
    """``rows`` as CSV text; the first row is the header."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def sha256(path: PathLike) -> str:
    """The SHA-256 of a file as hexadecimal digits."""
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
