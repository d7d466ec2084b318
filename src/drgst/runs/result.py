"""What is left of a run when it has ended: figures, predictions, rows of history."""

from __future__ import annotations

import csv
import io
import math
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from drgst.graph.core import Graph
from drgst.recipes.presets import labels_per_class
from drgst.runs.metrics import accuracy
from drgst.runs.model import Model
from drgst.runs.plan import Plan
from drgst.runs.stage_metrics import stage_rows
from drgst.selftrain.engine import result_stage
from drgst.selftrain.history import History, Stage

HEADER = ("id", "label", "confidence", "gain", "stage")


@dataclass(frozen=True, eq=False)
class Outcome:
    """A plan and the history it led to."""

    plan: Plan
    history: History

    @property
    def result(self) -> Stage:
        """The stage whose network is the result."""
        return result_stage(self.history, self.plan.problem.settings.keep)

    def summary(self) -> dict[str, Any]:
        """The figures of the run, for ``summary.json`` and ``--json``; None where a figure does not exist."""
        plan, history, result, teacher = self.plan, self.history, self.result, self.history[0]
        config, train = plan.config, plan.split.train
        return {
            "dataset": plan.graph.name,
            "recipe": config.recipe,
            "per_class": config.per_class or labels_per_class(plan.graph.labels[train]),
            "seed": config.seed,
            "teacher_test_accuracy": self._accuracy(teacher, plan.split.test),
            "test_accuracy": self._accuracy(result, plan.split.test),
            "teacher_val_accuracy": self._accuracy(teacher, plan.split.val),
            "val_accuracy": self._accuracy(result, plan.split.val),
            "stages": len(history) - 1,
            "result_stage": result.number,
            "stop_reason": history.stop_reason,
            "seconds": round(history.seconds, 3),
            "epochs": sum(s.epochs for s in history.stages),
            "peak_memory_mb": peak_memory_mb(),
            "sizes": {part: int(getattr(plan.split, part).size) for part in ("train", "val", "test", "pool")},
            "versions": dict(config.versions),
        }

    def rows(self) -> list[dict[str, Any]]:
        """A dict a stage: its summary, the verdict of the truth, T, and every training with its curves."""
        rows = stage_rows(self.history, self.plan.graph, self.plan.split)
        return [{**row, **_details(stage)} for row, stage in zip(rows, self.history.stages, strict=True)]

    def predictions_csv(self) -> str:
        """``id,label,confidence,gain,stage``, a line a node: stage 0 is a training node, -1 never trusted."""
        stage, graph = self.result, self.plan.graph
        entered = self.history.entered(graph.num_nodes, self.plan.split.train)
        return predictions_csv(graph, graph.class_names, stage.probabilities, stage.all_gain, entered)

    def model(self) -> Model:
        """The network that is the result."""
        plan, graph = self.plan, self.plan.graph
        state, settings = dict(self.result.state), plan.problem.settings
        parts = (plan.recipe.learner, plan.recipe.calibrate)
        return Model(str(plan.config.recipe), settings, graph.class_names, graph.num_features, state, *parts)

    def arrays(self) -> dict[str, np.ndarray]:
        """What a loaded model knows of the graph it was fitted on."""
        stage, graph = self.result, self.plan.graph
        arrays = {
            "probabilities": stage.probabilities,
            "gain": stage.all_gain,
            "labeled_stage": self.history.entered(graph.num_nodes, self.plan.split.train),
            "candidates": self._candidates(),
        }
        return arrays if stage.transition is None else {**arrays, "transition": stage.transition}

    def _candidates(self) -> np.ndarray:
        """Nodes that a person might label next: those of the pool without a label; where all have one (a data set
        with the whole truth, hidden from the run), all of the pool. Never a training, validation or test node."""
        pool = np.setdiff1d(self.plan.split.pool, self.plan.split.test)
        bare = pool[self.plan.graph.labels[pool] < 0]
        return bare if bare.size else pool

    def _accuracy(self, stage: Stage, nodes: np.ndarray) -> float | None:
        return _finite(accuracy(stage.predictions[nodes], self.plan.graph.labels[nodes]))


def predictions_csv(
    graph: Graph,
    class_names: tuple[str, ...],
    probabilities: np.ndarray,
    gain: np.ndarray | None = None,
    stage: np.ndarray | None = None,
) -> str:
    """Predictions as CSV; without gain and stage (a graph that was not fitted on) those columns are left out."""
    columns: list[list[Any]] = [
        graph.node_ids.tolist(),
        [class_names[c] for c in probabilities.argmax(axis=1)],
        [f"{v:.6f}" for v in probabilities.max(axis=1)],
    ]
    if gain is not None and stage is not None:
        columns += [["" if math.isnan(v) else f"{v:.6g}" for v in gain.tolist()], stage.tolist()]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER[: len(columns)])
    writer.writerows(zip(*columns, strict=True))
    return text.getvalue()


def peak_memory_mb() -> float | None:
    """The most memory that this process has held; None where the system does not tell (Windows)."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (2**20 if sys.platform == "darwin" else 2**10), 1)


def _details(stage: Stage) -> dict[str, Any]:
    trainings = [
        {
            "epochs": t.epochs,
            "best_epoch": t.best_epoch,
            "first_val_loss": _finite(t.first_val_loss),
            "val_loss": _finite(t.val_loss),
            "val_accuracy": _finite(t.val_accuracy),
            "reason": t.reason,
            "train_losses": [_finite(v) for v in t.curve.train_loss],
            "val_losses": [_finite(v) for v in t.curve.val_loss],
        }
        for t in stage.trainings
    ]
    return {"transition": None if stage.transition is None else stage.transition.tolist(), "trainings": trainings}


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
