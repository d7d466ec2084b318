"""The lock of a run folder: one process at a time writes to it."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from drgst.errors import RunError

try:
    import fcntl
except ImportError:  # Windows: folders are not locked
    fcntl = None  # type: ignore[assignment]

LOCK = ".lock"
_UNSUPPORTED = (errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK)
_log = logging.getLogger("drgst")


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold ``folder``, which is created if necessary. If another process holds it, the error names that process.

    The lock belongs to the open file and ends with the process that holds it, however that ends: a file ``.lock`` that
    was left behind locks nothing. Afterwards the file is removed, and a folder that was made for it and is empty.
    """
    path = folder / LOCK
    try:
        made = [place for place in (folder, *folder.parents) if not place.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = _acquire(path)
    except OSError as error:
        raise RunError(f"can't write the run folder {folder}: {error.strerror or error}") from error
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)
        with contextlib.suppress(OSError):
            for place in made:
                place.rmdir()


def _acquire(path: Path) -> int:
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _lock(descriptor, path)
            if path.exists() and os.path.samestat(os.fstat(descriptor), path.stat()):
                break
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # its last holder removed the file in between
    os.truncate(descriptor, 0)
    os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode())
    return descriptor


def _lock(descriptor: int, path: Path) -> None:
    if fcntl is None:
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = path.read_text(encoding="utf-8").strip() if path.is_file() else ""
        raise RunError(
            f"the run folder {path.parent} is in use by {holder or 'another process'}; "
            "wait until that run has ended, or use another --out"
        ) from None
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
        _log.warning("%s is on a file system without locks: start no second run there", path.parent)
