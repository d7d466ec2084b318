"""Postprocess: what is done to the predictions of the result. No part of the loop sees it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from drgst.graph.core import Graph
from drgst.graph.split import Split
from drgst.nn.records import State
from drgst.selftrain.history import History, Stage, join_notes
from drgst.selftrain.learners.base import CrossFits
from drgst.selftrain.problem import FEWEST_MEASURED, Problem
from drgst.selftrain.slots.calibrate import Calibrate
from drgst.selftrain.slots.stop import MaxStages, NoNewLabels
from drgst.selftrain.views.stacking import folds
from drgst.transforms.propagate import propagate, sym_norm_without_loops
from drgst.transforms.softmax import log_softmax_float32, softmax
from drgst.uncertainty.calibration import fit_temperature_with_prior, log_loss
from drgst.uncertainty.class_prior import class_shares, fit_temperature_under_prior, parse_shares, prior_shift

if TYPE_CHECKING:
    from drgst.selftrain.recipe import AnyRecipe


@dataclass(frozen=True, eq=False)
class Context:
    """The run that a postprocess part is called for."""

    problem: Problem
    recipe: AnyRecipe
    history: History
    stage: Stage  # the result
    rerun: Callable[[Problem, AnyRecipe], History] = field(repr=False)  # the engine, to run a recipe again


@dataclass(frozen=True, eq=False)
class Adjusted:
    """The logits that a postprocess part gives, what it learnt, and a sentence on it for the stage's note."""

    logits: np.ndarray  # (N, C)
    learnt: State = field(default_factory=dict)
    note: str = ""
    out_of_fold: np.ndarray | None = None  # (M, C) logits of the training nodes by runs without their labels, or NaN
    state: State = field(default_factory=dict)  # arrays that replace those of the learner


class Postprocess(ABC):
    """(logits of the result, Context) -> Adjusted. A plain function may give the logits alone."""

    @abstractmethod
    def __call__(self, logits: np.ndarray, context: Context, /) -> Adjusted:
        """The logits of the fitted graph, (N, C)."""

    def apply(self, _learnt: State, logits: np.ndarray, _graph: Graph, _device: str, /) -> np.ndarray:
        """The logits of another graph, by what was learnt; unchanged where the part works on one graph only."""
        return logits


@dataclass(frozen=True)
class Calibrated(Postprocess):
    """z' = ``calibrate``, fitted to the logits of the result alone."""

    calibrate: Calibrate

    def __call__(self, logits: np.ndarray, context: Context) -> Adjusted:
        problem, part = context.problem, self.calibrate
        learnt = part.fit(logits, problem, context.stage.number)
        if learnt is None:
            return Adjusted(logits)
        adjusted = part.apply(learnt, logits, problem.graph, problem.settings.device)
        return Adjusted(adjusted, learnt)

    def apply(self, learnt: State, logits: np.ndarray, graph: Graph, device: str) -> np.ndarray:
        return self.calibrate.apply(learnt, logits, graph, device) if learnt else logits


def corrected(p: np.ndarray, s: sp.csr_array, nodes: np.ndarray, truth: np.ndarray, alpha: float) -> np.ndarray:
    """p_u + σ Ê_u / ‖Ê_u‖₁: Ê propagates the errors E = Y - p of the labelled nodes, σ their mean ‖·‖₁ (autoscale)."""
    error = np.zeros_like(p)
    error[nodes] = truth - p[nodes]
    scale = np.abs(error[nodes]).sum(axis=1).mean()
    reach = propagate(s, error, alpha, 50)
    length = np.abs(reach).sum(axis=1, keepdims=True)
    return p + scale * np.divide(reach, length, out=np.zeros_like(reach), where=length > 0)


@dataclass(frozen=True)
class CorrectAndSmooth(Postprocess):
    """Correct: p + σ Ê/‖Ê‖₁; then smooth: G = the truth on V_L, the corrected p elsewhere, propagated by S = D^-½AD^-½.

    Huang et al., Combining Label Propagation and Simple Models, ICLR 2021, with its autoscale and 50 rounds each
    of Gᵗ⁺¹ = (1-α) G⁰ + α S Gᵗ. Only training labels are used, as in the paper's first variant. Entries below 0 count
    as 0 and rows are made to sum to 1 again; a node without neighbours keeps its corrected p. It is for one graph only.
    """

    correct_alpha: float = 0.8
    smooth_alpha: float = 0.8

    def __call__(self, logits: np.ndarray, context: Context) -> Adjusted:
        problem = context.problem
        s = sym_norm_without_loops(problem.graph.adjacency).astype(np.float64)
        nodes = problem.split.train
        truth = np.eye(logits.shape[1])[problem.graph.labels[nodes]]
        p = corrected(softmax(logits), s, nodes, truth, self.correct_alpha)
        p[nodes] = truth
        smooth = np.maximum(propagate(s, p, self.smooth_alpha, 50), 1e-12)
        return Adjusted(np.log(smooth / smooth.sum(axis=1, keepdims=True)))


