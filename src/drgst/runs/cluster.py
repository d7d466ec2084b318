"""A run on several machines: Ray places and replaces workers, torch.distributed moves tensors between them."""

from __future__ import annotations

import logging
import os
import socket
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from drgst.errors import DrgstError, RunError, SettingError
from drgst.extras import import_extra
from drgst.runs.config import RunConfig
from drgst.runs.folder import RunFolder
from drgst.runs.run import Run
from drgst.selftrain.learners.base import Divides
from drgst.shards import ProcessGroup

ATTEMPTS = 10  # times that workers are started, the first included
PATIENCE = 30.0  # seconds in which it shows which worker was lost after one failed
PLACING = 120.0  # seconds for a worker to start
_log = logging.getLogger("drgst")


@dataclass(frozen=True)
class Cluster:
    """``workers`` processes on the Ray cluster at ``address`` (None: the one that runs on this machine)."""

    workers: int
    address: str | None = None

    def execute(self, run: Run, folder: RunFolder, resume: bool) -> None:
        """Execute ``run``, with its stages and result in ``folder``.

        The first worker runs on this machine and writes the folder, which this process holds locked. Every machine
        opens the graph itself, under the same path. Where a worker is lost, all are started again, and the run
        continues from its last stage.
        """
        check_shareable(run)
        ray = import_extra("ray", "ray", "the executor ray")
        if not (resume and folder.exists):
            folder.start(run)
        folder.sweep()
        connect(ray, self.address)
        data = str(run.config.data)  # workers have other working folders
        config = replace(run.config, data=str(Path(data).absolute()) if os.path.exists(data) else data)
        try:
            for _attempt in range(ATTEMPTS):
                if self._attempt(ray, config, folder):
                    return
            raise RunError(f"workers were lost {ATTEMPTS} times; continue with: drgst run --out {folder} --resume")
        finally:
            ray.shutdown()

    def _attempt(self, ray: Any, config: RunConfig, folder: RunFolder) -> bool:
        """Whether the run ended; False where a worker was lost."""
        count = self._placeable(ray)
        here = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(
            ray.get_runtime_context().get_node_id(), soft=False
        )
        kind = ray.remote(num_cpus=1, max_restarts=0)(Worker)
        workers = [kind.options(scheduling_strategy="SPREAD" if rank else here).remote() for rank in range(count)]
        try:
            meeting = ray.get(workers[0].meeting.remote(), timeout=PLACING)
            path = str(folder.path.absolute())
            calls = [w.run.remote(config, path, meeting, rank, count) for rank, w in enumerate(workers)]
            return self._wait(ray, calls)
        except (ray.exceptions.RayActorError, ray.exceptions.GetTimeoutError):
            return False
        finally:
            for worker in workers:
                ray.kill(worker)

    def _placeable(self, ray: Any) -> int:
        """The number of workers, fewer where the cluster has lost machines."""
        cores = int(ray.cluster_resources().get("CPU", 0))
        if cores < 1:
            raise RunError("the cluster has no core left")
        if cores < self.workers:
            _log.warning("the cluster has %d cores, so %d workers are started, not %d", cores, cores, self.workers)
        return min(self.workers, cores)

    def _wait(self, ray: Any, calls: list[Any]) -> bool:
        waiting = list(calls)
        while waiting:
            (done,), waiting = ray.wait(waiting, num_returns=1)
            try:
                ray.get(done)
            except ray.exceptions.RayTaskError as error:
                if isinstance(error.cause, DrgstError):
                    raise error.cause from error
                if not self._lost_one(ray, waiting):
                    raise RunError(f"worker {calls.index(done)} failed: {error.cause!r}") from error
                return self._again()
            except ray.exceptions.RayActorError:
                return self._again()
        return True

    def _lost_one(self, ray: Any, waiting: list[Any]) -> bool:
        """Whether one of the other workers is gone, which its partners notice first."""
        for call in ray.wait(waiting, num_returns=len(waiting), timeout=PATIENCE)[0] if waiting else ():
            try:
                ray.get(call)
            except ray.exceptions.RayTaskError:
                continue
            except ray.exceptions.RayActorError:
                return True
        return False

    def _again(self) -> bool:
        _log.warning("a worker was lost and is replaced; the run continues from its last stage")
        return False


class Worker:
    """One process of a run; an actor of Ray."""

    def meeting(self) -> str:
        """The address at which the workers find each other."""
        import ray

        with socket.socket() as free:
            free.bind(("", 0))
            return f"tcp://{ray.util.get_node_ip_address()}:{free.getsockname()[1]}"

    def run(self, config: RunConfig, folder: str, meeting: str, rank: int, count: int) -> None:
        """Take part in the run."""
        import torch.distributed as dist

        from drgst.datasets.load import open_graph

        dist.init_process_group("gloo", init_method=meeting, rank=rank, world_size=count)
        try:
            run = Run.from_config(config, open_graph)
            run.execute_shared(ProcessGroup(), RunFolder(folder) if rank == 0 else None)
            dist.barrier()
        finally:
            dist.destroy_process_group()


def check_shareable(run: Run) -> None:
    """Refuse a recipe that several workers would each run as a whole."""
    learner, name = run.recipe.learner, run.config.recipe
    if not isinstance(learner, Divides):
        raise SettingError(f"the executor ray does not divide the work of {name}; run it without --executor ray")
    reason = learner.undivided(run.problem)
    if reason:
        raise SettingError(
            f"the executor ray can't divide the work of {name}: {reason}, or run it without --executor ray"
        )


def connect(ray: Any, address: str | None) -> None:
    """Connect to the cluster at ``address``, or to the one that runs on this machine; refuse one that is not there."""
    remedy = "start one with: ray start --head"
    try:
        if address not in (None, "auto"):
            _check_reachable(str(address))
            remedy = "if one runs there, set RAY_AUTH_MODE=token here, too, and use its token (docs/guides/scale.md)"
        ray.init(address=address or "auto", log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, ValueError, RuntimeError, ray.exceptions.RayError) as error:
        reason = (" ".join(str(error).split()) or type(error).__name__)[:200]
        place = address or "this machine"
        raise SettingError(f"there is no Ray cluster at {place} that can be used ({reason}); {remedy}") from error


def _check_reachable(address: str) -> None:
    """Fail at once where nothing listens; Ray itself tries for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    socket.create_connection((host, int(port)), timeout=5).close()
