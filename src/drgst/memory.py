"""Memory that a computation would need, compared with what there is before anything is allocated."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

from drgst.errors import MemoryLimitError

_MEMINFO = Path("/proc/meminfo")
_LIMIT, _USED = (Path(f"/sys/fs/cgroup/memory.{name}") for name in ("max", "current"))


def available_memory() -> int | None:
    """Bytes that this process can still get: of the machine, or of its container; None where that is unknown."""
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


def _size(count: int) -> str:
    for unit, name in ((1 << 40, "TB"), (1 << 30, "GB"), (1 << 20, "MB")):
        if count >= unit:
            return f"{count / unit:,.1f} {name}"
    return f"{count:,} bytes"
