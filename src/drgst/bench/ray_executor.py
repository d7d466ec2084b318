"""The same tasks on a Ray cluster: the graph is put there once, and a lost worker's runs are made again."""

from __future__ import annotations

import logging
import socket
import time
from typing import Any

from drgst.bench.executors import KILLED, Done
from drgst.bench.task import Task
from drgst.errors import SettingError

RETRIES = 3  # times that Ray makes a run again whose worker or machine is gone
LOOK = 5.0  # seconds between two looks at how many machines there are


class RayEngine:
    """One run a core of the cluster at ``address`` (None: the one that runs on this machine), one thread each.

    Every machine of the cluster needs the same drgst installed. A run is the same function of the same task as in
    the local engine, so its figures are the same.
    """

    def __init__(self, address: str | None = None) -> None:
        self.ray = import_ray()
        self._connect(address)
        remote = self.ray.remote(num_cpus=1, max_retries=RETRIES)
        self.function = remote(_run)
        self.graphs: dict[tuple[str, str | None], Any] = {}  # references to the object store
        self.running: dict[Any, Task] = {}
        self._cores, self._next = 1, 0.0

    @property
    def slots(self) -> int:
        """The cores of the cluster; machines may come and go."""
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + LOOK
            self._cores = max(1, int(self.ray.cluster_resources().get("CPU", 1)))
        return self._cores

    def start(self, tasks: int) -> None:
        """The cluster runs already."""

    def submit(self, task: Task) -> None:
        """Hand a task to the cluster."""
        self.running[self.function.remote(task, self._graph(task))] = task

    def wait(self, seconds: float) -> list[Done]:
        """What has ended within ``seconds``."""
        found, _ = self.ray.wait(list(self.running), num_returns=1, timeout=seconds)
        return [(task, self._row(reference, task)) for reference, task in self._taken(found)]

    def close(self) -> None:
        """Leave the cluster; what was running is cancelled."""
        for reference in self.running:
            self.ray.cancel(reference, force=True)
        self.running = {}
        self.ray.shutdown()

    def _connect(self, address: str | None) -> None:
        try:
            if address is not None:
                _knock(address)
            self.ray.init(address=address or "auto", log_to_driver=False, logging_level=logging.ERROR)
        except (OSError, ValueError, RuntimeError, self.ray.exceptions.RayError) as error:
            reason = (" ".join(str(error).split()) or type(error).__name__)[:200]
            raise SettingError(
                f"there is no Ray cluster at {address or 'this machine'} ({reason}); start one with: ray start --head"
            ) from error

    def _graph(self, task: Task) -> Any:
        from drgst.bench.execute import graph_of

        name = (task.source, task.root)
        if name not in self.graphs:
            self.graphs[name] = self.ray.put(graph_of(task))
        return self.graphs[name]

    def _taken(self, found: list[Any]) -> list[tuple[Any, Task]]:
        return [(reference, self.running.pop(reference)) for reference in found]

    def _row(self, reference: Any, task: Task) -> dict[str, Any]:
        from drgst.bench.execute import failed

        try:
            return self.ray.get(reference)
        except self.ray.exceptions.RayError as error:
            lost = isinstance(error, self.ray.exceptions.WorkerCrashedError | self.ray.exceptions.NodeDiedError)
            words = " ".join(str(error).split())[:500]
            return failed(task, KILLED.format(RETRIES + 1) if lost else f"{type(error).__name__}: {words}")


def import_ray() -> Any:
    """Ray, or a word on how to get it."""
    try:
        import ray
    except ImportError:
        raise SettingError("the engine ray needs Ray, which is not installed: pip install 'drgst[ray]'") from None
    return ray


def _knock(address: str) -> None:
    """Fail at once where nobody listens; Ray itself tries for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    socket.create_connection((host, int(port)), timeout=5).close()


def _run(task: Task, graph: Any) -> dict[str, Any]:
    """On the cluster: one thread, and the run."""
    import torch

    from drgst.bench.execute import execute, warm_up

    if torch.get_num_threads() != 1:
        torch.set_num_threads(1)
    warm_up()
    return execute(task, graph)
