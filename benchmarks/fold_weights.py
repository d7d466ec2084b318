"""Out-of-fold accuracy of drgst-plus with the view weights of the run, and with weights fitted inside each fold.

Labels are drawn at random from all nodes but the public test nodes, whose labels are hidden. Beside each out-of-fold
accuracy stands what it estimates: the accuracy of the fold runs on all other nodes of known label.
"""

from __future__ import annotations

import argparse
import csv
import sys
from dataclasses import dataclass, replace

import numpy as np

import drgst
from drgst.runs.config import RunConfig
from drgst.runs.run import Run
from drgst.selftrain.engine import self_train
from drgst.selftrain.history import History, Stage, result_stage
from drgst.selftrain.problem import Problem
from drgst.selftrain.recipe import AnyRecipe
from drgst.selftrain.slots.postprocess import Context, CrossFitted
from drgst.threads import limit_threads
from drgst.transforms.softmax import log_softmax_float32


@dataclass(frozen=True)
class InsideFolds(CrossFitted):
    """Cross-fitting that leaves the choices of the learner to each fold run."""

    def fold_recipe(self, context: Context) -> AnyRecipe:
        """With the learner as it is."""
        return super().fold_recipe(context).with_parts(learner=context.recipe.learner)

    def average(self, context: Context, runs: list[Stage]) -> tuple[np.ndarray, dict]:
        """Of the logits alone: fold runs may have different views."""
        labels = context.problem.graph.labels[context.problem.split.train]
        a = 1 / (1 + self.half_share * np.unique(labels).size / labels.size)
        z = (1 - a) * context.stage.final_logits + a * np.mean([stage.final_logits for stage in runs], axis=0)
        return log_softmax_float32(z), {}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", nargs="+", default=["cora", "citeseer"])
    parser.add_argument("--per-class", type=int, default=3)
    parser.add_argument("--draws", nargs="+", type=int, default=[*range(100, 105)])
    arguments = parser.parse_args()
    out = csv.writer(sys.stdout)
    out.writerow(("dataset", "draw", "weights", "labels", "oof_accuracy", "fold_accuracy", "accuracy", "temperature"))
    for data in arguments.datasets:
        for draw in arguments.draws:
            for row in compare(drgst.load(data), arguments.per_class, draw):
                out.writerow((data, draw, *row))
                sys.stdout.flush()


def compare(graph: drgst.Graph, per_class: int, draw: int) -> list[tuple]:
    """One row with the weights of the run and one with weights fitted inside each fold."""
    labels = graph.labels.copy()
    labels[drgst.public_split(graph).test] = -1
    graph = graph.with_(labels=labels, splits=())
    split = drgst.random_split(graph, per_class=per_class, val=0, test=0, seed=draw)
    run = Run.of(graph, RunConfig(recipe="drgst-plus", seed=0), split)
    known = np.setdiff1d(np.flatnonzero(labels >= 0), split.train)
    rows = []
    with limit_threads(1):
        plain = run.recipe.with_parts(postprocess=())
        history = self_train(run.problem, plain)
        for name, part in (("of the run", CrossFitted()), ("inside folds", InsideFolds())):
            right: list[float] = []

            def rerun(problem: Problem, recipe: AnyRecipe, history: History | None = None, right=right) -> History:
                found = self_train(problem, recipe, history=history)
                predicted = found.accepted[-1].final_logits[known].argmax(axis=1)
                right.append(float((predicted == labels[known]).mean()))
                return found

            stage = result_stage(history, run.problem.settings.keep)
            problem = replace(run.problem, graph_cache=run.problem.graph_cache)
            adjusted = part(stage.final_logits, Context(problem, plain, history, stage, rerun))
            learnt = adjusted.learnt
            oof = int(learnt["correct"][-1]) / int(learnt["labels"])
            result = float((adjusted.logits[known].argmax(axis=1) == labels[known]).mean())
            figures = (f"{v:.4f}" for v in (oof, np.mean(right), result, float(learnt["temperature"])))
            rows.append((name, int(learnt["labels"]), *figures))
    return rows


if __name__ == "__main__":
    main()
