"""Seconds and CPU seconds of one fit with 1, 2 and the default number of threads, alone and beside a busy process.

``python benchmarks/threads.py [NAME|NODES...]`` prints two rows per graph, a data set or a block model of so many
nodes, with the better of two fits; the last column is the seconds of the default over those of the better of 1 and 2
threads.
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


def opened(name: str) -> Graph:
    """A data set, or a block model of so many nodes."""
    if not name.isdigit():
        return drgst.load(name)
    return drgst.block_model(int(name), 5 * int(name), seed=0).with_(name=f"block model of {int(name):,} nodes")


def seconds(graph: Graph, split: drgst.Split, threads: int) -> tuple[float, float]:
    """Wall-clock and CPU seconds of a fit."""
    began, used = time.perf_counter(), time.process_time()
    Run.of(graph, RunConfig(recipe="drgst-plus", seed=0, threads=threads), split).execute()
    return time.perf_counter() - began, time.process_time() - used


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graphs", nargs="*", default=["cora", "100000"], metavar="NAME|NODES")
    print("| graph | machine | 1 thread, s (CPU s) | 2 | default | default / better |\n|---|---|--:|--:|--:|--:|")
    for graph in map(opened, parser.parse_args().graphs):
        split = drgst.random_split(graph, per_class=3, val=0, seed=0)
        chosen = default_threads(graph.num_entries)
        for busy in (False, True):
            with other_process(busy):
                found = {count: min(seconds(graph, split, count) for _ in range(2)) for count in (1, 2)}
            cells = [f"{found[count][0]:.1f} ({found[count][1]:.1f})" for count in (1, 2)]
            ratio = found[chosen][0] / min(found[1][0], found[2][0])
            row = [graph.name, "busy" if busy else "quiet", *cells, str(chosen), f"{ratio:.2f}"]
            print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
