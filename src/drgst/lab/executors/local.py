"""Runs in this process, or in processes of their own with one thread each."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from typing import Any

from drgst.extras import OWN_FILES, load_own_files
from drgst.lab.executors.base import Done, Executor, lost
from drgst.lab.grid.task import Task

Work = Callable[[Task], dict[str, Any]]  # what is done with a task; it never raises
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def execute_task(task: Task) -> dict[str, Any]:
    """A run with all its figures; torch is imported by the process that makes it, not by the bench."""
    from drgst.lab.grid.execute import execute

    return execute(task)


class Inline(Executor):
    """In this process, one after the other: for tests and small grids."""

    def __init__(self, work: Work = execute_task) -> None:
        self.work = work
        self.tasks: deque[Task] = deque()

    def submit(self, task: Task) -> None:
        """Keep a task for :meth:`wait`."""
        self.tasks.append(task)

    def wait(self, _: float) -> list[Done]:
        """Run it, however long it takes."""
        task = self.tasks.popleft()
        return [(task, self.work(task))]


class Local(Executor):
    """``jobs`` processes. Each has a pool of its own, so that a process that is killed ends no other run."""

    def __init__(self, jobs: int | None = None, tries: int = 2, work: Work = execute_task) -> None:
        self.jobs, self.tries, self.work = jobs or os.cpu_count() or 1, tries, work
        self.free: list[Any] = [None] * self.jobs  # pools, made when first needed
        self.running: dict[Future[Any], tuple[Task, Any, int]] = {}

    @property
    def slots(self) -> int:
        """One per process."""
        return self.jobs

    def start(self, tasks: int) -> None:
        """Start the processes for up to ``tasks`` tasks, which takes seconds, while the bench still plans."""
        for place in range(min(tasks, len(self.free))):
            if self.free[place] is None:
                self.free[place] = _pool()
                self.free[place].submit(os.getpid)  # a process begins with its first work

    def submit(self, task: Task) -> None:
        """Start a task in a free process."""
        self._submit(task, self.free.pop() or _pool(), 1)

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
                continue
            pool.shutdown(wait=False, kill_workers=True)
            if tries < self.tries:
                self._submit(task, _pool(), tries + 1)
            else:
                self.free.append(None)
                killed = type(error).__name__ in ("TerminatedWorkerError", "BrokenProcessPool")
                done.append((task, lost(task, error, tries if killed else 0)))
        return done

    def close(self) -> None:
        """End all processes at once; what they were doing is lost, what they had ended is not."""
        for pool in [*self.free, *(pool for _, pool, _ in self.running.values())]:
            if pool is not None:
                pool.shutdown(wait=True, kill_workers=True)
        self.free, self.running = [None] * self.jobs, {}

    def _submit(self, task: Task, pool: Any, tries: int) -> None:
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
    return ProcessPoolExecutor(max_workers=1, env=environment, initializer=_begin, initargs=(os.getpid(), OWN_FILES))


def _begin(parent: int, own_files: dict[str, str]) -> None:
    """In a new process: one thread; the bench alone handles Ctrl-C; end when the bench has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    load_own_files(own_files)
    import torch

    torch.set_num_threads(1)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    from drgst.lab.grid.execute import warm_up

    warm_up()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)
