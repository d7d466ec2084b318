"""Postprocess by a calibrator."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drgst.graph.core import Graph
from drgst.selftrain.postprocess.base import Adjusted, Context, Postprocess
from drgst.selftrain.slots.calibrate import Calibrate, Learnt


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
        return Adjusted(adjusted, learnt, part.describe(learnt))

    def apply(self, learnt: Learnt, logits: np.ndarray, graph: Graph, device: str) -> np.ndarray:
        """z' on another graph."""
        return self.calibrate.apply(learnt, logits, graph, device) if learnt else logits
