"""Block models of many kinds: is the default chooser of labels ever worse than a random sample?

python benchmarks/label_guards.py [--draws 5] [--recipe drgst-plus]
"""

from __future__ import annotations

import argparse
import os
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch
from block_models import graph_of

from drgst.lab import label_curve

CASES: dict[str, tuple[dict[str, float | str], int, int]] = {  # options of the block model, labels per class, budget
    "imbalanced 10 to 1": ({"homophily": 0.8, "imbalance": 10.0}, 3, 40),
    "useless edges": ({"homophily": 0.2, "signal": 0.6, "words": 30}, 3, 40),
    "useless features": ({"homophily": 0.8, "signal": 0.0}, 3, 40),
    "2 classes": ({"homophily": 0.8, "classes": 2}, 3, 40),
    "40 classes": ({"homophily": 0.8, "classes": 40}, 3, 80),
    "middling edges and features": ({"homophily": 0.6, "signal": 0.3}, 3, 40),
    "weak features": ({"homophily": 0.7, "signal": 0.1}, 3, 40),
    "weak edges": ({"homophily": 0.35, "signal": 0.4}, 3, 40),
    "numeric features": ({"homophily": 0.8, "kind": "numeric"}, 3, 40),
    "from no labels": ({"homophily": 0.6, "signal": 0.3}, 0, 40),
    "from no labels, imbalanced 10 to 1": ({"homophily": 0.6, "signal": 0.3, "imbalance": 10.0}, 0, 40),
}


def main() -> None:
    """One row per case: areas under the curves of both, and their paired difference."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--recipe", default="drgst-plus")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    print("| block model of 1,500 nodes | labels per class | more labels | suggest | random | difference | p |")
    print("|:--|--:|--:|--:|--:|--:|--:|", flush=True)
    for case, (model, start, budget) in CASES.items():
        curves = label_curve(
            graph_of(model, 100),
            recipe=options.recipe,
            start=start,
            budget=budget,
            batch=budget // 2 if start else 10,
            draws=options.draws,
            jobs=options.jobs,
            progress=False,
        )
        ours, theirs = curves.summary()
        figures = f"{100 * ours['area']:.1f} | {100 * theirs['area']:.1f} | {100 * ours['difference']:+.1f}"
        print(f"| {case} | {start} | {budget} | {figures} | {ours['p']:.3f} |", flush=True)


if __name__ == "__main__":
    main()