@dataclass(frozen=True)
class ClassPrior(Postprocess):
    """z' = z / T + b, with the b of :func:`~drgst.uncertainty.class_prior.prior_shift` over the unlabelled nodes.

    The mean probability of each stated class over the unlabelled nodes is then its share; the other classes keep their
    odds among each other. Few labels are often drawn in equal numbers per class: probabilities that were fitted to them
    overstate rare classes. T is that of :func:`~drgst.uncertainty.class_prior.fit_temperature_under_prior` where there
    are out-of-fold logits, otherwise 1.
    """

    shares: str  # as in fraud=0.02, ok=0.98; all classes or some

    def __call__(self, logits: np.ndarray, context: Context) -> Adjusted:
        graph, split = context.problem.graph, context.problem.split
        shares = class_shares(parse_shares(self.shares), graph.class_names)
        rest = np.setdiff1d(np.arange(graph.num_nodes), np.union1d(split.train, split.val))
        rest = rest if rest.size else np.arange(graph.num_nodes)
        own = softmax(logits[rest]).mean(axis=0)
        temperature = 1.0
        if context.stage.out_of_fold is not None:
            held_out = context.stage.out_of_fold, graph.labels[split.train]
            temperature = fit_temperature_under_prior(logits[rest], shares, *held_out)
        shift = prior_shift(logits[rest] / temperature, shares)
        learnt = {"temperature": np.array(temperature, dtype=np.float32), "shift": shift}
        known = np.flatnonzero(np.isfinite(shares)).tolist()
        stated = [f"{graph.class_names[c]} {shares[c]:.3g} (without it {own[c]:.3g})" for c in known]
        note = f"Class prior of the unlabelled nodes: {', '.join(stated)}; temperature under it {temperature:.2f}."
        return Adjusted(self.apply(learnt, logits, graph, ""), learnt, note)

    def apply(self, learnt: State, logits: np.ndarray, _graph: Graph, _device: str) -> np.ndarray:
        return (logits / learnt["temperature"] + learnt["shift"]).astype(logits.dtype)


