"""One run for tuning: its validation accuracy and nothing else. No label of a test node is read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from drgst.lab.grid.execute import describe_error, task_run
from drgst.lab.grid.task import Task


def validate(task: Task) -> dict[str, Any]:
    """``val_accuracy`` of the result, or ``error``.

    The labels of all but training and validation nodes are hidden from the metrics, too.
    """
    try:
        run = task_run(task)
        result = replace(run, graph=run.problem.graph).execute()
        return {"val_accuracy": result.metrics["val_accuracy"], "error": None}
    except Exception as error:
        return {"val_accuracy": None, "error": describe_error(error)}
