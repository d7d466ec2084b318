"""The loop: Algorithm 1 of the paper, with its steps as exchangeable parts."""

from __future__ import annotations

from dataclasses import replace

from drgst.selftrain.beliefs import Beliefs
from drgst.selftrain.callbacks import Callback
from drgst.selftrain.checks import check_adjusted, check_pseudo_labels, check_weights
from drgst.selftrain.history import History, Stage, join_notes, result_stage
from drgst.selftrain.problem import Problem
from drgst.selftrain.recipe import POSTPROCESS, AnyRecipe, Recipe, prefixed
from drgst.selftrain.slots.postprocess import Context
from drgst.selftrain.trainer import StageTrainer


def self_train(
    problem: Problem, recipe: AnyRecipe, callback: Callback | None = None, history: History | None = None
) -> History:
    """Train a teacher on V_L, then stage by stage a student on V_L ∪ S_U that replaces it, until a part says stop.

    ``history`` continues from the stages of an interrupted run, with a bit-identical result: everything random in
    stage k is drawn from generators seeded with (seed, k, …), and only the stages themselves are carried over.
    """
    callback, history = callback or Callback(), history or History()
    if not isinstance(recipe, Recipe):
        return postprocess(problem, recipe, recipe.run(problem, callback, history))
    trainer = StageTrainer(problem, recipe, callback)
    history = history if len(history) else train_teacher(trainer)  # line 1: train a teacher on V_L
    while history[-1].accepted and not history.stop_reason:  # line 2: for each stage
        history = train_student(trainer, history.accepted[-1], history)  # lines 3 to 8
    return postprocess(problem, recipe, history.ended(history.stop_reason or history[-1].note))


def train_teacher(trainer: StageTrainer) -> History:
    """Line 1: a history with the teacher, trained on V_L."""
    history = History().with_stage(trainer.teacher())
    trainer.callback.stage(history)
    return history


def train_student(trainer: StageTrainer, teacher: Stage, history: History) -> History:
    """Lines 3 to 8: ``history`` with one stage more, or ended where a stop part gives a reason."""
    recipe = trainer.recipe
    beliefs = believe(trainer.problem, teacher, len(history))
    pseudo = check_pseudo_labels(recipe.select(beliefs), beliefs)  # lines 3 and 4: S_U and its pseudo-labels
    reasons = (stop(history, pseudo) for stop in recipe.stop)
    reason = next((r for r in reasons if r is not None), None)
    if reason is not None:
        return history.ended(reason)
    weights = check_weights(recipe.weigh(beliefs, pseudo), beliefs, pseudo)  # line 5: information gain as weights
    history = history.with_stage(trainer.student(beliefs, pseudo, weights, history))  # lines 6 to 8: train, T, retrain
    trainer.callback.stage(history)
    return history


def believe(problem: Problem, teacher: Stage, next_stage: int) -> Beliefs:
    """What ``teacher`` predicts, calibrated where the recipe calibrates, and what is known for the next stage."""
    own = teacher.logits if teacher.selection_logits is None else teacher.selection_logits
    return Beliefs(
        logits=own if teacher.calibrated is None else teacher.calibrated,
        graph=problem.graph,
        split=problem.split,
        stage=teacher.number,
        embedding=teacher.embedding,
        gain=teacher.all_gain,
        seed=problem.seed,
        next_stage=next_stage,
        previous=teacher.pseudo_labels,
    )


def postprocess(problem: Problem, recipe: AnyRecipe, history: History) -> History:
    """The history with the logits of its result after the recipe's postprocess parts."""
    stage = result_stage(history, problem.settings.keep)
    for place, part in enumerate(recipe.postprocess):
        context = Context(problem, recipe, history, stage, self_train)
        adjusted = check_adjusted(part(stage.final_logits, context), stage.final_logits)
        state = {**stage.state, **adjusted.state, **prefixed(POSTPROCESS.format(place), adjusted.learnt)}
        note = join_notes(stage.note, adjusted.note)
        out_of_fold = stage.out_of_fold if adjusted.out_of_fold is None else adjusted.out_of_fold
        stage = replace(stage, postprocessed=adjusted.logits, state=state, note=note, out_of_fold=out_of_fold)
    return history.with_result(stage)
