"""An engine for several benches one after the other."""

from __future__ import annotations

from types import TracebackType

from drgst.bench.executors import Done, Engine
from drgst.bench.task import Task


class PersistentPool:
    """``engine``, whose processes outlive a bench: starting them takes longer than many a run. Ends with ``with``."""

    def __init__(self, engine: Engine) -> None:
        self.engine, self.slots = engine, engine.slots

    def start(self, tasks: int) -> None:
        """So many tasks may come."""
        self.engine.start(tasks)

    def submit(self, task: Task) -> None:
        """Take a task."""
        self.engine.submit(task)

    def wait(self, seconds: float) -> list[Done]:
        """What has ended within ``seconds``."""
        return self.engine.wait(seconds)

    def close(self) -> None:
        """What a bench calls at its end; the processes stay for the next."""

    def __enter__(self) -> PersistentPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.engine.close()
