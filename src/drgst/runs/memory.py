"""Peak memory of a run, also in a process that makes many runs."""

from __future__ import annotations

import re
import sys
from pathlib import Path

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
