"""Where runs are made: in this process, or in processes of their own with one thread each."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from typing import Any, Protocol

from drgst.bench.task import Task

Done = tuple[Task, dict[str, Any]]
Work = Callable[[Task], dict[str, Any]]  # what is done with a task; it never raises
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
KILLED = "the worker process was killed by the system, {} times (out of memory?)"


class Engine(Protocol):
    """Takes up to ``slots`` tasks at a time and hands back their rows."""

    @property
    def slots(self) -> int: ...

    def start(self, tasks: int) -> None: ...

    def submit(self, task: Task) -> None: ...

    def wait(self, seconds: float) -> list[Done]: ...

    def close(self) -> None: ...


class Inline:
    """In this process, one after the other: for tests and small things."""

    slots = 1

    def __init__(self, work: Work | None = None) -> None:
        self.work = work or execute_task
        self.tasks: deque[Task] = deque()

    def start(self, tasks: int) -> None:
        """There is nothing to start."""

    def submit(self, task: Task) -> None:
        """Take a task."""
        self.tasks.append(task)

    def wait(self, seconds: float) -> list[Done]:  # noqa: ARG002
        """Run it."""
        task = self.tasks.popleft()
        return [(task, self.work(task))]

    def close(self) -> None:
        """Nothing is left behind."""


class Local:
    """``jobs`` processes. Each has a pool of its own, so that one that is killed takes nothing else with it."""

    def __init__(self, jobs: int, tries: int = 2, work: Work | None = None) -> None:
        self.slots, self.tries, self.work = jobs, tries, work or execute_task
        self.free: list[Any] = [None] * jobs  # pools, made when first needed
        self.running: dict[Future[Any], tuple[Task, Any, int]] = {}

    def start(self, tasks: int) -> None:
        """So many tasks may come: begin the processes for them, which takes seconds, while the bench still plans."""
        for place in range(min(tasks, len(self.free))):
            if self.free[place] is None:
                self.free[place] = _pool()
                self.free[place].submit(os.getpid)  # a process begins with the first thing it is given

    def submit(self, task: Task) -> None:
        """Start a task in a free process."""
        self._start(task, self.free.pop() or _pool(), 1)

    def wait(self, seconds: float) -> list[Done]:
        """What has ended within ``seconds``; a run whose process was killed is tried again in a new one."""
        found, _ = wait(self.running, timeout=seconds, return_when=FIRST_COMPLETED)
        done = []
        for future in found:
            task, pool, tries = self.running.pop(future)
            error = future.exception()
            if error is None:
                self.free.append(pool)
                done.append((task, future.result()))
            elif tries < self.tries:
                pool.shutdown(wait=False, kill_workers=True)
                self._start(task, _pool(), tries + 1)
            else:
                pool.shutdown(wait=False, kill_workers=True)
                self.free.append(None)
                done.append((task, _lost(task, error, tries)))
        return done

    def close(self) -> None:
        """End all processes at once; what they were at is lost, what they had ended is not."""
        for pool in [*self.free, *(pool for _, pool, _ in self.running.values())]:
            if pool is not None:
                pool.shutdown(wait=True, kill_workers=True)
        self.free, self.running = [], {}

    def _start(self, task: Task, pool: Any, tries: int) -> None:
        try:
            future = pool.submit(self.work, task)
        except BrokenExecutor:  # its process was killed while it had nothing to do
            pool.shutdown(wait=False, kill_workers=True)
            pool = _pool()
            future = pool.submit(self.work, task)
        self.running[future] = (task, pool, tries)


def _pool() -> Any:
    from joblib.externals.loky.process_executor import ProcessPoolExecutor

    environment = dict.fromkeys(THREADS, "1")
    return ProcessPoolExecutor(max_workers=1, env=environment, initializer=_begin, initargs=(os.getpid(),))


def _begin(parent: int) -> None:
    """In a new process: one thread; Ctrl-C is the bench's business; end when the bench is no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    import torch

    torch.set_num_threads(1)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    from drgst.bench.execute import warm_up

    warm_up()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def execute_task(task: Task) -> dict[str, Any]:
    """A run with all its figures; torch is imported by the process that makes it, not by the bench."""
    from drgst.bench.execute import execute

    return execute(task)


def _lost(task: Task, error: BaseException, tries: int) -> dict[str, Any]:
    from drgst.bench.execute import failed

    gone = type(error).__name__ in ("TerminatedWorkerError", "BrokenProcessPool")
    words = KILLED.format(tries) if gone else f"{type(error).__name__}: {' '.join(str(error).split())}"
    return failed(task, words)
