"""What every executor does."""

from __future__ import annotations

from typing import Any, Self

from drgst.lab.grid.task import Task

Done = tuple[Task, dict[str, Any]]
KILLED = "the worker process was killed by the system, {} times (out of memory?)"


class Executor:
    """Makes the runs of up to ``slots`` tasks at a time. Its processes last from bench to bench and end with it."""

    @property
    def slots(self) -> int:
        """How many tasks run at a time."""
        return 1

    def start(self, tasks: int) -> None:
        """Start the processes for up to ``tasks`` tasks, which takes seconds, while the bench still plans."""

    def submit(self, task: Task) -> None:
        """Start a task in a free slot."""
        raise NotImplementedError

    def wait(self, seconds: float) -> list[Done]:
        """What has ended within ``seconds``."""
        raise NotImplementedError

    def close(self) -> None:
        """End all processes at once; what they were doing is lost, what they had ended is not."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def lost(task: Task, error: BaseException, tries: int) -> dict[str, Any]:
    """The row of a run whose process ended with ``error``, after so many ``tries`` where it was killed (else 0)."""
    from drgst.lab.grid.execute import failed

    message = " ".join(str(error).split())[:500]
    return failed(task, KILLED.format(tries) if tries else f"{type(error).__name__}: {message}")
