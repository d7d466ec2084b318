"""Memory: what is available before anything is allocated, and the peak of a run."""

from __future__ import annotations

import contextlib
import ctypes
import re
import sys
from pathlib import Path

from drgst.errors import MemoryLimitError

M_MMAP_THRESHOLD = -3  # of malloc.h
_MEMINFO = Path("/proc/meminfo")
_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
_LIMIT, _USED = (Path(f"/sys/fs/cgroup/memory.{name}") for name in ("max", "current"))


def available_memory() -> int | None:
    """Bytes that this process can still allocate, on the machine or in its container; None where unknown."""
    found = []
    with contextlib.suppress(OSError):
        line = re.search(r"MemAvailable:\s+(\d+) kB", _MEMINFO.read_text(encoding="ascii"))
        found += [] if line is None else [1024 * int(line[1])]
    with contextlib.suppress(OSError, ValueError):  # "max": no limit
        found.append(int(_LIMIT.read_text(encoding="ascii")) - int(_USED.read_text(encoding="ascii")))
    return max(0, min(found)) if found else None


def check_memory(needed: int, purpose: str) -> None:
    """Refuse what would need more memory than there is; ``purpose`` opens the message: "3 classes"."""
    available = available_memory()
    if available is not None and needed > available:
        raise MemoryLimitError(f"{purpose} would need {_size(needed)} of memory, but {_size(available)} are available")


def restart_peak() -> None:
    """Measure the peak from here on. Only Linux can: elsewhere it is the peak of the process."""
    try:
        _CLEAR.write_text("5", encoding="ascii")
    except OSError:
        return  # not Linux, or a sandbox without it: the peak is an upper bound then


def peak_memory_mb() -> float | None:
    """The peak since :func:`restart_peak`, or of the process, in MB; None where the system does not report it."""
    try:
        found = re.search(r"VmHWM:\s+(\d+) kB", _STATUS.read_text(encoding="ascii"))
    except OSError:
        found = None
    if found:
        return round(int(found[1]) / 1024, 1)
    try:
        import resource
    except ImportError:  # Windows
        return None
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10), 1)


def return_freed_memory() -> None:
    """Let arrays of 4 MB and more go back to the system when they are freed.

    By default glibc keeps freed blocks of up to 32 MB, among which later ones do not always fit: a run on 200,000 nodes
    then takes 2.1 instead of 1.6 GB.
    """
    try:
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, 4 * 2**20)
    except (OSError, AttributeError):
        return  # not glibc


def _size(count: int) -> str:
    for unit, name in ((1 << 40, "TB"), (1 << 30, "GB"), (1 << 20, "MB")):
        if count >= unit:
            return f"{count / unit:,.1f} {name}"
    return f"{count:,} bytes"
