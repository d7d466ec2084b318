"""Accuracy of training in mini-batches of graph partitions against full-batch training, on the same draws.

python benchmarks/batches.py [--datasets cora pubmed] [--recipe gcn] [--per-class 20] [--draws 5] [--batches 5]

Test accuracy in percent; ``batch`` is a fifth of the nodes by default. The recipe trains the same network from the same
seeds in both cases.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import drgst
from drgst.runs.config import RunConfig
from drgst.runs.run import Run


def accuracy(dataset: str, recipe: str, per_class: int, draw: int, batch: str | int) -> float:
    """Test accuracy of one run in percent."""
    settings = {} if batch == "full" else {"batch": batch}
    config = RunConfig(data=dataset, recipe=recipe, per_class=per_class, seed=draw, settings=settings)
    result = Run.from_config(config).execute()
    return 100 * float(result.metrics["test_accuracy"] or 0)


def main() -> None:
    """One line per draw, and the mean difference."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", nargs="+", default=["cora", "pubmed"])
    parser.add_argument("--recipe", default="gcn")
    parser.add_argument("--per-class", type=int, default=20)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--first-draw", type=int, default=0)
    parser.add_argument("--batches", type=int, default=5, help="batches that a pass has")
    options = parser.parse_args()
    for dataset in options.datasets:
        batch, pairs = -(-drgst.load(dataset).num_nodes // options.batches), []
        for draw in range(options.first_draw, options.first_draw + options.draws):
            began = time.process_time()
            found = [accuracy(dataset, options.recipe, options.per_class, draw, b) for b in ("full", batch)]
            pairs.append(found)
            print(
                f"{dataset} draw {draw}: full {found[0]:.1f}, batches of {batch:,} nodes {found[1]:.1f} "
                f"({time.process_time() - began:.0f} CPU s)",
                flush=True,
            )
        full, small = np.array(pairs).T
        error = (small - full).std(ddof=1) / np.sqrt(len(pairs)) if len(pairs) > 1 else float("nan")
        print(
            f"{dataset}, {options.recipe}, {len(pairs)} draws: full {full.mean():.2f}, mini-batches "
            f"{small.mean():.2f}, difference {(small - full).mean():+.2f} ± {error:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
