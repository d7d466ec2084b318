"""Leases: which process makes which run, so that benches on one store share the work instead of doing it twice."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path

from drgst.lab.store import Store

HEARTBEAT = 20.0  # seconds between two heartbeats
EXPIRY = 120.0  # seconds without one after which a lease ends, whatever its process does


class Leases:
    """The leases of this process. A lease ends when it is released, with its process, or without a heartbeat."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.owner = (socket.gethostname(), os.getpid(), start_time(os.getpid()))
        self.next = 0.0

    def acquire(self, key: str) -> bool:
        """Lease a run; False where another process holds it."""
        now = time.time()
        with self.store.transaction():
            held = "SELECT host, pid, started FROM leases WHERE key = ? AND abs(heartbeat - ?) < ?"
            if any(self._holds(*owner) for owner in self.store.read(held, [key, now, EXPIRY])):
                return False
            self.store.write("INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?, ?)", [key, *self.owner, now])
        return True

    def release(self, key: str | None = None) -> None:
        """End one lease, or (None) all of them."""
        mine = "DELETE FROM leases WHERE host = ? AND pid = ? AND started = ? AND key = ifnull(?, key)"
        self.store.write(mine, [*self.owner, key])

    def renew(self) -> None:
        """Send a heartbeat if it is time for one."""
        now = time.time()
        if now >= self.next:
            self.next = now + HEARTBEAT
            mine = "UPDATE leases SET heartbeat = ? WHERE host = ? AND pid = ? AND started = ?"
            self.store.write(mine, [now, *self.owner])

    def _holds(self, host: str, pid: int, started: str) -> bool:
        """Whether the owner of a lease is another process that may still be at work."""
        if (host, pid, started) == self.owner:
            return False
        return host != self.owner[0] or is_running(pid, started)


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
