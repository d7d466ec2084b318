"""Propagation on block models of growing size: CPU seconds, the ratio to its bare sparse products, and peak memory.

python benchmarks/scale.py [--nodes 20000 200000] [--columns 51] [--degree 20]

Sizes run one after another in one process, so the peak is that of the largest so far.
"""

from __future__ import annotations

import argparse
import os
import resource
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch

from drgst.graph.datasets.synthetic import block_model
from drgst.graph.transforms.features import reduce_columns, row_l2, svd, tfidf
from drgst.graph.transforms.normalise import sym_norm
from drgst.graph.transforms.products import Storage, torch_csr
from drgst.graph.transforms.propagate import polynomials, restart_coefficients

FAR, NEAR = restart_coefficients(0.1, 20), restart_coefficients(0.3, 10)


def bare_products(s: object, x: np.ndarray) -> None:
    """S X, S² X, … S²⁰ X in blocks of 16 columns, and nothing else."""
    matrix = torch_csr(s)
    for start in range(0, x.shape[1], 16):
        here = torch.from_numpy(np.ascontiguousarray(x[:, start : start + 16]))
        following = torch.empty_like(here)
        for _ in range(len(FAR) - 1):
            torch.mm(matrix, here, out=following)
            here, following = following, here


def measure(nodes: int, columns: int, degree: int) -> None:
    """Print one line per step."""
    graph = block_model(nodes, nodes * degree // 2, seed=0, homophily=0.5, signal=0.2)
    s = sym_norm(graph.adjacency)
    x = reduce_columns(row_l2(tfidf(graph.features)), columns)
    steps = {
        "bare products": lambda: bare_products(s, x),
        "near and far": lambda: polynomials(s, x, (FAR, NEAR)),
        "near and far, float16": lambda: polynomials(s, x, (FAR, NEAR), Storage("float16")),
        "truncated SVD of the edges": lambda: svd(s, 64, seed=0, rounds=3),
    }
    bare = 0.0
    for name, step in steps.items():
        began = time.process_time()
        step()
        seconds = time.process_time() - began
        bare = bare or seconds
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(f"{nodes:>10,} {name:<28}{seconds:8.1f} s {seconds / bare:6.2f} x bare {peak:6.2f} GB", flush=True)


def main() -> None:
    """Measure every size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, nargs="+", default=[20_000, 200_000])
    parser.add_argument("--columns", type=int, default=51)
    parser.add_argument("--degree", type=int, default=20)
    options = parser.parse_args()
    for nodes in options.nodes:
        measure(nodes, options.columns, options.degree)


if __name__ == "__main__":
    main()