@dataclass(frozen=True)
class CrossFitted(Postprocess):
    """z' = z̄ / T, T = :func:`~drgst.uncertainty.calibration.fit_temperature_with_prior` of out-of-fold training labels.

    The training nodes are split into three folds. For each fold the whole loop runs once more without its labels, with
    the choices that the learner made for the run. Logits that were fitted to a label do not tell how often they are
    wrong elsewhere; out-of-fold logits do. z̄ = z, or the :meth:`average` with the fold runs where the learner can
    average what it has learnt (:class:`~drgst.selftrain.learners.base.CrossFits`), of the stage that is :meth:`kept`.
    Nothing is done where every class has one label only, or, unless ``always``, where there are validation labels.
    """

    folds: int = 3
    always: bool = False
    half_share: float = 10.0  # labels per class at which fold runs have half of the average: experiment 021
    least: float = 0.25  # evidence of a teacher whose stages are the result in any case: experiment 041
    certain: float = 4.0  # labels, predicted without doubt, that are added to the evidence, for few labels: the same

    def __call__(self, logits: np.ndarray, context: Context) -> Adjusted:
        problem = context.problem
        labels = problem.graph.labels[problem.split.train]
        fold = folds(labels, self.folds)
        if problem.split.val.size and not self.always:
            return Adjusted(logits)
        if fold.max() < 0:
            return Adjusted(logits, note="No class has two labels to hold one out: the probabilities are unchecked.")
        recipe = self.fold_recipe(context)
        stages = np.zeros((context.stage.number + 1, labels.size, problem.graph.num_classes), dtype=np.float32)
        runs = []  # the teacher and the last stage: all would take as much memory as those of the result
        for number in range(fold.max() + 1):
            problem.step("cross-fitting fold", number + 1, fold.max() + 1)
            inside = fold == number
            run = context.rerun(fold_problem(problem, inside), recipe)
            stages[:, inside] = out_of_fold(run, problem.split.train[inside], len(stages))
            runs.append((replace(run.accepted[0], selection_logits=None), run.accepted[-1]))
            del run
        known = fold >= 0
        sample = known & problem.train_sampled
        sample = sample if sample.any() else known
        note = ""
        state: State = {}
        if isinstance(context.recipe.learner, CrossFits):
            place, note = self.kept(stages[:, sample], labels[sample])
            stages = stages if place else stages[:1]
            context = replace(context, stage=context.stage if place else context.history.accepted[0])
            logits, state = self.average(context, [run[place] for run in runs])
        correct = [int((z.argmax(axis=1) == labels)[sample].sum()) for z in stages]
        temperature = fit_temperature_with_prior(stages[-1][sample], labels[sample])
        learnt: State = {
            "temperature": np.array(temperature, dtype=np.float32),
            "correct": np.array(correct, dtype=np.int64),
            "labels": np.array(sample.sum(), dtype=np.int64),
        }
        calibrated, held_out = (self.apply(learnt, z, problem.graph, "") for z in (logits, stages[-1]))
        held_out[~known] = np.nan
        words = describe(learnt, problem.graph.num_classes, int((~known).sum()), few=problem.few_sampled)
        return Adjusted(calibrated, learnt, join_notes(words, note), held_out, state)

    def kept(self, stages: np.ndarray, labels: np.ndarray) -> tuple[int, str]:
        """-1, the last stage, or 0, the teacher, with a sentence on it; ``stages`` are out-of-fold logits, (S, M, C).

        The teacher where (M E₀ + 4) / (M + 4) < ¼ and E < E₀ for the :func:`evidence` E₀ of the teacher and E of the
        last stage: pseudo-labels of a teacher that hardly predicts better than chance may add to its errors.
        """
        first, last = evidence(stages[0], labels), evidence(stages[-1], labels)
        shrunk = (labels.size * first + self.certain) / (labels.size + self.certain)
        if shrunk >= self.least or last >= first:
            return -1, ""
        return 0, (
            "Held-out labels are predicted hardly better than by chance, and worse after self-training, so the result "
            f"is the teacher (doubt removed: {max(first, 0):.0%}, after self-training {max(last, 0):.0%})."
        )

    def average(self, context: Context, runs: list[Stage]) -> tuple[np.ndarray, State]:
        """(1 - a) z + a mean_k z_k, a = n / (n + 10) for n labels per class; and what the learner averages likewise.

        A fold run lacks a third of the labels, which costs it more than the average brings where labels are very few.
        """
        own, learner = context.stage, context.recipe.learner
        assert isinstance(learner, CrossFits)
        labels = context.problem.graph.labels[context.problem.split.train]
        per_class = labels.size / np.unique(labels).size
        a = per_class / (per_class + self.half_share)
        z = (1 - a) * own.final_logits + a * np.mean([stage.final_logits for stage in runs], axis=0)
        return log_softmax_float32(z), learner.average(own.state, [stage.state for stage in runs], a)

    def apply(self, learnt: State, logits: np.ndarray, _graph: Graph, _device: str) -> np.ndarray:
        """z / T; z where nothing was learnt."""
        return (logits / learnt["temperature"]).astype(logits.dtype) if learnt else logits

    def fold_recipe(self, context: Context) -> AnyRecipe:
        """The recipe up to the stage of the result, with the choices of its learner, without postprocess parts."""
        learner = context.recipe.learner
        learner = learner.with_choices(context.problem) if isinstance(learner, CrossFits) else learner
        stop = (NoNewLabels(), MaxStages(context.stage.number))
        return context.recipe.with_parts(learner=learner, stop=stop, postprocess=())


def evidence(logits: np.ndarray, labels: np.ndarray) -> float:
    """E = 1 - loss / log C, loss = 1/M Σ_i -log softmax(z_i / T)_{y_i}: how much doubt (M, C) ``logits`` remove.

    1 where they leave no doubt about the (M,) ``labels``, 0 where they are no better than a guess among C classes. T is
    that of :func:`~drgst.uncertainty.calibration.fit_temperature_with_prior`.
    """
    temperature = fit_temperature_with_prior(logits, labels)
    return 1 - log_loss(logits / temperature, labels) / float(np.log(logits.shape[1]))


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


def describe(learnt: State, classes: int, alone: int = 0, few: bool = False) -> str:
    """``Out-of-fold accuracy 57 % (12 of 21 labels; by stage 48, 52, 57 %); temperature 1.10.``

    With a warning where no more than 1 in C labels is predicted right, C = ``classes``. ``alone``: how many labels were
    never held out; ``few``: whether too few labels are a sample to measure the accuracy.
    """
    labels = int(learnt["labels"])
    shares = [f"{100 * int(count) / labels:.0f}" for count in learnt["correct"]]
    accuracy = f"{shares[-1]} % ({int(learnt['correct'][-1])} of {labels} labels; by stage {', '.join(shares)} %)"
    accuracy += never_held_out(alone)
    accuracy += f", which can be far too high: fewer than {FEWEST_MEASURED} labels are a random sample" if few else ""
    chance = (
        " That is no better than chance: do not rely on the result without more labels or other features."
        if learnt["correct"][-1] * classes <= labels
        else ""
    )
    return f"Out-of-fold accuracy {accuracy}; temperature {float(learnt['temperature']):.2f}.{chance}"


def never_held_out(alone: int) -> str:
    """``; 1 label, the only one of its class, was never held out``, or "" where every label was."""
    who = (
        "1 label, the only one of its class, was" if alone == 1 else f"{alone:,} labels, each alone in its class, were"
    )
    return f"; {who} never held out" if alone else ""
