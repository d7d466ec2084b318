"""One run for tuning: its validation accuracy and nothing else. No label of a test node is looked at."""

from __future__ import annotations

from typing import Any

from drgst.bench.execute import describe_error, graph_of, problem_of
from drgst.bench.task import Task
from drgst.recipes import find_recipe
from drgst.runs.metrics import accuracy
from drgst.selftrain.engine import result_stage, self_train


def validate(task: Task) -> dict[str, Any]:
    """``val_accuracy`` of the network that is the result, or ``error``.

    The problem's graph shows the labels of training and validation nodes alone, and it is all that is used.
    """
    try:
        problem, split = problem_of(task, graph_of(task))
        history = self_train(problem, find_recipe(task.recipe).make(problem.settings))
        guess = result_stage(history, problem.settings.keep).probabilities[split.val].argmax(axis=1)
        return {"val_accuracy": accuracy(guess, problem.graph.labels[split.val]), "error": None}
    except Exception as error:
        return {"val_accuracy": None, "error": describe_error(error)}
