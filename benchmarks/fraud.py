"""drgst-plus against models without a graph on generated fraud tables: average precision and ROC AUC.

``python benchmarks/fraud.py --seeds 1000 1001`` prints one row per model: mean and values per seed, on the accounts
without a label. All models read the same columns (those of ``drgst.from_tables``); no table is cleaned by hand. The
recipe is told the share of fraud (``--prior``); of the accounts with a probability above 0.5 the last line shows the
mean probability that it states and the share that is fraud.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import drgst
from drgst.graph.core import Graph
from drgst.runs.config_file import parse_changes

CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "random forest": lambda: RandomForestClassifier(500, random_state=0),
    "histogram gradient boosting": lambda: HistGradientBoostingClassifier(random_state=0),
    "logistic regression": lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
}


def plain_scores(graph: Graph, make: Callable[[], Any]) -> np.ndarray:
    """P(fraud) of a classifier that reads the node columns only, (N,)."""
    x = graph.features if isinstance(graph.features, np.ndarray) else graph.features.toarray()
    known = graph.labels >= 0
    model = make().fit(x[known], graph.labels[known])
    return np.asarray(model.predict_proba(x)[:, graph.class_names.index("fraud")])


def recipe_scores(graph: Graph, recipe: str, settings: dict[str, Any], prior: float) -> np.ndarray:
    """P(fraud) of a recipe, (N,)."""
    model = drgst.SelfTraining(recipe, settings, prior={"fraud": prior}).fit(graph)
    return model.predict_proba()[:, graph.class_names.index("fraud")]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1000])
    parser.add_argument("--accounts", type=int, default=20_000)
    parser.add_argument("--recipe", default="drgst-plus")
    parser.add_argument("--set", nargs="*", default=[], metavar="KEY=VALUE")
    parser.add_argument("--prior", type=float, default=0.02)
    args = parser.parse_args()
    settings = parse_changes(args.set)
    found: dict[str, list[tuple[float, float, float]]] = {}
    stated: list[tuple[float, float]] = []
    for seed in args.seeds:
        tables = drgst.datasets.fraud_tables(seed, accounts=args.accounts)
        graph = drgst.from_tables(tables.accounts, tables.transactions, label="label").graph
        truth = tables.truth.column("fraud").to_numpy(zero_copy_only=False)
        rest = graph.labels < 0
        models = {name: lambda make=make: plain_scores(graph, make) for name, make in CLASSIFIERS.items()}  # noqa: B023
        models[args.recipe] = lambda: recipe_scores(graph, args.recipe, settings, args.prior)  # noqa: B023
        for name, scores in models.items():
            start = time.process_time()
            p = scores()[rest]
            figures = average_precision_score(truth[rest], p), roc_auc_score(truth[rest], p)
            found.setdefault(name, []).append((*figures, time.process_time() - start))
            if name == args.recipe:
                stated.append((float(p[p > 0.5].mean()), float(truth[rest][p > 0.5].mean())))
    print(f"{'model':<28} {'average precision':>18} {'ROC AUC':>8} {'CPU s':>6}  per seed {args.seeds}")
    for name, rows in found.items():
        ap, auc, seconds = np.mean(rows, axis=0)
        each = " ".join(f"{row[0]:.3f}/{row[1]:.4f}" for row in rows)
        print(f"{name:<28} {ap:>18.3f} {auc:>8.4f} {seconds:>6.1f}  {each}")
    each = ", ".join(f"{said:.3f} and {share:.3f}" for said, share in stated)
    print(f"{args.recipe}, accounts above 0.5: mean probability and share of fraud {each}")


if __name__ == "__main__":
    main()
