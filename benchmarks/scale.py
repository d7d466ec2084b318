"""Whole runs on block models of growing size: drgst-plus against the bare sparse products of its propagation.

python benchmarks/scale.py [--nodes 200000 1000000] [--degree 20] [--folder FOLDER] [--out results/scale.csv]
python benchmarks/scale.py --flickr           a graph with useless edges and many words, against its kNN view alone
python benchmarks/scale.py --nodes 1000000 --recipe drgst-de --val 500 --set batch=auto --set epochs=300

Each run is a ``drgst run`` in a process of its own, so that CPU seconds, wall time and peak memory are those of the run
alone, from the start of Python to the last file. The bare products follow in another process: as many as drgst-plus
computes (8 above 100,000 nodes, else 20) for features over edges, for neighbours over edges and for features over
nearest neighbours, as if there were as many of these as edges. ``--out`` appends a line per run to a CSV file.
"""

from __future__ import annotations

import argparse
import csv
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
from drgst.recipes import find_recipe
from drgst.selftrain.views.base import SHORT_DEGREE, STEPS
from drgst.selftrain.views.shared import WIDE_NODES, columns_kept
from drgst.threads import default_threads, limit_threads, start_with_one_thread
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
    start_with_one_thread()  # as the command does
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


def record(path: Path | None, row: dict[str, object]) -> None:
    """Print the values of a run, and append them to the CSV file ``path``, with a header where it is new."""
    print(", ".join(f"{name} {value}" for name, value in row.items() if value != ""), flush=True)
    if path is not None:
        new = not path.exists()
        with path.open("a", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, row, lineterminator="\n")
            if new:
                writer.writeheader()
            writer.writerow(row)


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


def run(path: Path, out: Path, options: argparse.Namespace, settings: list[str]) -> dict[str, object]:
    """One run: its settings, CPU and wall seconds, peak memory, test accuracy, and the load of the machine after it."""
    command = [sys.executable, "-m", "drgst", "run", str(path), "--recipe", options.recipe, "--json", "--force"]
    command += ["--out", str(out), *(word for each in settings for word in ("--set", each))]
    if options.threads:
        command += ["--threads", str(options.threads)]
    found, cpu, wall, peak = measured(command)
    return {
        "recipe": options.recipe,
        "version": find_recipe(options.recipe).version,
        "settings": " ".join(settings),
        "threads": options.threads or "",
        "cpu_s": round(cpu, 1),
        "wall_s": round(wall, 1),
        "peak_gb": round(peak, 2),
        "test_accuracy": round(100 * json.loads(found)["test_accuracy"], 2),
        "load": round(os.getloadavg()[0], 1),
    }


def measure(nodes: int, options: argparse.Namespace, folder: Path) -> None:
    """Record a row per run."""
    kind = "flickr" if options.flickr else "block"
    path = folder / (f"{kind}-{nodes}" + (f"-{options.val}" if options.val else ""))
    if not path.exists():
        make_graph(nodes, options, path)
    size = {"graph": kind, "nodes": nodes, "edges": nodes * options.degree // 2, "columns": columns_kept(nodes)}
    row = {**size, **run(path, folder / f"run-{kind}-{nodes}", options, options.set), "bare_cpu_s": ""}
    if options.flickr:
        record(options.out, row)
        row = {**size, **run(path, folder / f"run-{kind}-{nodes}-knn", options, ["view=knn"]), "bare_cpu_s": ""}
    elif options.recipe == "drgst-plus" and not options.no_bare:
        bare = json.loads(measured([sys.executable, __file__, "--bare", str(path)])[0])
        row["bare_cpu_s"] = round(bare["cpu"], 1)
    record(options.out, row)


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
    parser.add_argument("--out", type=Path, help="a CSV file to which runs are appended")
    parser.add_argument("--no-bare", action="store_true", help="without the bare products")
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
