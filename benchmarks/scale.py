"""Whole runs on block models of growing size: drgst-plus against the bare sparse products of its propagation.

python benchmarks/scale.py [--nodes 200000 1000000] [--degree 20] [--folder FOLDER]
python benchmarks/scale.py --flickr           a graph with useless edges and many words, against its kNN view alone
python benchmarks/scale.py --nodes 1000000 --recipe drgst-de --val 500 --set batch=auto --set epochs=300

Each run is a ``drgst run`` in a process of its own, so that CPU seconds, wall time and peak memory are those of the run
alone, from the start of Python to the last file. The bare products follow in another process: as many as drgst-plus
computes (10 above 100,000 nodes, else 20) for features over edges, for neighbours over edges and for features over
nearest neighbours, of which there are as many as edges.
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

from drgst.datasets.load import open_graph
from drgst.datasets.synthetic import block_model
from drgst.graph.split import random_split
from drgst.io.folder import save_graph_folder
from drgst.selftrain.views.base import SHORT_DEGREE, STEPS
from drgst.selftrain.views.shared import WIDE_NODES, columns_kept
from drgst.threads import default_threads, limit_threads
from drgst.transforms.propagate import Polynomial, sym_norm

PROPAGATIONS = 3
FLICKR = {"classes": 9, "features": 12_000, "words": 24, "homophily": 1 / 9, "signal": 0.35}


def make_graph(nodes: int, options: argparse.Namespace, path: Path) -> None:
    """A block model with 20 labels per class in which features and edges tell classes apart in part.

    ``--flickr``: 9 classes, 12,000 words, edges that join any two classes alike.
    """
    model = FLICKR if options.flickr else {"homophily": 0.5, "signal": 0.3}
    graph = block_model(nodes, nodes * options.degree // 2, seed=0, **model)
    split = random_split(graph, per_class=20, val=options.val, test=min(nodes // 10, 100_000), seed=0)
    save_graph_folder(graph.with_(splits=(split,)), path)


def bare_products(path: str) -> None:
    """S X, S² X, … as often as drgst-plus propagates, and nothing else; their seconds."""
    graph = open_graph(path)
    s = sym_norm(graph.adjacency)
    x = np.random.default_rng(0).random((graph.num_nodes, columns_kept(graph.num_nodes)), dtype=np.float32)
    products = SHORT_DEGREE if graph.num_nodes > WIDE_NODES else STEPS
    began, cpu = time.perf_counter(), time.process_time()
    with limit_threads(default_threads(graph.num_entries)):
        for _ in range(PROPAGATIONS):
            for _block in Polynomial(s, np.eye(products + 1)[products]).blocks(x):
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


def run(path: Path, out: Path, options: argparse.Namespace, settings: list[str]) -> tuple[str, float, float]:
    """One line on a run, its CPU seconds and its test accuracy."""
    command = [sys.executable, "-m", "drgst", "run", str(path), "--recipe", options.recipe, "--json", "--force"]
    command += ["--out", str(out), *(word for each in settings for word in ("--set", each))]
    if options.threads:
        command += ["--threads", str(options.threads)]
    found, cpu, wall, peak = measured(command)
    accuracy = 100 * json.loads(found)["test_accuracy"]
    what = " ".join([options.recipe, *settings, *([f"threads={options.threads}"] if options.threads else [])])
    load = os.getloadavg()[0]
    line = f"{what}: {cpu:.0f} CPU s, {wall:.0f} s, {peak:.2f} GB, test accuracy {accuracy:.1f}; load {load:.1f}"
    return line, cpu, accuracy


def measure(nodes: int, options: argparse.Namespace, folder: Path) -> None:
    """Print a line per run."""
    kind = "flickr" if options.flickr else "block"
    path = folder / (f"{kind}-{nodes}" + (f"-{options.val}" if options.val else ""))
    if not path.exists():
        make_graph(nodes, options, path)
    size = f"{nodes:,} nodes, {nodes * options.degree // 2:,} edges, "
    line, cpu, _ = run(path, folder / f"run-{kind}-{nodes}", options, options.set)
    print(size + line, flush=True)
    if options.flickr:
        line, _, _ = run(path, folder / f"run-{kind}-{nodes}-knn", options, ["view=knn"])
        print(size + line, flush=True)
    elif options.recipe == "drgst-plus":
        bare = json.loads(measured([sys.executable, __file__, "--bare", str(path)])[0])
        columns = columns_kept(nodes)
        print(
            f"  bare products of {columns} columns {bare['cpu']:.0f} CPU s, ratio {cpu / bare['cpu']:.2f}", flush=True
        )


def main() -> None:
    """Measure every size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, nargs="+", default=[200_000])
    parser.add_argument("--degree", type=int, default=20)
    parser.add_argument("--flickr", action="store_true", help="useless edges, many words; also with view=knn")
    parser.add_argument("--recipe", default="drgst-plus")
    parser.add_argument("--val", type=int, default=0, help="validation nodes, by which networks stop")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of the run")
    parser.add_argument("--threads", type=int, help="of the run; by default as many as its size asks for")
    parser.add_argument("--folder", type=Path, help="where graphs and runs are kept; else they are deleted")
    parser.add_argument("--bare", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.bare:
        bare_products(options.bare)
        return
    with tempfile.TemporaryDirectory() as temporary:
        for nodes in options.nodes:
            measure(nodes, options, options.folder or Path(temporary))


if __name__ == "__main__":
    main()
