"""Honest confidence without validation labels: every training label is best_log_probs by a run that had not seen it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import torch

from drgst.graph.core import Graph
from drgst.graph.split import Split
from drgst.selftrain.calibrate.base import Identity, Learnt
from drgst.selftrain.history import History
from drgst.selftrain.learners.multiview.crossfit import folds
from drgst.selftrain.learners.multiview.ensemble import MultiViewEnsemble
from drgst.selftrain.postprocess.base import Adjusted, Context, Postprocess
from drgst.selftrain.problem import Problem
from drgst.selftrain.recipe import AnyRecipe, Recipe
from drgst.selftrain.stop.max_stages import MaxStages
from drgst.selftrain.stop.no_new_labels import NoNewLabels
from drgst.uncertainty.calibration import fit_temperature_with_prior


@dataclass(frozen=True)
class CrossFitted(Postprocess):
    """z' = z / T, T = argmin of the cross-entropy of training labels that a run had not seen: keeps every argmax.

    The training nodes are dealt into three folds (two where a class has two labels); for each the whole loop runs once
    more, stage by stage beside the run itself and with the view that it chose, without the labels of the fold. What was
    fitted to a label can't say how often it is wrong elsewhere; these runs can. T is thought to be near 1
    (:func:`~drgst.uncertainty.calibration.fit_temperature_with_prior`), as labels are few. These runs use 1,000
    pseudo-labels at most. Nothing is done where there are validation labels, which tell more, or where a class
    has one label alone.
    """

    folds: int = 3
    most: int = 1_000
    recipe: AnyRecipe | None = field(default=None, repr=False)  # the loop; the run's own, see :meth:`bound`

    def __call__(self, logits: np.ndarray, context: Context) -> Adjusted:
        part, problem = self.bound(context.recipe), context.problem
        learnt = part.fit(logits, problem, context.stage.number)
        if learnt is None:
            return Adjusted(logits)
        return Adjusted(part.apply(learnt, logits, problem.graph, "cpu"), learnt, part.words(learnt))

    def bound(self, recipe: AnyRecipe) -> CrossFitted:
        """This part, to rehearse ``recipe``: all that it does up to the logits of a student."""
        return replace(self, recipe=recipe.with_parts(calibrate=Identity(), postprocess=()))

    def fit(self, _logits: np.ndarray, problem: Problem, stage: int) -> Learnt | None:
        """T, how many labels were left out, and how many of them were found again."""
        train, labels = problem.split.train, problem.graph.labels[problem.split.train]
        counts = np.bincount(labels)
        if self.recipe is None or problem.split.val.size or counts[counts > 0].min() < 2:
            REHEARSALS.forget()
            return None
        z = REHEARSALS.best_log_probs(problem, self, stage)
        found = (z.argmax(axis=1) == labels).sum()
        learnt = (fit_temperature_with_prior(z, labels), int(train.size), int(found))
        return {
            name: torch.tensor(value) for name, value in zip(("temperature", "asked", "found"), learnt, strict=True)
        }

    def apply(self, learnt: Learnt, logits: np.ndarray, _graph: Graph, _device: str) -> np.ndarray:
        """z / T."""
        return logits if not learnt else (logits / learnt["temperature"].numpy()).astype(logits.dtype)

    def words(self, learnt: Learnt) -> str:
        """What the folds said."""
        asked, found = int(learnt["asked"]), int(learnt["found"])
        return f"Left out, {found} of {asked} known labels were found again; temperature {learnt['temperature']:.2f}."

    def loop(self, problem: Problem, stage: int) -> AnyRecipe:
        """The recipe up to ``stage``, with the view that the run itself chose and fewer pseudo-labels."""
        recipe = self.recipe or Recipe()
        learner = recipe.learner
        if isinstance(learner, MultiViewEnsemble):
            learner = replace(learner, view=learner.panel(problem).name, most=self.most)
        return recipe.with_parts(learner=learner, stop=(NoNewLabels(), MaxStages(stage)))


def fold_problem(problem: Problem, fold: np.ndarray, number: int) -> Problem:
    """The problem without the labels of one fold, whose nodes are in the pool."""
    split, hidden = problem.split, problem.split.train[fold == number]
    labels = problem.graph.labels.copy()
    labels[hidden] = -1
    empty = np.empty(0, dtype=np.int64)
    known = Split(split.train[fold != number], empty, empty, np.union1d(split.pool, hidden))
    return Problem(problem.graph.with_(labels=labels), known, problem.settings, problem.seed)


class Rehearsals:
    """Keeps the runs without a fold of the last problem, so that each stage adds one stage to each."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Let go of what was kept."""
        self._asked: tuple[Problem, CrossFitted] | None = None
        self._fold = np.empty(0, dtype=np.int64)
        self._runs: list[tuple[Problem, History]] = []

    def best_log_probs(self, problem: Problem, part: CrossFitted, stage: int) -> np.ndarray:
        """Logits of every training node after so many stages by the run that did not see its label, (M, C)."""
        from drgst.selftrain.engine import self_train

        train = problem.split.train
        fold, runs = self._fold, self._runs
        if self._asked != (problem, part) or any(len(history) > stage for _, history in runs):
            fold = folds(problem.graph.labels[train], part.folds)
            runs = [(fold_problem(problem, fold, number), History()) for number in range(fold.max() + 1)]
        loop = part.loop(problem, stage)
        runs = [(known, _light(self_train(known, loop, history=history))) for known, history in runs]
        out = np.empty((train.size, problem.graph.num_classes))
        for number, (_, history) in enumerate(runs):
            out[fold == number] = history.accepted[-1].logits[train[fold == number]]
        self._asked, self._fold, self._runs = (problem, part), fold, runs
        return out


def _light(history: History) -> History:
    """Without the arrays of stages that no later stage looks at: a large graph has no room for them."""
    needed = {history.accepted[-1].number}
    none = np.empty((0, 0), dtype=np.float32)
    stages = tuple(
        s
        if s.number in needed
        else replace(s, embedding=none, logits=none, all_gain=none.ravel(), selection_logits=None, state={})
        for s in history.stages
    )
    return History(stages, "", history.seconds)


REHEARSALS = Rehearsals()
