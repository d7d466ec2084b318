"""The same tasks on a Ray cluster: each graph is sent there once, and the runs of a lost worker are made again."""

from __future__ import annotations

import time
from typing import Any

from drgst.extras import import_extra
from drgst.lab.executors.base import Done, Executor, lost
from drgst.lab.grid.task import Task
from drgst.runs.cluster import connect

RETRIES = 3  # times that Ray makes a run again whose worker or machine is gone
REFRESH = 5.0  # seconds after which the cores of the cluster are counted again


class RayExecutor(Executor):
    """One run per core of the cluster at ``address`` (None: the one that runs on this machine), one thread each.

    Every machine of the cluster needs the same drgst installed. A run is the same function of the same task as in
    the local executor, so its figures are the same.
    """

    def __init__(self, address: str | None = None) -> None:
        self.ray = import_extra("ray", "ray", "the executor ray")
        connect(self.ray, address)
        self.function = self.ray.remote(num_cpus=1, max_retries=RETRIES)(_run)
        self.graphs: dict[tuple[str, str | None], Any] = {}  # references to the object store
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
        """Send a task to the cluster."""
        self.running[self.function.remote(task, self._graph(task))] = task

    def wait(self, seconds: float) -> list[Done]:
        """What has ended within ``seconds``."""
        found, _ = self.ray.wait(list(self.running), num_returns=1, timeout=seconds)
        return [(task, self._row(reference, task)) for reference in found for task in [self.running.pop(reference)]]

    def close(self) -> None:
        """Leave the cluster; what was running is cancelled."""
        for reference in self.running:
            self.ray.cancel(reference, force=True)
        self.running = {}
        self.ray.shutdown()

    def _graph(self, task: Task) -> Any:
        from drgst.lab.grid.execute import graph_of

        name = (task.source, task.root)
        if name not in self.graphs:
            self.graphs[name] = self.ray.put(graph_of(task))
        return self.graphs[name]

    def _row(self, reference: Any, task: Task) -> dict[str, Any]:
        try:
            return self.ray.get(reference)
        except self.ray.exceptions.RayError as error:
            gone = self.ray.exceptions.WorkerCrashedError | self.ray.exceptions.NodeDiedError
            return lost(task, error, RETRIES + 1 if isinstance(error, gone) else 0)


def _run(task: Task, graph: Any) -> dict[str, Any]:
    """On the cluster: one thread, and the run."""
    import torch

    from drgst.lab.grid.execute import execute, warm_up

    if torch.get_num_threads() != 1:
        torch.set_num_threads(1)
    warm_up()
    return execute(task, graph)
