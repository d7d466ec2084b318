"""Memory of each worker and agreement with one process where several processes share a run of drgst-plus.

python benchmarks/workers.py [--nodes 200000] [--workers 1 2 4]

The processes of this machine exchange rows through the loopback interface, as workers of a Ray cluster do through
theirs. Peak memory is that of the process itself (RssAnon, sampled): pages of files that are mapped into memory, which
the system can take back, do not count. Shared tables are the bytes of the edges and representations of a worker.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import socket
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist

from drgst.datasets.load import open_graph
from drgst.datasets.synthetic import block_model
from drgst.graph.split import random_split
from drgst.io.folder import save_graph_folder
from drgst.recipes import find_recipe
from drgst.runs.config import RunConfig
from drgst.runs.run import Run
from drgst.selftrain.engine import self_train
from drgst.selftrain.learners.base import Divides
from drgst.shards import ProcessGroup
from drgst.transforms.divided import DividedMatrix


class Peak(threading.Thread):
    """The largest memory of this process, in bytes, sampled every 20 ms."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.bytes, self.over = 0, threading.Event()
        self.start()

    def run(self) -> None:
        while not self.over.wait(0.02):
            for line in Path("/proc/self/status").read_text().splitlines():
                if line.startswith("RssAnon"):
                    self.bytes = max(self.bytes, 1024 * int(line.split()[1]))


def size(value: Any) -> int:
    """Bytes of the arrays of a table, a sparse matrix or a divided one."""
    if isinstance(value, DividedMatrix):
        return size(value.local)
    if isinstance(value, np.ndarray):
        return value.nbytes
    return sum(part.nbytes for part in (value.data, value.indices, value.indptr))


def worker(path: str, rank: int, count: int, port: int, answers: Any) -> None:
    """Take part in a run."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=count)
    peak, began = Peak(), time.process_time()
    run = Run.from_config(RunConfig(data=path, recipe="drgst-plus", seed=0), open_graph)
    problem = replace(run.problem, shards=ProcessGroup())
    stage = self_train(problem, run.recipe)[-1]
    peak.over.set()
    learner = run.recipe.learner
    assert isinstance(learner, Divides)
    views = learner.views(problem)
    kinds = (np.ndarray, DividedMatrix)
    tables = sum(
        size(value) for name, value in views._values.items() if isinstance(value, kinds) and "first" not in name
    )
    tables += size(views.edges)
    classes = stage.predictions if rank == 0 else None
    answers.put((rank, (peak.bytes, tables, time.process_time() - began, classes)))
    dist.barrier()
    dist.destroy_process_group()


def shared_run(path: str, count: int) -> list[Any]:
    """What each of ``count`` workers measured."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    processes = [context.Process(target=worker, args=(path, rank, count, port, answers)) for rank in range(count)]
    for process in processes:
        process.start()
    found = dict(answers.get() for _ in processes)
    for process in processes:
        process.join()
    return [found[rank] for rank in range(count)]


def main() -> None:
    """Print a line of JSON per number of workers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=200_000)
    parser.add_argument("--degree", type=int, default=20)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        graph = block_model(options.nodes, options.nodes * options.degree // 2, seed=0, homophily=0.5, signal=0.3)
        split = random_split(graph, per_class=20, val=0, test=options.nodes // 10, seed=0)
        path = str(Path(folder) / "graph")
        save_graph_folder(graph.with_(splits=(split,)), path)
        first = None
        for count in options.workers:
            each = shared_run(path, count)
            classes = each[0][3]
            first = classes if first is None else first
            line = {
                "version": find_recipe("drgst-plus").version,
                "nodes": options.nodes,
                "edges": graph.num_edges,
                "workers": count,
                "peak_mb": [round(peak / 2**20) for peak, *_ in each],
                "tables_mb": [round(tables / 2**20) for _, tables, *_ in each],
                "cpu_seconds": [round(cpu) for _, _, cpu, _ in each],
                "same_classes": round(float((classes == first).mean()), 6),
            }
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
