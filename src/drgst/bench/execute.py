"""One run of the bench, from a task to a row of the store. This is what workers do."""

from __future__ import annotations

import json
import math
import time
import traceback
from datetime import UTC, datetime
from functools import cache, lru_cache
from typing import Any, cast

from drgst.bench.schema import COLUMNS
from drgst.bench.task import Task
from drgst.errors import DrgstError, RunError
from drgst.graph.core import Graph
from drgst.graph.datasets.synthetic import block_model
from drgst.graph.io.open import open_graph
from drgst.graph.split import Pool, Split
from drgst.graph.splits import random_split
from drgst.recipes import find_recipe
from drgst.runs.fingerprint import data_fingerprint, split_fingerprint
from drgst.runs.memory import peak_mb, restart_peak
from drgst.runs.metrics import accuracy, brier_score, calibration_error, macro_f1
from drgst.runs.protocol import Validation, draw
from drgst.runs.stage_metrics import stage_rows
from drgst.selftrain.engine import result_stage, self_train
from drgst.selftrain.history import History, Stage
from drgst.selftrain.learners.network import Problem
from drgst.selftrain.settings import Settings

Row = dict[str, Any]


def execute(task: Task, graph: Graph | None = None) -> Row:
    """The row of ``task``; whatever goes wrong becomes a row with its error, never an exception."""
    try:
        return {**blank(task), **_figures(task, graph_of(task) if graph is None else graph)}
    except Exception as error:
        return failed(task, describe_error(error))


@cache
def warm_up() -> None:
    """A tiny run, once a process, so that what torch imports late is not part of the first run's seconds."""
    graph = block_model(60, 120, seed=0, classes=2, features=20, words=4)
    split = random_split(graph, per_class=3, val=6, test=6, seed=0)
    settings = Settings(epochs=2, samples=2)
    self_train(Problem.of(graph, split, settings), find_recipe("drgst-de").make(settings))


def blank(task: Task) -> Row:
    """The row of a run before it has begun."""
    told = {name: getattr(task, name) for name in COLUMNS if hasattr(task, name)}
    row = {**dict.fromkeys(COLUMNS), **told, "settings": json.dumps(dict(task.settings))}
    return {**row, "created": datetime.now(UTC).isoformat(timespec="seconds")}


def failed(task: Task, error: str) -> Row:
    """The row of a run that did not end well."""
    return {**blank(task), "error": error}


def problem_of(task: Task, graph: Graph) -> tuple[Problem, Split]:
    """What the run may know, and its split."""
    split = draw(graph, task.per_class, task.draw, cast(Pool, task.pool), cast(Validation, task.validation))
    return Problem.of(graph, split, Settings().updated(task.settings), task.seed), split


def figures(history: History, stage: Stage, graph: Graph, split: Split) -> Row:
    """What the truth says of the network that is the result, on test nodes, and of its teacher."""
    truth, p, teacher = graph.labels[split.test], stage.probabilities[split.test], history[0]
    before, val = teacher.probabilities[split.test], graph.labels[split.val]
    found = {
        "test_accuracy": accuracy(p.argmax(axis=1), truth),
        "teacher_test_accuracy": accuracy(before.argmax(axis=1), truth),
        "macro_f1": macro_f1(p.argmax(axis=1), truth, graph.num_classes),
        "ece": calibration_error(p, truth),
        "brier": brier_score(p, truth),
        "teacher_ece": calibration_error(before, truth),
        "val_accuracy": accuracy(stage.probabilities[split.val].argmax(axis=1), val),
        "teacher_val_accuracy": accuracy(teacher.probabilities[split.val].argmax(axis=1), val),
    }
    return {name: round(value, 6) if math.isfinite(value) else None for name, value in found.items()}


def _figures(task: Task, graph: Graph) -> Row:
    problem, split = problem_of(task, graph)
    if split_fingerprint(graph, split) != task.split_sha256:
        raise RunError(f"the labels or the split of {task.source} have changed since the bench began")
    recipe = find_recipe(task.recipe).make(problem.settings)
    restart_peak()
    began = time.perf_counter()
    history = self_train(problem, recipe)
    seconds = time.perf_counter() - began
    stage = result_stage(history, problem.settings.keep)
    return {
        **figures(history, stage, graph, split),
        "stages": len(history) - 1,
        "result_stage": stage.number,
        "epochs": sum(s.epochs for s in history.stages),
        "seconds": round(seconds, 4),
        "peak_memory_mb": peak_mb(),
        "stop_reason": history.stop_reason,
        "stage_rows": json.dumps(stage_rows(history, graph, split)),
    }


def graph_of(task: Task) -> Graph:
    """The graph of a task, opened once for all runs of a process; refused where it is no longer the same."""
    graph, found = _opened(task.source, task.root)
    if found != task.data_sha256:
        raise RunError(f"the contents of {task.source} have changed since the bench began")
    return graph


@lru_cache(maxsize=4)
def _opened(source: str, root: str | None) -> tuple[Graph, str]:
    """A worker opens a graph once for all its runs."""
    graph = open_graph(source, root)
    return graph, data_fingerprint(graph)


def describe_error(error: Exception) -> str:
    """``TrainingError: the loss is not a number``; of what drgst did not foresee, also where."""
    words = f"{type(error).__name__}: {' '.join(str(error).split())}"
    if isinstance(error, DrgstError):
        return words
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{words} (at {place.filename}:{place.lineno})"
