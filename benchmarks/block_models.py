"""Block models of many kinds: is drgst-plus as accurate as the best of its views alone?

python benchmarks/block_models.py [--draws 5]
"""

from __future__ import annotations

import argparse
import os
import time
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import scipy.sparse as sp
import torch

from drgst import SelfTraining
from drgst.datasets.synthetic import block_model
from drgst.graph.core import Graph
from drgst.graph.split import random_split
from drgst.selftrain.views.graph_views import VIEWS, Views

SINGLE = {**{view: ("drgst-plus", {"view": view}) for view in VIEWS}, "label-propagation": ("label-propagation", {})}
N = 1500
CASES: dict[str, tuple[dict[str, float | str], int]] = {  # options of the block model, labels per class
    "homophily, good features": ({"homophily": 0.8}, 5),
    "no homophily, good features": ({"homophily": 0.2}, 5),
    "heterophily (edges across classes), 3 classes": ({"homophily": 0.02, "classes": 3}, 10),
    "useless features": ({"homophily": 0.8, "signal": 0.0}, 5),
    "useless edges": ({"homophily": 0.2, "signal": 0.6, "words": 30}, 5),
    "imbalanced 10 to 1": ({"homophily": 0.8, "imbalance": 10.0}, 5),
    "1 label per class": ({"homophily": 0.8}, 1),
    "1 label per class, useless edges": ({"homophily": 0.2, "signal": 0.6, "words": 30}, 1),
    "1 label per class, useless features": ({"homophily": 0.8, "signal": 0.0}, 1),
    "2 classes": ({"homophily": 0.8, "classes": 2}, 5),
    "40 classes": ({"homophily": 0.8, "classes": 40}, 5),
    "middling edges and features": ({"homophily": 0.6, "signal": 0.3}, 5),
    "middling both, 2 classes": ({"homophily": 0.7, "signal": 0.3, "classes": 2}, 10),
    "weak features": ({"homophily": 0.7, "signal": 0.1}, 5),
    "weak edges": ({"homophily": 0.35, "signal": 0.4}, 5),
    "both weak": ({"homophily": 0.5, "signal": 0.2}, 10),
    "middling both, imbalanced 5 to 1": ({"homophily": 0.6, "signal": 0.35, "imbalance": 5.0}, 5),
    "numeric features": ({"homophily": 0.8, "kind": "numeric"}, 5),
    "numeric features, useless edges": ({"homophily": 0.2, "kind": "numeric"}, 5),
    "numeric features, 2 classes, 8 to 1": ({"homophily": 0.75, "classes": 2, "imbalance": 8.0, "kind": "numeric"}, 10),
    "no features": ({"homophily": 0.7, "kind": "none"}, 5),
    "no features, heterophily, 2 classes": ({"homophily": 0.1, "classes": 2, "kind": "none"}, 10),
    "no features, 40 classes": ({"homophily": 0.6, "classes": 40, "kind": "none"}, 5),
    "heterophily, weak features": ({"homophily": 0.05, "signal": 0.15, "classes": 4}, 10),
    "dense, clustered, 3 labels per class": ({"homophily": 0.9, "signal": 0.2, "edges": 20.0}, 3),
}


def graph_of(options: dict[str, float | str], seed: int) -> Graph:
    """A block model of 4, or ``edges``, edges per node; ``kind`` removes its features or makes them numeric."""
    edges, given = float(options.get("edges", 4)), {k: v for k, v in options.items() if k not in ("kind", "edges")}
    graph = block_model(N, int(edges * N), seed=seed, **given)  # type: ignore[arg-type]
    kind = options.get("kind")
    if kind == "none":
        return graph.with_(features=sp.csr_array((N, 0), dtype=np.float32))
    return graph.with_(features=numeric_features(graph, np.random.default_rng(seed))) if kind == "numeric" else graph


def numeric_features(graph: Graph, rng: np.random.Generator, width: int = 20) -> np.ndarray:
    """Amounts, counts, flags and ages, (N, 20), each from 0.7 μ_yj + noise: long tails and units from 1 to 10⁵."""
    hidden = 0.7 * rng.standard_normal((graph.num_classes, width))[graph.labels]
    hidden += rng.standard_normal(hidden.shape)
    x = hidden - hidden.min(axis=0) + rng.uniform(0, 50, width)
    x[:, ::4] = np.exp(hidden[:, ::4]) * 10 ** rng.uniform(0, 5, x[:, ::4].shape[1])
    x[:, 1::4] = np.floor(np.exp(hidden[:, 1::4] + 1))
    x[:, 2::4] = hidden[:, 2::4] > 0
    return x.astype(np.float32)


def accuracy(graph: Graph, per_class: int, draw: int, recipe: str, settings: dict[str, str]) -> tuple[float, str]:
    """Accuracy on all unlabelled nodes without validation labels, and the view of the largest weight."""
    split = random_split(graph, per_class=per_class, seed=draw, val=0, test=0)
    model = SelfTraining(recipe, settings, seed=draw).fit(graph, split)
    rest = np.setdiff1d(np.arange(graph.num_nodes), split.train)
    return 100 * model.score(graph, rest), model.history_[0].note.removeprefix("View weights: ").partition(" ")[0]


def main() -> None:
    """One row per case: the view of the largest weight, the accuracy, and the accuracy of each view alone."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=5)
    draws = parser.parse_args().draws
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    print(f"| block model of {N:,} nodes | first view | plus | best view | gap | {' | '.join(SINGLE)} | s |")
    print("|:--|:--|" + "--:|" * (len(SINGLE) + 4), flush=True)
    for case, (options, per_class) in CASES.items():
        sums = dict.fromkeys(("plus", *SINGLE), 0.0)
        chosen: dict[str, int] = {}
        seconds = 0.0
        for draw in range(draws):
            graph = graph_of(options, 100 + draw)
            began = time.perf_counter()
            right, view = accuracy(graph, per_class, draw, "drgst-plus", {})
            seconds += time.perf_counter() - began
            sums["plus"] += right / draws
            available = [name for name in SINGLE if name in (*Views(graph).available, "label-propagation")]
            chosen[view] = chosen.get(view, 0) + 1
            for name in available:
                sums[name] += accuracy(graph, per_class, draw, *SINGLE[name])[0] / draws
        best = max(SINGLE, key=lambda name: sums[name])
        views = ", ".join(f"{view} {count}/{draws}" for view, count in chosen.items())
        parts = " | ".join(f"{sums[name]:.1f}" if name in available else "" for name in SINGLE)
        difference = sums["plus"] - sums[best]
        row = f"| {case} | {views} | {sums['plus']:.1f} | {best} {sums[best]:.1f} | {difference:+.1f} | {parts}"
        print(f"{row} | {seconds / draws:.1f} |", flush=True)


if __name__ == "__main__":
    main()
