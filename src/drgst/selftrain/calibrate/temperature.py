"""Calibrate by one temperature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch

from drgst.graph.core import Graph
from drgst.selftrain.calibrate.base import VALIDATION, Calibrate, Learnt
from drgst.selftrain.problem import Problem
from drgst.uncertainty.calibration import fit_temperature


@dataclass(frozen=True)
class Temperature(Calibrate):
    """z' = z / T, T = argmin of the validation nodes' cross-entropy (Guo et al., ICML 2017): keeps every argmax."""

    requires: ClassVar[frozenset[str]] = VALIDATION

    def fit(self, logits: np.ndarray, problem: Problem, _stage: int) -> Learnt:
        """T."""
        val = problem.split.val
        return {"temperature": torch.tensor(fit_temperature(logits[val], problem.graph.labels[val]))}

    def apply(self, learnt: Learnt, logits: np.ndarray, _graph: Graph, _device: str) -> np.ndarray:
        """z / T."""
        return (logits / learnt["temperature"].numpy()).astype(logits.dtype)
