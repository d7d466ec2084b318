"""Zip archives from outside, read so that no entry can leave its folder."""

from __future__ import annotations

import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath, PureWindowsPath

from drgst.errors import DataFileError
from drgst.files import replacing

_PIECE = 1 << 20


@contextmanager
def open_archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """The zip archive at ``path``, every entry's name checked; damage found while reading is named too."""
    try:
        with zipfile.ZipFile(path) as archive:
            for entry in archive.infolist():
                _check_entry(path, entry)
            yield archive
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise DataFileError(f"{path} is damaged or cut short: {error}") from error
    except KeyError as error:
        raise DataFileError(f"{path} lacks a file: {error.args[0]}") from error
    except OSError as error:
        raise DataFileError(f"can't read {path}: {error.strerror or error}") from error


def extract(archive: zipfile.ZipFile, member: str, target: Path) -> None:
    """Write one entry to ``target``, whole or not at all; the entry's own name decides nothing."""
    with archive.open(member) as source, replacing(target) as temporary, open(temporary, "wb") as out:
        while piece := source.read(_PIECE):
            out.write(piece)


def _check_entry(path: Path, entry: zipfile.ZipInfo) -> None:
    """Refuse an absolute name, one with a drive or ``..``, and a symbolic link."""
    name = entry.filename
    parts = PurePosixPath(name.replace("\\", "/")).parts
    if PurePosixPath(name).is_absolute() or PureWindowsPath(name).anchor or ".." in parts:
        raise DataFileError(f"{path} is refused: its entry {name!r} leaves the folder")
    if stat.S_ISLNK(entry.external_attr >> 16):
        raise DataFileError(f"{path} is refused: its entry {name!r} is a symbolic link")
