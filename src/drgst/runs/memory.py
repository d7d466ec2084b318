"""The most memory that a run has held, in a process that makes many runs."""

from __future__ import annotations

import re
from pathlib import Path

from drgst.runs.result import peak_memory_mb

_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def restart_peak() -> None:
    """Measure from here on (Linux; elsewhere the peak is that of the process's whole life)."""
    try:
        _CLEAR.write_text("5", encoding="ascii")
    except OSError:
        return  # not Linux, or a sandbox without it: peak_mb is an upper bound then


def peak_mb() -> float | None:
    """The peak since :func:`restart_peak`, in MB."""
    try:
        found = re.search(r"VmHWM:\s+(\d+) kB", _STATUS.read_text(encoding="ascii"))
    except OSError:
        found = None
    return round(int(found[1]) / 1024, 1) if found else peak_memory_mb()
