"""Atomic file writes, file errors as :class:`~drgst.errors.DataFileError`, and text that is safe to show."""

from __future__ import annotations

import contextlib
import csv
import errno
import hashlib
import io
import math
import os
import re
import secrets
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import is_dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from drgst.errors import DataFileError, DrgstError
from drgst.memory import check_memory

try:
    import fcntl
except ImportError:  # Windows: nothing is locked or swept
    fcntl = None  # type: ignore[assignment]

PathLike = str | os.PathLike[str]
STANDARD_OUTPUT = Path("/dev/stdout")
FORMULA = r"^'*[=+\-@\t\r]"  # a cell that begins so without the apostrophe is executed by spreadsheets
_SUSPECT = frozenset("'=+-@\t\r")  # first characters of the texts that FORMULA finds
_NUMBER = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"
_NUMBERS = re.compile(f"{_NUMBER}( (to|±) {_NUMBER})*")
# control characters but newline and tab, characters that change the direction of text, and lone surrogates
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


@contextmanager
def replacing(path: PathLike) -> Iterator[Path]:
    """Yield a temporary path; on success its content becomes that of ``path``, on failure it is removed.

    A regular file is replaced in one step: after a full disk, a missing permission or an error in the body the old
    file is unchanged. It keeps its permissions; a new file gets those of the umask. A symbolic link is followed.
    Devices, pipes and standard output are written to, never replaced. An ``OSError`` becomes a
    :class:`~drgst.errors.DataFileError` that names the file.
    """
    target = Path(path)
    try:
        with (_sent_to if _is_special(target) else _moved_to)(target) as temporary:
            yield temporary
    except OSError as error:
        name = "standard output" if target == STANDARD_OUTPUT else target
        raise DataFileError(f"can't write {name}: {error.strerror or error}") from error


@contextmanager
def _moved_to(target: Path) -> Iterator[Path]:
    place = Path(os.path.realpath(target))
    place.parent.mkdir(parents=True, exist_ok=True)
    head = f".{place.name[:40]}."
    sweep(place.parent, re.escape(head) + r"[0-9a-f]{8}\.tmp")
    temporary = place.with_name(f"{head}{secrets.token_hex(4)}.tmp")
    os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))  # less the umask
    held = hold(temporary)
    try:
        rights = stat.S_IMODE((place if place.exists() else temporary).stat().st_mode)
        os.chmod(temporary, rights | stat.S_IWUSR)  # nobody reads what nobody may read
        yield temporary
        os.chmod(temporary, rights)
        os.replace(temporary, place)
    finally:
        temporary.unlink(missing_ok=True)
        os.close(held)


def hold(temporary: Path) -> int:
    """Lock a temporary file or folder until the descriptor is closed, so that :func:`sweep` leaves it."""
    descriptor = os.open(temporary, os.O_RDONLY)
    if fcntl is not None:
        with contextlib.suppress(OSError):  # a file system without locks: nothing is swept there
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return descriptor


def sweep(folder: Path, pattern: str, only: str = "") -> None:
    """Remove what killed processes left: names of the ``pattern`` that are a minute old and that no process holds.

    A folder is removed if all its files have names of the pattern ``only``.
    """
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for path in [Path(entry) for entry in entries if re.fullmatch(pattern, entry.name)]:
            if time.time() - path.lstat().st_mtime < 60 or path.is_symlink() or not _is_free(path):
                continue
            if not path.is_dir():
                path.unlink()
            elif only and all(re.fullmatch(only, inner.name) for inner in path.rglob("*")):
                shutil.rmtree(path)


def _is_free(path: Path) -> bool:
    """Whether no process holds the file or folder."""
    if fcntl is None:
        return False
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)


@contextmanager
def _sent_to(target: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="drgst-") as folder:
        temporary = Path(folder) / "content"
        temporary.touch()
        yield temporary
        sys.stdout.flush()
        sink = os.dup(1) if target == STANDARD_OUTPUT else target
        with temporary.open("rb") as source, open(sink, "wb") as file:
            shutil.copyfileobj(source, file)


def _is_special(target: Path) -> bool:
    """Whether ``target`` is standard output, a device or a pipe; a folder is an ``OSError``."""
    if target == STANDARD_OUTPUT:
        return True
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return False
    except ValueError as error:  # a zero byte in the path
        raise OSError(str(error)) from error
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    return not stat.S_ISREG(mode)


@contextmanager
def open_regular(path: PathLike) -> Iterator[io.BufferedReader]:
    """The bytes of a regular file; a device or a pipe, which could block or go on for ever, is an ``OSError``."""
    nonblock = getattr(os, "O_NONBLOCK", 0)  # a pipe without a writer would block
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | nonblock)) as handle:
        if not stat.S_ISREG(os.fstat(handle.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        yield handle


def read_bytes(path: PathLike) -> bytes:
    """The content of a regular file that fits into memory; of any other an ``OSError`` or ``MemoryLimitError``."""
    with open_regular(path) as handle:
        check_memory(os.fstat(handle.fileno()).st_size, str(path))
        return handle.read()


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
        raise DataFileError(f"can't read {path}: {error.strerror or ' '.join(str(error).split())}") from error
    except damage as error:
        reason = error.args[0] if isinstance(error, KeyError) and error.args else error  # str() would quote the text
        raise DataFileError(f"{path} is damaged or not {kind}: {reason}") from error


def read_text(path: PathLike) -> str:
    """The content of a UTF-8 text file."""
    with reading(path, UnicodeDecodeError, kind="a text file"):
        return read_bytes(path).decode("utf-8")


def write_text(path: PathLike, text: str) -> None:
    """Write ``text`` to ``path`` as UTF-8, atomically."""
    try:
        content = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise DataFileError(f"can't write {path}: {text[error.start]!r} is not a character of UTF-8") from error
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def write_pieces(path: PathLike, pieces: Iterable[str]) -> None:
    """Write the concatenated ``pieces`` to ``path`` as UTF-8, atomically, one at a time."""
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8") as sink:
        sink.writelines(pieces)


def plain(value: Any) -> Any:
    """``value`` as JSON has it: dataclasses and tuples as dicts and lists, None for NaN and infinity."""
    if is_dataclass(value) and not isinstance(value, type):
        value = vars(value)
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def printable(text: str) -> str:
    """``text`` without the characters that could control a terminal."""
    return _UNSAFE.sub("\ufffd", text)


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    """``rows`` as CSV text; the first row is the header. Spreadsheets show every cell as text or number."""
    lines: list[str] = []
    sink = SimpleNamespace(write=lambda line: lines.append(f"{line[:-2]}\n"))
    writer = csv.writer(sink, lineterminator="\r\n")  # with "\n", a cell that holds "\r" would not be quoted
    writer.writerows([inert_cell(cell) for cell in row] for row in rows)
    return "".join(lines)


def inert_cell(value: Any) -> Any:
    """``value`` with an apostrophe in front where a spreadsheet would take the text for a formula."""
    if not isinstance(value, str) or value[:1] not in _SUSPECT:
        return value
    return f"'{value}" if re.match(FORMULA, value) and not _NUMBERS.fullmatch(value) else value


def original_cell(text: str) -> str:
    """The text that :func:`inert_cell` was given."""
    return text[1:] if text[:1] == "'" and re.match(FORMULA, text) else text


def sha256(path: PathLike) -> str:
    """The SHA-256 of a file as hexadecimal digits."""
    with open_regular(path) as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
