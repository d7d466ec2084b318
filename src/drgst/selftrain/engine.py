"""The loop: Algorithm 1 of the paper, with its steps as exchangeable parts."""

from __future__ import annotations

import math
from dataclasses import replace

from drgst.selftrain.beliefs import Beliefs, PseudoLabels
from drgst.selftrain.callbacks import Callback
from drgst.selftrain.checks import check_pseudo_labels, check_weights
from drgst.selftrain.history import History, Stage
from drgst.selftrain.learners.network import Problem
from drgst.selftrain.recipe import Recipe
from drgst.selftrain.trainer import StageTrainer


def self_train(
    problem: Problem, recipe: Recipe, callback: Callback | None = None, history: History | None = None
) -> History:
    """Train a teacher on V_L, then stage by stage a student on V_L ∪ S_U that replaces it, until a part says stop.

    ``history`` goes on from the stages of an interrupted run and ends with the same bits: everything random in
    stage k is drawn from generators seeded with (seed, k, …), and nothing is carried but the stages themselves.
    """
    callback = callback or Callback()
    history = history or History()
    trainer = StageTrainer(problem, recipe, callback)
    if not len(history):  # line 1: train a teacher on V_L
        history = history.with_stage(trainer.teacher())
        callback.stage(history)
    while history[-1].accepted or recipe.alternatives:  # line 2: for each stage
        beliefs = believe(problem, history, recipe)
        pseudo = choose(recipe, beliefs, history)  # lines 3 and 4: S_U and its pseudo-labels
        reasons = (stop(history, pseudo) for stop in recipe.stop)
        reason = next((r for r in reasons if r is not None), None)
        if reason is not None:
            return finish(problem, recipe, history.ended(reason))
        weights = check_weights(recipe.weigh(beliefs, pseudo), beliefs, pseudo)  # line 5: information gain as weights
        stage = trainer.student(beliefs, pseudo, weights, history)  # lines 6 to 8: train, learn T, retrain
        history = history.with_stage(stage)  # line 9: the student is the next teacher, unless it collapsed
        callback.stage(history)
    return finish(problem, recipe, history.ended(history[-1].note))


def believe(problem: Problem, history: History, recipe: Recipe | None = None) -> Beliefs:
    """What the current teacher believes, calibrated where ``recipe`` says so."""
    recipe = recipe or Recipe()
    teacher = history[0] if recipe.alternatives else history.accepted[-1]
    seen = teacher.selection_logits if teacher.selection_logits is not None else teacher.logits
    return Beliefs(
        logits=seen if recipe.calibrate_last or teacher.calibrated is None else teacher.calibrated,
        graph=problem.graph,
        split=problem.split,
        stage=teacher.number,
        embedding=teacher.embedding,
        gain=teacher.all_gain,
        seed=problem.seed,
        next_stage=len(history),
        kept=teacher.pseudo if recipe.carry else PseudoLabels.empty(),
    )


def choose(recipe: Recipe, beliefs: Beliefs, history: History) -> PseudoLabels:
    """S_U from the pool and nowhere else, with what was trusted before where the recipe carries it."""
    pseudo = check_pseudo_labels(recipe.select(beliefs), beliefs)
    return history.accepted[-1].pseudo.union(pseudo) if recipe.carry else pseudo


def finish(problem: Problem, recipe: Recipe, history: History) -> History:
    """The history with the logits of its result finished, where the recipe has parts for that."""
    if not recipe.finish:
        return history
    result = result_stage(history, problem.settings.keep)
    logits = result.logits if result.calibrated is None else result.calibrated
    for part in recipe.finish:
        logits = part(logits, problem)
    return history.with_result(replace(result, finished=logits))


def result_stage(history: History, keep: str) -> Stage:
    """The stage whose network is the result: the last accepted one, or the accepted one of lowest validation loss.

    ``"best-student"``: the accepted student of highest validation accuracy, of equal ones that of lower loss.
    """
    accepted = history.accepted
    if keep == "last" or math.isnan(accepted[0].val_loss):
        return accepted[-1]
    if keep == "best-student":
        return max(accepted[1:] or accepted, key=lambda s: (s.val_accuracy, -s.val_loss))
    return min(accepted, key=lambda s: s.val_loss)
