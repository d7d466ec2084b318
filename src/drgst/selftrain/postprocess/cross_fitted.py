"""Postprocess by cross-fitting: out-of-fold accuracy, a temperature from training labels, and averaged fold runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from drgst.graph.core import Graph
from drgst.graph.split import Split
from drgst.selftrain.history import History, Stage
from drgst.selftrain.learners.multiview.ensemble import MultiViewEnsemble
from drgst.selftrain.learners.multiview.stacking import folds
from drgst.selftrain.postprocess.base import Adjusted, Context, Postprocess
from drgst.selftrain.problem import Problem
from drgst.selftrain.recipe import AnyRecipe
from drgst.selftrain.slots.stop import MaxStages, NoNewLabels
from drgst.transforms.softmax import log_softmax_float32
from drgst.uncertainty.calibration import fit_temperature_with_prior


@dataclass(frozen=True)
class CrossFitted(Postprocess):
    """z' = z̄ / T, T = :func:`~drgst.uncertainty.calibration.fit_temperature_with_prior` of out-of-fold training labels.

    The training nodes are split into three folds. For each fold the whole loop runs once more without its labels, with
    the view weights of the run. Logits that were fitted to a label do not tell how often they are wrong elsewhere;
    out-of-fold logits do. z̄ = z, or the :meth:`average` with the fold
    runs, where the learner is a multi-view ensemble. Nothing is done where every class has one label only, or, unless
    ``always``, where there are validation labels.
    """

    folds: int = 3
    always: bool = False
    half_share: float = 10.0  # labels per class at which fold runs have half of the average: experiment 021

    def __call__(self, logits: np.ndarray, context: Context) -> Adjusted:
        problem = context.problem
        labels = problem.graph.labels[problem.split.train]
        fold = folds(labels, self.folds)
        if (problem.split.val.size and not self.always) or fold.max() < 0:
            return Adjusted(logits)
        recipe = self.fold_recipe(context)
        stages = np.zeros((context.stage.number + 1, labels.size, problem.graph.num_classes), dtype=np.float32)
        last = []  # of a run, one stage is kept: the others would take as much memory as all stages of the result
        for number in range(fold.max() + 1):
            problem.step("cross-fitting fold", number + 1, fold.max() + 1)
            inside = fold == number
            run = context.rerun(fold_problem(problem, inside), recipe)
            stages[:, inside] = out_of_fold(run, problem.split.train[inside], len(stages))
            last.append(run.accepted[-1])
            del run
        known = fold >= 0
        sample = known & problem.train_sampled
        sample = sample if sample.any() else known
        correct = [int((z.argmax(axis=1) == labels)[known].sum()) for z in stages]
        learnt = {
            "temperature": torch.tensor(fit_temperature_with_prior(stages[-1][sample], labels[sample])),
            "correct": torch.tensor(correct),
            "labels": torch.tensor(int(known.sum())),
        }
        state: dict[str, Tensor] = {}
        if isinstance(context.recipe.learner, MultiViewEnsemble):
            logits, state = self.average(context.stage, last, labels)
        calibrated, held_out = (self.apply(learnt, z, problem.graph, "") for z in (logits, stages[-1]))
        held_out[~known] = np.nan
        return Adjusted(calibrated, learnt, describe(learnt), held_out, state)

    def average(self, own: Stage, others: list[Stage], labels: np.ndarray) -> tuple[np.ndarray, dict[str, Tensor]]:
        """(1 - a) z + a mean_k z_k, a = n / (n + 10) for n labels per class; and the same average of every W and b.

        z is linear in W and b but for a constant per node. A fold run lacks a third of the labels, which costs it more
        than the average brings where labels are very few.
        """
        per_class = labels.size / np.unique(labels).size
        a = per_class / (per_class + self.half_share)
        z = (1 - a) * own.final_logits + a * np.mean([stage.final_logits for stage in others], axis=0)
        names = [name for name in own.state if name.endswith((".weight", ".bias"))]
        each = {name: torch.stack([stage.state[name] for stage in others]).mean(dim=0) for name in names}
        return log_softmax_float32(z), {n: (1 - a) * own.state[n] + a * each[n] for n in names}

    def apply(self, learnt: Mapping[str, Tensor], logits: np.ndarray, _graph: Graph, _device: str) -> np.ndarray:
        """z / T; z where nothing was learnt."""
        return (logits / learnt["temperature"].numpy()).astype(logits.dtype) if learnt else logits

    def fold_recipe(self, context: Context) -> AnyRecipe:
        """The recipe up to the stage of the result, with the view weights of the run, without postprocess parts."""
        learner = context.recipe.learner
        if isinstance(learner, MultiViewEnsemble):
            weights = tuple(learner.view_weights(context.problem).items())
            learner = replace(learner, weights=weights)
        stop = (NoNewLabels(), MaxStages(context.stage.number))
        return context.recipe.with_parts(learner=learner, stop=stop, postprocess=())


def out_of_fold(run: History, nodes: np.ndarray, stages: int) -> np.ndarray:
    """Logits of ``nodes``, whose labels ``run`` lacked, after each stage, (stages, M, C)."""
    accepted = [History(run.stages[: number + 1]).accepted[-1] for number in range(stages)]
    return np.stack([stage.final_logits[nodes] for stage in accepted])


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
