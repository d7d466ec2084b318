"""The executor ray: what it refuses, and a run on two nodes of this machine of which a worker is killed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
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


START = [sys.executable, "-c", "from ray.scripts.scripts import main; main()", "start", "--block", "--num-cpus=1"]


@pytest.fixture
def address() -> Iterator[str]:
    """A cluster of two nodes with a core each."""
    pytest.importorskip("ray", reason="the executor ray needs Ray: pip install 'drgst[ray]'")
    port, folder = 6_000 + os.getpid() % 900, f"/tmp/ray-engine-{os.getpid()}"
    small = [f"--object-store-memory={80 * 2**20}", "--disable-usage-stats"]
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "start_new_session": True}
    head = ["--head", f"--port={port}", "--include-dashboard=false", f"--temp-dir={folder}"]
    nodes = [subprocess.Popen([*START, *head, *small], **quiet)]
    try:
        time.sleep(10)
        nodes.append(subprocess.Popen([*START, f"--address=127.0.0.1:{port}", *small], **quiet))
        time.sleep(10)
        yield f"127.0.0.1:{port}"
    finally:
        for node in nodes:
            if node.poll() is None:
                os.killpg(node.pid, signal.SIGKILL)
                node.wait()
        shutil.rmtree(folder, ignore_errors=True)


def command(data: Path, out: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "drgst", "run", str(data), "--recipe", "drgst-plus", "--out", str(out), *more]


def probabilities(out: Path) -> np.ndarray:
    return load_file(out / "model.safetensors")["fitted.probabilities"]


@pytest.mark.slow
def test_a_killed_worker_is_replaced(tmp_path: Path, address: str) -> None:
    """The result is that of one process, also where a worker is killed after a stage."""
    psutil = pytest.importorskip("psutil", reason="finds the workers")
    save_graph_folder(GRAPH.with_(splits=(SPLIT,)), tmp_path / "graph")
    subprocess.run(command(tmp_path / "graph", tmp_path / "alone"), check=True, capture_output=True)
    on_ray = ("--executor", f"ray:2@{address}")
    run = subprocess.Popen(
        command(tmp_path / "graph", tmp_path / "ray", *on_ray), stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
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
    alone, found = probabilities(tmp_path / "alone"), probabilities(tmp_path / "ray")
    assert (alone.argmax(axis=1) == found.argmax(axis=1)).mean() >= 0.999
    np.testing.assert_allclose(found, alone, atol=1e-4)
