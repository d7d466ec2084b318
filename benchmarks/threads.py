"""Seconds of one fit with 1, 2 and the default number of threads, alone and beside another busy process.

``python benchmarks/threads.py`` prints one row per graph; the last column is the default over the better of 1 and n.
"""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator

import drgst
from drgst.graph.core import Graph
from drgst.runs.config import RunConfig
from drgst.runs.run import Run
from drgst.threads import default_threads

BUSY = "x = 1\nwhile True: x = (x * 7) % 1000003"


@contextlib.contextmanager
def other_process(wanted: bool) -> Iterator[None]:
    """A process beside this one that never waits."""
    process = subprocess.Popen([sys.executable, "-c", BUSY]) if wanted else None
    try:
        yield
    finally:
        if process is not None:
            process.kill()
            process.wait()


def seconds(graph: Graph, split: drgst.Split, threads: int) -> float:
    began = time.perf_counter()
    Run.of(graph, RunConfig(recipe="drgst-plus", seed=0, threads=threads), split).execute()
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, nargs="*", default=[100_000], help="of block models beside Cora")
    sizes = parser.parse_args().nodes
    models = [drgst.block_model(n, 5 * n, seed=0).with_(name=f"block model of {n:,} nodes") for n in sizes]
    print("| graph | machine | 1 thread | 2 threads | default | default / better |\n|---|---|--:|--:|--:|--:|")
    for graph in [drgst.load("cora"), *models]:
        split = drgst.random_split(graph, per_class=3, val=0, seed=0)
        chosen = default_threads(graph.num_entries)
        for busy in (False, True):
            with other_process(busy):
                found = {count: seconds(graph, split, count) for count in (1, 2)}
            best, default = min(found.values()), found[chosen]
            row = [f"{found[1]:.1f}", f"{found[2]:.1f}", f"{default:.1f} ({chosen})", f"{default / best:.2f}"]
            print(f"| {graph.name} | {'busy' if busy else 'quiet'} | {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
