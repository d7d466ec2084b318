"""Who is at work on what, so that two benches on one store share the work instead of doing it twice."""

from __future__ import annotations

import os
import socket
import time

from drgst.bench.store import Store

BEAT = 20.0  # seconds between two signs of life
DEAD = 120.0  # seconds without one after which a claim on another machine is void


class Claims:
    """The claims of this process."""

    def __init__(self, store: Store) -> None:
        self.store, self.host, self.pid = store, socket.gethostname(), os.getpid()
        self.next = 0.0

    def take(self, key: str) -> bool:
        """Claim a run; False where somebody who lives has claimed it."""
        now = time.time()
        with self.store.writing():
            found = self.store.run("SELECT host, pid, beat FROM claims WHERE key = ?", [key])
            if found and self._alive(*found[0]):
                return False
            self.store.run("INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?)", [key, self.host, self.pid, now])
        return True

    def give_back(self, key: str | None = None) -> None:
        """End one claim, or (None) all of them."""
        words = "DELETE FROM claims WHERE host = ? AND pid = ?"
        if key is None:
            self.store.run(words, [self.host, self.pid])
        else:
            self.store.run(f"{words} AND key = ?", [self.host, self.pid, key])

    def beat(self) -> None:
        """A sign of life, now and then."""
        now = time.time()
        if now >= self.next:
            self.next = now + BEAT
            self.store.run("UPDATE claims SET beat = ? WHERE host = ? AND pid = ?", [now, self.host, self.pid])

    def _alive(self, host: str, pid: int, beat: float) -> bool:
        if host != self.host:
            return time.time() - beat < DEAD
        if pid == self.pid:
            return False  # of an earlier process with our number
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True
