"""Postprocess by cross-fitting: a temperature from training labels, where there are no validation labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from drgst.graph.core import Graph
from drgst.graph.split import Split
from drgst.selftrain.history import History
from drgst.selftrain.learners.multiview.crossfit import folds
from drgst.selftrain.learners.multiview.ensemble import MultiViewEnsemble
from drgst.selftrain.postprocess.base import Adjusted, Context, Postprocess
from drgst.selftrain.problem import Problem
from drgst.selftrain.recipe import AnyRecipe
from drgst.selftrain.stop.max_stages import MaxStages
from drgst.selftrain.stop.no_new_labels import NoNewLabels
from drgst.uncertainty.calibration import fit_temperature_with_prior


@dataclass(frozen=True)
class CrossFitted(Postprocess):
    """z' = z / T, T = :func:`~drgst.uncertainty.calibration.fit_temperature_with_prior` of out-of-fold training labels.

    The training nodes are split into three folds (two where a class has two labels). For each fold the whole loop runs
    once more without its labels, on the view that the run chose and with at most 1,000 pseudo-labels per training.
    Logits that were fitted to a label do not tell how often they are wrong elsewhere; out-of-fold logits do. The
    argmax stays. Nothing is done where a class has one label only, or, unless ``always``, where there are validation
    labels.
    """

    folds: int = 3
    max_pseudo_labels: int = 1_000
    always: bool = False

    def __call__(self, logits: np.ndarray, context: Context) -> Adjusted:
        problem = context.problem
        labels = problem.graph.labels[problem.split.train]
        counts = np.bincount(labels)
        if (problem.split.val.size and not self.always) or counts[counts > 0].min() < 2:
            return Adjusted(logits)
        stages = self.out_of_fold(context)
        correct = [int((z.argmax(axis=1) == labels).sum()) for z in stages]
        learnt = {
            "temperature": torch.tensor(fit_temperature_with_prior(stages[-1], labels)),
            "correct": torch.tensor(correct),
            "labels": torch.tensor(labels.size),
        }
        calibrated, known = (self.apply(learnt, z, problem.graph, "") for z in (logits, stages[-1]))
        return Adjusted(calibrated, learnt, describe(learnt), known)

    def apply(self, learnt: Mapping[str, Tensor], logits: np.ndarray, _graph: Graph, _device: str) -> np.ndarray:
        """z / T; z where nothing was learnt."""
        return (logits / learnt["temperature"].numpy()).astype(logits.dtype) if learnt else logits

    def out_of_fold(self, context: Context) -> list[np.ndarray]:
        """Logits of every training node after each stage, by the run without its fold, (M, C) each."""
        problem, last = context.problem, context.stage.number
        train = problem.split.train
        fold = folds(problem.graph.labels[train], self.folds)
        recipe = self.fold_recipe(context)
        out = [np.empty((train.size, problem.graph.num_classes)) for _ in range(last + 1)]
        for number in range(fold.max() + 1):
            problem.step("cross-fitting fold", number + 1, fold.max() + 1)
            inside = fold == number
            history = context.rerun(fold_problem(problem, inside), recipe)
            for stage, z in enumerate(out):
                z[inside] = History(history.stages[: stage + 1]).accepted[-1].final_logits[train[inside]]
        return out

    def fold_recipe(self, context: Context) -> AnyRecipe:
        """The recipe up to the stage of the result, on the view that the run chose, without postprocess parts."""
        learner = context.recipe.learner
        if isinstance(learner, MultiViewEnsemble):
            name = learner.choice(context.problem).name
            learner = replace(learner, view=name, max_pseudo_labels=self.max_pseudo_labels)
        stop = (NoNewLabels(), MaxStages(context.stage.number))
        return context.recipe.with_parts(learner=learner, stop=stop, postprocess=())


def fold_problem(problem: Problem, inside: np.ndarray) -> Problem:
    """The problem without the labels of the training nodes that are ``inside`` a fold, (M,); they join the pool."""
    split, hidden = problem.split, problem.split.train[inside]
    labels = problem.graph.labels.copy()
    labels[hidden] = -1
    empty = np.empty(0, dtype=np.int64)
    known = Split(split.train[~inside], split.val, empty, np.union1d(split.pool, hidden))
    return replace(problem, graph=problem.graph.with_(labels=labels), split=known)


def describe(learnt: Mapping[str, Tensor]) -> str:
    """``Out-of-fold accuracy 57 % (12 of 21 labels; by stage 48, 52, 57 %); temperature 1.10.``"""
    labels = int(learnt["labels"])
    shares = [f"{100 * int(count) / labels:.0f}" for count in learnt["correct"]]
    accuracy = f"{shares[-1]} % ({int(learnt['correct'][-1])} of {labels} labels; by stage {', '.join(shares)} %)"
    return f"Out-of-fold accuracy {accuracy}; temperature {float(learnt['temperature']):.2f}."
