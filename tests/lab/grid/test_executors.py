"""The Ray executor on a cluster of two nodes on this machine, made with ``ray start``; one of them is killed."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from drgst.errors import SettingError
from drgst.lab.grid.executors import Inline, RayExecutor
from drgst.lab.grid.grid import Grid
from drgst.lab.grid.run_grid import BenchCallback, run_grid
from drgst.lab.store import Store

ray = pytest.importorskip("ray", reason="the Ray executor needs Ray: pip install 'drgst[ray]'")
psutil = pytest.importorskip("psutil", reason="finds the processes of a node")
pytestmark = pytest.mark.slow
RAY = [sys.executable, "-c", "from ray.scripts.scripts import main; main()", "start", "--block", "--num-cpus=1"]
SAME = ("key", "test_accuracy", "val_accuracy", "ece", "stages", "epochs", "stop_reason")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def cluster() -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Address and second node of a cluster of two nodes with a core each."""
    address = f"127.0.0.1:{free_port()}"
    small = [f"--object-store-memory={80 * 2**20}", "--disable-usage-stats"]
    head = [*RAY, "--head", f"--port={address.split(':')[1]}", "--include-dashboard=false", *small]
    nodes = [_start([*head, f"--temp-dir=/tmp/ray{os.getpid()}"])]
    try:
        time.sleep(5)
        nodes.append(_start([*RAY, f"--address={address}", *small]))
        yield address, nodes[1]
    finally:
        for node in nodes:
            _kill(node)
        shutil.rmtree(f"/tmp/ray{os.getpid()}", ignore_errors=True)


def _start(words: list[str]) -> subprocess.Popen[bytes]:
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(words, start_new_session=True, **quiet)


def _kill(node: subprocess.Popen[bytes]) -> None:
    """The node with everything that it has started, at once."""
    if node.poll() is None:
        os.killpg(node.pid, signal.SIGKILL)
        node.wait()


def _connected(address: str, nodes: int) -> RayExecutor:
    for _ in range(60):
        try:
            executor = RayExecutor(address)
        except SettingError:
            time.sleep(1)
            continue
        for _ in range(60):
            if sum(node["Alive"] for node in ray.nodes()) == nodes:
                return executor
            time.sleep(1)
    raise AssertionError("the cluster did not come up")


def _kill_in_a_task(node: subprocess.Popen[bytes]) -> None:
    """Kill the node while one of its workers runs a task, which Ray shows in the name of the process."""
    for _ in range(3_000):
        workers = psutil.Process(node.pid).children(recursive=True)
        if any(worker.name().startswith("ray::_run") for worker in workers):
            return _kill(node)
        time.sleep(0.02)
    raise AssertionError("no task ran on the node")


def test_a_node_killed_while_its_task_runs_costs_no_run_and_changes_no_figure(
    make_grid: Callable[..., Grid], tmp_path: Path, cluster: tuple[str, subprocess.Popen[bytes]]
) -> None:
    address, second = cluster
    grid = make_grid(draws=6, changes={"epochs": 200, "patience": 200, "samples": 5, "threshold": 0.2})

    kills: list[Future[None]] = []

    class Killer(BenchCallback):
        calls = 0

        def done(self, task: Any, row: dict[str, Any]) -> None:
            Killer.calls += 1
            if Killer.calls == 3:
                pool.submit(_kill_in_a_task, second).add_done_callback(kills.append)

    with ThreadPoolExecutor() as pool, Store(tmp_path / "ray.db", create=True) as store:
        with _connected(address, 2) as executor:
            result = run_grid(grid, store, executor, Killer())
        found = store.all_rows(SAME)
    kills[0].result()
    assert (result.ran, result.failed) == (12, 0)
    assert Killer.calls == 12
    assert len(executor.graphs) == 1  # put once
    with Store(tmp_path / "local.db", create=True) as store:
        run_grid(grid, store, Inline())
        assert store.all_rows(SAME) == found


@pytest.mark.parametrize("address", ["127.0.0.1:1", "nonsense"])
def test_no_cluster_is_one_sentence(address: str) -> None:
    with pytest.raises(SettingError, match=f"there is no Ray cluster at {address} .*ray start --head"):
        RayExecutor(address)
