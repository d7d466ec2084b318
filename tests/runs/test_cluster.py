"""The executor ray: what it refuses, and runs on clusters of this machine, of which one loses a worker."""

import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from drgst.datasets.synthetic import block_model
from drgst.errors import SettingError
from drgst.graph.split import random_split
from drgst.io.folder import save_graph_folder
from drgst.runs.cluster import check_shareable
from drgst.runs.config import RunConfig
from drgst.runs.run import Run

GRAPH = block_model(2_000, 20_000, seed=0, homophily=0.5, signal=0.3)
SPLIT = random_split(GRAPH, per_class=10, val=50, test=200, seed=0)


@pytest.mark.parametrize(
    ("recipe", "settings", "message"),
    [
        ("gcn", {}, "a batch has all 2,000 nodes"),
        ("label-propagation", {}, "does not divide the work of label-propagation"),
    ],
)
def test_what_can_not_be_divided_is_refused(recipe: str, settings: dict[str, Any], message: str) -> None:
    run = Run.of(GRAPH, RunConfig(recipe=recipe, seed=0, settings=settings), SPLIT)
    with pytest.raises(SettingError, match=message):
        check_shareable(run)


@pytest.mark.parametrize(("recipe", "settings"), [("drgst-plus", {}), ("gcn", {"batch": 500})])
def test_what_can_be_divided(recipe: str, settings: dict[str, Any]) -> None:
    check_shareable(Run.of(GRAPH, RunConfig(recipe=recipe, seed=0, settings=settings), SPLIT))


START = [sys.executable, "-c", "from ray.scripts.scripts import main; main()", "start", "--block"]
LOCAL = ["--node-ip-address=127.0.0.1", f"--object-store-memory={80 * 2**20}", "--disable-usage-stats"]


@dataclass
class Nodes:
    """A Ray cluster on the loopback interface that asks for a token."""

    folder: Path
    environment: dict[str, str]
    port: int
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self, cores: int) -> None:
        """Add a node and wait until it is ready."""
        place = [f"--address={self.address}"]
        if not self.processes:
            place = ["--head", f"--port={self.port}", "--include-dashboard=false", f"--temp-dir={self.folder}"]
        log = self.folder / f"start-{len(self.processes)}.log"
        with log.open("wb") as output:
            self.processes.append(
                subprocess.Popen(
                    [*START, f"--num-cpus={cores}", *place, *LOCAL],
                    env=self.environment,
                    stdout=output,
                    stderr=output,
                    start_new_session=True,
                )
            )
        deadline = time.monotonic() + 120
        while "Ray runtime started" not in log.read_text(errors="replace"):
            assert self.processes[-1].poll() is None, log.read_text()
            assert time.monotonic() < deadline, f"no node within two minutes: {log.read_text()}"
            time.sleep(0.1)

    def stop(self) -> None:
        """End all nodes, the head last."""
        for process in reversed(self.processes):
            process.terminate()
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


@pytest.fixture
def nodes() -> Iterator[Nodes]:
    """A cluster without nodes; the path of a socket is short, so the folder is not that of pytest."""
    with tempfile.TemporaryDirectory(prefix="ray-", dir="/tmp") as name, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        token = Path(name) / "token"
        token.write_text(secrets.token_hex(32))
        token.chmod(0o600)
        settings = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token), "GLOO_SOCKET_IFNAME": "lo"}
        made = Nodes(Path(name), {**os.environ, **settings}, free.getsockname()[1])
        free.close()
        try:
            yield made
        finally:
            made.stop()


def command(data: Path | str, out: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "drgst", "run", str(data), "--recipe", "drgst-plus", "--out", str(out), *more]


def same_result(one: Path, two: Path) -> None:
    """Up to the rounding of sums over several workers."""
    first, second = (load_file(out / "model.safetensors")["fitted.probabilities"] for out in (one, two))
    assert (first.argmax(axis=1) == second.argmax(axis=1)).mean() >= 0.999
    np.testing.assert_allclose(second, first, atol=1e-4)


def test_cora_on_two_workers(tmp_path: Path, nodes: Nodes) -> None:
    """The installed version of Ray, with its token."""
    nodes.start(cores=2)
    on_ray = command("cora", tmp_path / "ray", "--executor", f"ray:2@{nodes.address}")
    done = subprocess.run(on_ray, env=nodes.environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    subprocess.run(command("cora", tmp_path / "alone"), check=True, capture_output=True)
    same_result(tmp_path / "alone", tmp_path / "ray")


@pytest.mark.slow
def test_a_cluster_that_asks_for_a_token_refuses_a_run_without_it(tmp_path: Path, nodes: Nodes) -> None:
    nodes.start(cores=1)
    without = {name: value for name, value in nodes.environment.items() if not name.startswith("RAY_AUTH")}
    on_ray = command("cora", tmp_path / "ray", "--executor", f"ray:1@{nodes.address}")
    done = subprocess.run(on_ray, env=without, capture_output=True, text=True, timeout=300)
    assert done.returncode == 2
    assert "set RAY_AUTH_MODE=token here, too" in done.stderr


@pytest.mark.slow
def test_a_killed_worker_is_replaced(tmp_path: Path, nodes: Nodes) -> None:
    """The result is that of one process, also where a worker of two nodes is killed after a stage."""
    psutil = pytest.importorskip("psutil", reason="finds the workers")
    nodes.start(cores=1)
    nodes.start(cores=1)
    save_graph_folder(GRAPH.with_(splits=(SPLIT,)), tmp_path / "graph")
    subprocess.run(command(tmp_path / "graph", tmp_path / "alone"), check=True, capture_output=True)
    on_ray = command(tmp_path / "graph", tmp_path / "ray", "--executor", f"ray:2@{nodes.address}")
    run = subprocess.Popen(on_ray, env=nodes.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    deadline = time.monotonic() + 300
    while not (tmp_path / "ray" / "stages" / "001.safetensors").exists():
        assert run.poll() is None, run.communicate()[0].decode()
        assert time.monotonic() < deadline, "no stage within 5 minutes"
        time.sleep(0.05)
    names = ((process, process.cmdline()[:1]) for process in psutil.process_iter())
    workers = [process for process, name in names if name and name[0].startswith("ray::Worker")]
    os.kill(max(workers, key=lambda process: process.create_time()).pid, signal.SIGKILL)
    output = run.communicate(timeout=300)[0].decode()
    assert run.returncode == 0, output
    assert "a worker was lost" in output
    same_result(tmp_path / "alone", tmp_path / "ray")
