"""Processes of this machine, recognised by id and start time: an id alone is reused, at once in a container."""

from __future__ import annotations

import os
from pathlib import Path


def start_time(pid: int) -> str:
    """When a process began, in clock ticks since the start of the system; "" where that is unknown."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return words.rpartition(")")[2].split()[19]  # the name before it may hold blanks and brackets


def is_running(pid: int, started: str) -> bool:
    """Whether the process ``pid`` that began at ``started`` is still there."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # it belongs to another user
        pass
    now = start_time(pid)
    return now == started or not (now and started)
