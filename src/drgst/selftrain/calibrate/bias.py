"""Calibrate by a scale and a shift per class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch

from drgst.graph.core import Graph
from drgst.selftrain.calibrate.base import VALIDATION, Calibrate, Learnt
from drgst.selftrain.problem import Problem
from drgst.uncertainty.calibration import fit_scale_and_bias


@dataclass(frozen=True)
class BiasCorrected(Calibrate):
    """z' = a z + b, one scale and a shift per class (Alexandari et al., ICML 2020): may change the argmax.

    Fitted to the validation nodes' cross-entropy with a little shrinkage of b. With few training labels, much of
    the error lies in the class shares, which b corrects.
    """

    requires: ClassVar[frozenset[str]] = VALIDATION

    def fit(self, logits: np.ndarray, problem: Problem, _stage: int) -> Learnt:
        """a and b."""
        val = problem.split.val
        scale, shift = fit_scale_and_bias(logits[val], problem.graph.labels[val])
        return {"scale": torch.tensor(scale), "shift": torch.from_numpy(shift)}

    def apply(self, learnt: Learnt, logits: np.ndarray, _graph: Graph, _device: str) -> np.ndarray:
        """a z + b."""
        return (logits * learnt["scale"].numpy() + learnt["shift"].numpy()).astype(logits.dtype)
