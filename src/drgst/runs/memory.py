"""Peak memory of a run, also in a process that makes many runs."""

from __future__ import annotations

import ctypes
import re
import sys
from pathlib import Path

M_MMAP_THRESHOLD = -3  # of malloc.h
_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


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
