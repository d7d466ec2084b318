"""Graphs that drgst-plus was not made for: does it find the part that reads them best, and say so?

python benchmarks/guards.py [--draws 5]
"""

from __future__ import annotations

import argparse
import os
import time
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch

from drgst import SelfTraining
from drgst.graph.core import Graph
from drgst.graph.splits import random_split
from drgst.graph.synthetic import block_model
from drgst.selftrain.plus.lenses import MAKERS, VOICES

VIEWS = (*MAKERS, *VOICES)
PARTS = {**{view: ("drgst-plus", {"view": view}) for view in VIEWS}, "label-propagation": ("label-propagation", {})}
N = 1500
CASES: dict[str, tuple[dict[str, float], int]] = {  # what the block model is told, labels a class
    "homophily, good features": ({"homophily": 0.8}, 5),
    "no homophily, good features": ({"homophily": 0.2}, 5),
    "heterophily (edges across classes), 3 classes": ({"homophily": 0.02, "classes": 3}, 10),
    "useless features": ({"homophily": 0.8, "signal": 0.0}, 5),
    "useless edges": ({"homophily": 0.2, "signal": 0.6, "words": 30}, 5),
    "imbalanced 10 to 1": ({"homophily": 0.8, "imbalance": 10.0}, 5),
    "1 label a class": ({"homophily": 0.8}, 1),
    "1 label a class, useless edges": ({"homophily": 0.2, "signal": 0.6, "words": 30}, 1),
    "1 label a class, useless features": ({"homophily": 0.8, "signal": 0.0}, 1),
    "2 classes": ({"homophily": 0.8, "classes": 2}, 5),
    "40 classes": ({"homophily": 0.8, "classes": 40}, 5),
    "middling edges and features": ({"homophily": 0.6, "signal": 0.3}, 5),
    "middling both, 2 classes": ({"homophily": 0.7, "signal": 0.3, "classes": 2}, 10),
    "weak features": ({"homophily": 0.7, "signal": 0.1}, 5),
    "weak edges": ({"homophily": 0.35, "signal": 0.4}, 5),
    "both weak": ({"homophily": 0.5, "signal": 0.2}, 10),
    "middling both, imbalanced 5 to 1": ({"homophily": 0.6, "signal": 0.35, "imbalance": 5.0}, 5),
}


def accuracy(graph: Graph, per_class: int, draw: int, recipe: str, settings: dict[str, str]) -> tuple[float, str]:
    """On all unlabelled nodes, without validation; and the first word of the reason."""
    split = random_split(graph, per_class=per_class, seed=draw, val=0, test=0)
    model = SelfTraining(recipe, settings, seed=draw).fit(graph, split)
    rest = np.setdiff1d(np.arange(graph.num_nodes), split.train)
    return 100 * model.score(graph, rest), model.history_[0].note.partition(":")[0]


def main() -> None:
    """One row a case: what it chose, its accuracy, and that of each part."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=5)
    draws = parser.parse_args().draws
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    print(f"| block model of {N:,} nodes | chose | drgst-plus | best part | lead | {' | '.join(PARTS)} | s |")
    print("|:--|:--|" + "--:|" * (len(PARTS) + 4), flush=True)
    for case, (told, per_class) in CASES.items():
        sums = dict.fromkeys(("plus", *PARTS), 0.0)
        chosen: dict[str, int] = {}
        seconds = 0.0
        for draw in range(draws):
            graph = block_model(N, 4 * N, seed=100 + draw, **told)  # type: ignore[arg-type]
            began = time.perf_counter()
            right, view = accuracy(graph, per_class, draw, "drgst-plus", {})
            seconds += time.perf_counter() - began
            sums["plus"] += right / draws
            chosen[view] = chosen.get(view, 0) + 1
            for name, (recipe, settings) in PARTS.items():
                sums[name] += accuracy(graph, per_class, draw, recipe, settings)[0] / draws
        best = max(PARTS, key=lambda name: sums[name])
        picks = ", ".join(f"{view} {count}/{draws}" for view, count in chosen.items())
        parts = " | ".join(f"{sums[name]:.1f}" for name in PARTS)
        lead = sums["plus"] - sums[best]
        row = f"| {case} | {picks} | {sums['plus']:.1f} | {best} {sums[best]:.1f} | {lead:+.1f} | {parts}"
        print(f"{row} | {seconds / draws:.1f} |", flush=True)


if __name__ == "__main__":
    main()
