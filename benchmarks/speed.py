"""Speed of drgst against plain PyG, in one process and alternating.

    python benchmarks/speed.py                      # Cora, Citeseer, Pubmed, Flickr, a 200,000-node block model
    python benchmarks/speed.py --data cora,pubmed --rounds 5
    python benchmarks/speed.py --scaling            # one epoch from 20,000 to 20,000,000 edges

Prints ratios (plain / ours, above 1 is better), one thread each: an epoch with evaluation, information gain
(100 samples, and closed form), a whole drgst-do run at equal epochs, peak memory; and an epoch of ours against
the sparse and dense products that it consists of. Writes ``--out`` (CSV) if given.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parent))
import plain

import drgst
from drgst.datasets.synthetic import block_model
from drgst.graph.core import Graph
from drgst.graph.split import Split, random_split
from drgst.nn.inputs import Inputs, make_inputs
from drgst.nn.losses import WeightedLoss
from drgst.nn.networks import GCN
from drgst.nn.ops.sparse import SparseMatrix, thin_product
from drgst.nn.random import generator, keep_scale
from drgst.nn.training import NetworkTrainer, Schedule, ValidationSet
from drgst.recipes.presets import DATASETS
from drgst.selftrain.slots.correct import learn_transition
from drgst.selftrain.slots.weigh import normalised_gain
from drgst.uncertainty.gain import GainSettings, estimate_gain

Row = dict[str, Any]


class Case:
    """One graph with our network and the plain one."""

    def __init__(self, name: str, both: bool = True) -> None:
        self.name = name
        self.graph, self.split = load(name)
        self.normalise = DATASETS.get(name, {}).get("normalise", "auto")
        self.inputs = make_inputs(self.graph, "cpu", self.normalise)
        self.labelled = np.concatenate([self.split.train, self.split.pool[::2]])  # as in a middle stage of a run
        self.labels = np.maximum(self.graph.labels[self.labelled], 0)
        self.network = GCN(self.graph.num_features, self.graph.num_classes)
        if both:
            self.plain = plain.PlainGCN(self.graph.num_features, self.graph.num_classes)
            self.data = plain.PlainData.of(self.graph, self.split.val, self.normalise)

    def ours_epochs(self, epochs: int, nodes: np.ndarray | None = None) -> None:
        nodes = self.labelled if nodes is None else nodes
        labels = np.maximum(self.graph.labels[nodes], 0)
        objective = WeightedLoss(nodes, labels, np.ones(nodes.size))
        validation = ValidationSet(self.split.val, self.graph.labels[self.split.val])
        schedule = Schedule(epochs=epochs, patience=10**9)
        NetworkTrainer(self.network, self.inputs, objective, validation, schedule, generator(0)).fit()

    def plain_epochs(self, epochs: int, nodes: np.ndarray | None = None) -> None:
        nodes = self.labelled if nodes is None else nodes
        labels = np.maximum(self.graph.labels[nodes], 0)
        plain.train(self.plain, self.data, torch.from_numpy(np.array(nodes)), torch.from_numpy(labels), epochs)

    def ours_run(self, epochs: int) -> None:
        """Teacher, gain, two trainings with T between: one stage of drgst-do."""
        self.ours_epochs(epochs, self.split.train)
        gain = estimate_gain(self.network, self.inputs, GainSettings("dropout", 0.5, 100), generator(1))
        normalised_gain(gain[self.split.pool], 0.5)
        self.ours_epochs(epochs)
        learn_transition(np.eye(self.graph.num_classes), np.arange(self.graph.num_classes), self.graph.num_classes)
        self.ours_epochs(epochs)

    def plain_run(self, epochs: int) -> None:
        self.plain_epochs(epochs, self.split.train)
        plain.gain(self.plain, self.data, "dropout", 0.5)
        self.plain_epochs(epochs)
        self.plain_epochs(epochs)


def load(name: str) -> tuple[Graph, Split]:
    """A data set with its public split, or ``block-N-E``."""
    if name.startswith("block-"):
        nodes, edges = (int(v) for v in name.split("-")[1:])
        graph = block_model(nodes, edges, seed=0)
        return graph, random_split(graph, per_class=20, val=500, test=1000, seed=0)
    graph = drgst.load(name)
    assert graph.split is not None
    return graph, graph.split


def alternate(one: Callable[[], Any], other: Callable[[], Any], rounds: int) -> tuple[float, float]:
    """Median seconds of each, run alternately so that noise affects both."""
    times: tuple[list[float], list[float]] = ([], [])
    for side in (one, other):
        side()
    for _ in range(rounds):
        for side, kept in zip((one, other), times, strict=True):
            began = time.perf_counter()
            side()
            kept.append(time.perf_counter() - began)
    return median(times[0]), median(times[1])


def bare_products(inputs: Inputs, classes: int) -> Callable[[], None]:
    """The products of one GCN epoch: forward, backward, the random bits of dropout, and the last layer once more."""
    features = inputs.x.shape[1]
    w1, w2 = torch.randn(features, 64), torch.randn(64, classes)
    n = inputs.nodes.size
    h, m = torch.randn(n, 64), torch.randn(n, classes)
    x, sym = inputs.x, inputs.adj.sym
    rng = generator(0)
    backward = x.transposed_product if isinstance(x, SparseMatrix) else x.t().matmul

    def products() -> None:
        with torch.no_grad():
            sym @ (x @ w1)  # first layer
            keep_scale(h.numel(), 0.5, rng)
            sym @ thin_product(h, w2)  # last layer, training
            sym @ thin_product(h, w2)  # last layer, evaluation
            sym @ m  # its gradient
            m @ w2.t()
            m.t() @ h
            backward(sym @ h)  # gradient of the first layer

    return products


def report(name: str, what: str, times: tuple[float, float], unit: str = "ms", against: str = "plain") -> Row:
    """Print (theirs, ours) and return the row; the ratio is theirs / ours, but ours / bare for bare products."""
    theirs, ours = times
    ratio = ours / theirs if against == "bare" else theirs / ours
    left, right = f"{against:5s} {theirs:11.2f} {unit}", f"ours {ours:10.2f} {unit}"
    print(f"{name:22s} {what:36s} {left}   {right}   {ratio:8.2f} x", flush=True)
    return {
        "data": name,
        "what": what,
        "against": against,
        "unit": unit,
        "theirs": theirs,
        "ours": ours,
        "ratio": ratio,
    }


def compare(name: str, rounds: int, epochs: int) -> list[Row]:
    """All ratios for one graph."""
    case = Case(name)
    rows = []
    for what, nodes in (("epoch with evaluation", case.labelled), ("epoch of the teacher (V_L)", case.split.train)):
        ours, theirs = alternate(
            partial(case.ours_epochs, epochs, nodes), partial(case.plain_epochs, epochs, nodes), rounds
        )
        rows.append(report(name, what, (theirs / epochs * 1e3, ours / epochs * 1e3)))
    for kind, rate in (("dropout", 0.5), ("dropedge", 0.3)):
        slow = partial(plain.gain, case.plain, case.data, kind, rate)
        sampled = GainSettings(kind, rate, 100)  # type: ignore[arg-type]
        closed = GainSettings(kind, rate, 100, "closed")  # type: ignore[arg-type]
        ours, theirs = alternate(partial(estimate_gain, case.network, case.inputs, sampled, generator(1)), slow, 1)
        rows.append(report(name, f"gain by {kind}, 100 samples", (theirs * 1e3, ours * 1e3)))
        quick, _ = alternate(partial(estimate_gain, case.network, case.inputs, closed, generator(1)), int, rounds + 2)
        rows.append(report(name, f"gain by {kind}, closed form", (theirs * 1e3, quick * 1e3)))
    ours, theirs = alternate(partial(case.ours_run, epochs), partial(case.plain_run, epochs), 1)
    rows.append(report(name, "one stage of drgst-do, equal epochs", (theirs * 1e3, ours * 1e3)))
    products = bare_products(case.inputs, case.graph.num_classes)
    bare, ours = alternate(
        lambda: [products() for _ in range(epochs)], partial(case.ours_epochs, epochs, case.labelled), rounds
    )
    rows.append(report(name, "epoch over its bare products", (bare / epochs * 1e3, ours / epochs * 1e3), "ms", "bare"))
    return rows


def peak_memory(name: str, side: str) -> float:
    """Peak resident MB of a fresh process that runs one stage with one of the two, imports and data included."""
    out = subprocess.run(
        [sys.executable, __file__, "--memory-of", side, "--data", name], capture_output=True, text=True, check=True
    )
    return float(json.loads(out.stdout.strip().splitlines()[-1]))


def memory_probe(name: str, side: str) -> None:
    """Run one of the two once and print its peak memory."""
    case = Case(name, both=side == "plain")
    if side == "ours":
        case.ours_run(5)
    else:
        case.plain_run(5)
    # not ru_maxrss: a child inherits the high-water mark of the process that started it
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    print(json.dumps(int(status.split("VmHWM:")[1].split()[0]) / 1024))


def scaling() -> list[Row]:
    """Milliseconds per epoch and nanoseconds per edge on block models from 20,000 to 20,000,000 edges."""
    rows = []
    for edges in (20_000, 200_000, 2_000_000, 20_000_000):
        graph, split = load(f"block-{edges // 10}-{edges}")
        inputs = make_inputs(graph)
        network = GCN(graph.num_features, graph.num_classes)
        nodes = np.concatenate([split.train, split.pool[::2]])
        objective = WeightedLoss(nodes, graph.labels[nodes], np.ones(nodes.size))
        validation = ValidationSet(split.val, graph.labels[split.val])
        epochs = 3 if edges > 1_000_000 else 20
        NetworkTrainer(network, inputs, objective, validation, Schedule(epochs=1, patience=10**9), generator(0)).fit()
        began = time.perf_counter()
        NetworkTrainer(
            network, inputs, objective, validation, Schedule(epochs=epochs, patience=10**9), generator(0)
        ).fit()
        epoch = (time.perf_counter() - began) / (epochs + 1)
        per_edge = epoch / edges * 1e9
        print(f"{edges:12,d} edges  {epoch * 1e3:10.1f} ms per epoch  {per_edge:8.1f} ns per edge", flush=True)
        rows.append(
            {"data": graph.name, "what": f"epoch at {edges} edges", "unit": "ms", "ours": epoch * 1e3}
            | {"against": "ns per edge", "ratio": per_edge}
        )
    return rows


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="cora,citeseer,pubmed,flickr,block-200000-1000000")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--scaling", action="store_true")
    parser.add_argument("--out")
    parser.add_argument("--memory-of", choices=("ours", "plain"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    torch.set_num_threads(1)
    if args.memory_of:
        memory_probe(args.data, args.memory_of)
        return
    rows: list[Row] = scaling() if args.scaling else []
    for name in [] if args.scaling else args.data.split(","):
        rows += compare(name, args.rounds, args.epochs)
        theirs, ours = (peak_memory(name, side) for side in ("plain", "ours"))
        rows.append(report(name, "peak memory of one stage", (theirs, ours), "MB"))
    if args.out:
        with open(args.out, "w", newline="", encoding="utf-8") as handle:
            writer = csv.DictWriter(handle, ["data", "what", "against", "unit", "theirs", "ours", "ratio"])
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
