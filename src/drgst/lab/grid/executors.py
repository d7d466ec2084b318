"""Executors: where runs are computed. In this process, in processes of this machine, or on a Ray cluster."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from contextlib import contextmanager
from typing import Any, Self

import torch
from joblib.externals.loky.process_executor import ProcessPoolExecutor

from drgst.errors import SettingError, unknown
from drgst.extras import OWN_FILES, import_extra, load_own_files
from drgst.lab.grid.execute import execute, failed, graph_of, warm_up
from drgst.lab.grid.grid import Task
from drgst.runs.cluster import connect

Done = tuple[Task, dict[str, Any]]
Work = Callable[[Task], dict[str, Any]]  # what is done with a task; it never raises
KILLED = "the worker process was killed by the system, {} times (out of memory?)"
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
SAFE_PATH = "PYTHONSAFEPATH"  # without it a new Python looks for modules in the working folder first
RETRIES = 3  # times that Ray makes a run again whose worker or machine is gone
REFRESH = 5.0  # seconds after which the cores of the cluster are counted again


class Executor:
    """Computes up to ``slots`` tasks at a time. Its processes are kept from bench to bench until it is closed."""

    @property
    def slots(self) -> int:
        """How many tasks run at a time."""
        return 1

    def submit(self, task: Task) -> None:
        """Start a task in a free slot."""
        raise NotImplementedError

    def wait(self, seconds: float) -> list[Done]:
        """The tasks that have ended within ``seconds``, with their rows."""
        raise NotImplementedError

    def close(self) -> None:
        """End all processes at once; running tasks are lost."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Inline(Executor):
    """In this process, one after the other: for tests and small grids."""

    def __init__(self, work: Work = execute) -> None:
        self.work = work
        self.tasks: deque[Task] = deque()

    def submit(self, task: Task) -> None:
        self.tasks.append(task)

    def wait(self, _: float) -> list[Done]:
        """Compute the next task, however long it takes."""
        task = self.tasks.popleft()
        return [(task, self.work(task))]


class Local(Executor):
    """``jobs`` processes with one thread each. Each has its own pool, so a killed process ends no other run."""

    def __init__(self, jobs: int | None = None, tries: int = 2, work: Work = execute) -> None:
        self.jobs, self.tries, self.work = jobs or os.cpu_count() or 1, tries, work
        self.free: list[Any] = [None] * self.jobs  # pools, made when first needed
        self.running: dict[Future[Any], tuple[Task, Any, int]] = {}

    @property
    def slots(self) -> int:
        return self.jobs

    def submit(self, task: Task) -> None:
        self._submit(task, self.free.pop() or _pool(), 1)

    def wait(self, seconds: float) -> list[Done]:
        """The tasks that have ended; a task whose process was killed is tried again in a new one."""
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
                done.append((task, _lost(task, error, tries if killed else 0)))
        return done

    def close(self) -> None:
        for pool in [*self.free, *(pool for _, pool, _ in self.running.values())]:
            if pool is not None:
                pool.shutdown(wait=True, kill_workers=True)
        self.free, self.running = [None] * self.jobs, {}

    def _submit(self, task: Task, pool: Any, tries: int) -> None:
        try:
            future = _submitted(pool, self.work, task)
        except BrokenExecutor:  # its process was killed while it had nothing to do
            pool.shutdown(wait=False, kill_workers=True)
            pool = _pool()
            future = _submitted(pool, self.work, task)
        self.running[future] = (task, pool, tries)


def _pool() -> Any:
    environment = dict.fromkeys((*THREADS, SAFE_PATH), "1")
    start = (os.getpid(), OWN_FILES)
    with _safe_path():
        return ProcessPoolExecutor(max_workers=1, env=environment, initializer=_begin, initargs=start)


def _submitted(pool: Any, work: Work, task: Task) -> Future[Any]:
    with _safe_path():
        return pool.submit(work, task)


@contextmanager
def _safe_path() -> Iterator[None]:
    """Let processes that start meanwhile, among them the one of loky that looks after the others, import safely."""
    before = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    try:
        yield
    finally:
        os.environ.pop(SAFE_PATH) if before is None else os.environ.update({SAFE_PATH: before})


def _begin(parent: int, own_files: dict[str, str]) -> None:
    """In a new process: one thread; only the bench handles Ctrl-C; end when the bench has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    load_own_files(own_files)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    _prepare()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def _prepare() -> None:
    """One thread, and a tiny run that imports everything."""
    if torch.get_num_threads() != 1:
        torch.set_num_threads(1)
    warm_up()


class RayExecutor(Executor):
    """One run per core of the cluster at ``address`` (None: the one that runs on this machine), one thread each.

    Every machine of the cluster needs the same drgst installed. Each graph is sent there once. A run is the same
    function of the same task as in the local executor, so its figures are the same.
    """

    def __init__(self, address: str | None = None) -> None:
        self.ray = import_extra("ray", "ray", "the executor ray")
        connect(self.ray, address)
        self.function = self.ray.remote(num_cpus=1, max_retries=RETRIES)(_run_on_cluster)
        self.graphs: dict[str, Any] = {}  # references to the object store
        self.running: dict[Any, Task] = {}
        self._cores, self._next = 1, 0.0

    @property
    def slots(self) -> int:
        """The cores of the cluster; machines may come and go."""
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + REFRESH
            self._cores = max(1, int(self.ray.cluster_resources().get("CPU", 1)))
        return self._cores

    def submit(self, task: Task) -> None:
        if task.source not in self.graphs:
            self.graphs[task.source] = self.ray.put(graph_of(task))
        self.running[self.function.remote(task, self.graphs[task.source])] = task

    def wait(self, seconds: float) -> list[Done]:
        found, _ = self.ray.wait(list(self.running), num_returns=1, timeout=seconds)
        return [(task, self._row(reference, task)) for reference in found for task in [self.running.pop(reference)]]

    def close(self) -> None:
        """Leave the cluster; running tasks are cancelled."""
        for reference in self.running:
            self.ray.cancel(reference, force=True)
        self.running = {}
        self.ray.shutdown()

    def _row(self, reference: Any, task: Task) -> dict[str, Any]:
        try:
            return self.ray.get(reference)
        except self.ray.exceptions.RayError as error:
            gone = self.ray.exceptions.WorkerCrashedError | self.ray.exceptions.NodeDiedError
            return _lost(task, error, RETRIES + 1 if isinstance(error, gone) else 0)


def _run_on_cluster(task: Task, graph: Any) -> dict[str, Any]:
    _prepare()
    return execute(task, graph)


def _lost(task: Task, error: BaseException, tries: int) -> dict[str, Any]:
    """The row of a run whose process ended with ``error``, after ``tries`` tries where it was killed (else 0)."""
    message = " ".join(str(error).split())[:500]
    return failed(task, KILLED.format(tries) if tries else f"{type(error).__name__}: {message}")


def make_executor(text: str, jobs: int | None) -> Executor:
    """``local``, ``ray`` (the cluster that runs on this machine) or ``ray@HOST:PORT``."""
    name, _, address = text.partition("@")
    if text == "local":
        return Local(jobs)
    if name == "ray":
        return RayExecutor(address or None)
    raise SettingError(unknown("executor", text, ("local", "ray")))
