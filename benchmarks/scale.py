"""Whole runs of drgst-plus on block models of growing size, against the bare sparse products of their propagation.

python benchmarks/scale.py [--nodes 200000 1000000] [--degree 20] [--folder FOLDER]

Each run is a ``drgst run`` in a process of its own, so that CPU seconds, wall time and peak memory are those of the run
alone, from the start of Python to the last file. The bare products follow in another process: 20 products for features
over edges, for neighbours over edges and for features over nearest neighbours, of which there are as many as edges.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from drgst.graph.datasets.load import open_graph
from drgst.graph.datasets.synthetic import block_model
from drgst.graph.io.folder import save_graph_folder
from drgst.graph.split import random_split
from drgst.graph.transforms.normalise import sym_norm
from drgst.graph.transforms.propagate import polynomial_blocks
from drgst.runs.run import default_threads, threads
from drgst.selftrain.learners.multiview.views import columns_kept

PROPAGATIONS, PRODUCTS = 3, 20


def make_graph(nodes: int, degree: int, path: Path) -> None:
    """A block model in which features and edges tell classes apart in part, with 20 labels per class."""
    graph = block_model(nodes, nodes * degree // 2, seed=0, homophily=0.5, signal=0.3)
    split = random_split(graph, per_class=20, val=0, test=min(nodes // 10, 100_000), seed=0)
    save_graph_folder(graph.with_(splits=(split,)), path)


def bare_products(path: str) -> None:
    """S X, S² X, … S²⁰ X as often as drgst-plus propagates, and nothing else; their wall time in seconds."""
    graph = open_graph(path)
    s = sym_norm(graph.adjacency)
    x = np.random.default_rng(0).random((graph.num_nodes, columns_kept(graph.num_nodes)), dtype=np.float32)
    began, cpu = time.perf_counter(), time.process_time()
    with threads(default_threads(graph)):
        for _ in range(PROPAGATIONS):
            for _block in polynomial_blocks(s, x, [np.eye(PRODUCTS + 1)[PRODUCTS]]):
                pass
    print(json.dumps({"cpu": time.process_time() - cpu, "wall": time.perf_counter() - began}))


def measured(command: list[str]) -> tuple[str, float, float, float]:
    """Last line of the output of a command, its CPU seconds, wall seconds and peak memory in GB."""
    began = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed")
    seconds = usage.ru_utime + usage.ru_stime
    return output.splitlines()[-1], seconds, time.perf_counter() - began, usage.ru_maxrss / 2**20


def measure(nodes: int, degree: int, folder: Path) -> None:
    """Print one line."""
    path = folder / f"block-{nodes}"
    if not path.exists():
        make_graph(nodes, degree, path)
    run = [sys.executable, "-m", "drgst", "run", str(path), "--recipe", "drgst-plus", "--json"]
    found, cpu, wall, peak = measured([*run, "--out", str(folder / f"run-{nodes}"), "--force"])
    bare = json.loads(measured([sys.executable, __file__, "--bare", str(path)])[0])
    accuracy = json.loads(found)["test_accuracy"]
    print(
        f"{nodes:>11,} nodes {nodes * degree // 2:>12,} edges {columns_kept(nodes):>4} columns: {cpu:7.0f} CPU s "
        f"{wall:7.0f} s {peak:6.2f} GB; bare products {bare['cpu']:6.0f} CPU s, ratio {cpu / bare['cpu']:.2f}; "
        f"test accuracy {100 * accuracy:.1f}; load {os.getloadavg()[0]:.1f}",
        flush=True,
    )


def main() -> None:
    """Measure every size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, nargs="+", default=[200_000])
    parser.add_argument("--degree", type=int, default=20)
    parser.add_argument("--folder", type=Path, help="where graphs and runs are kept; else they are deleted")
    parser.add_argument("--bare", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.bare:
        bare_products(options.bare)
        return
    with tempfile.TemporaryDirectory() as temporary:
        for nodes in options.nodes:
            measure(nodes, options.degree, options.folder or Path(temporary))


if __name__ == "__main__":
    main()
