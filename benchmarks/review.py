"""How well ``drgst review`` finds wrong labels: average precision of its list on Cora with flipped labels.

``python benchmarks/review.py --recipe drgst-plus --seeds 0 1 2`` flips a share of the 20 training labels per class to
another class and prints the average precision of the flipped labels in the ranking, and that of a random order (the
share of flipped labels).
"""

from __future__ import annotations

import argparse

import numpy as np

import drgst
from drgst.decide.review import review
from drgst.runs.metrics import RankScores


def average_precision(recipe: str, share: float, seed: int) -> tuple[float, float, int]:
    """Average precision of the flipped labels, their share, and how many of the contradicted labels are flipped."""
    graph = drgst.load("cora")
    split = drgst.public_split(graph).without_validation()
    rng = np.random.default_rng(seed)
    flipped = rng.choice(split.train, round(share * split.train.size), replace=False)
    labels = graph.labels.copy()
    labels[flipped] = (labels[flipped] + rng.integers(1, graph.num_classes, flipped.size)) % graph.num_classes
    settings = None if recipe == "drgst-plus" else {"calibrate": "crossfit"}
    found = review(drgst.SelfTraining(recipe, settings).fit(graph.with_(labels=labels), split).result_)
    wrong = np.isin(found.nodes, flipped)
    ranks = RankScores(-np.arange(wrong.size, dtype=np.float64), wrong)
    return ranks.average_precision(np.ones(wrong.size)), float(wrong.mean()), int(wrong[: found.contradicted].sum())


def main() -> None:
    """Print one line per seed and the mean."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recipe", default="drgst-plus")
    parser.add_argument("--share", type=float, default=0.1)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    args = parser.parse_args()
    rows = []
    for seed in args.seeds:
        rows.append(average_precision(args.recipe, args.share, seed))
        print(f"seed {seed}: average precision {rows[-1][0]:.3f}, random {rows[-1][1]:.3f}", flush=True)
    mean = np.mean([row[0] for row in rows])
    print(f"{args.recipe}: mean average precision {mean:.3f} over {len(rows)} seeds, random {rows[0][1]:.3f}")


if __name__ == "__main__":
    main()
