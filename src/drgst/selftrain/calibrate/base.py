"""Calibrate: calibrated probabilities. A part of this slot is fitted after every training."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from torch import Tensor

from drgst.graph.core import Graph
from drgst.selftrain.problem import Problem

Learnt = Mapping[str, Tensor]
VALIDATION = frozenset({"validation"})


class Calibrate(ABC):
    """Logits -> calibrated logits, by what :meth:`fit` learns, nearly always from the validation nodes.

    ``requires`` holds ``"validation"`` where it can't be fitted without validation nodes; a run without them is then
    refused before anything is trained.
    """

    requires: ClassVar[frozenset[str]] = frozenset()

    @abstractmethod
    def fit(self, logits: np.ndarray, problem: Problem, stage: int, /) -> Learnt | None:
        """What :meth:`apply` needs; None where there is nothing to learn from, and the logits stay."""

    @abstractmethod
    def apply(self, learnt: Learnt, logits: np.ndarray, graph: Graph, device: str, /) -> np.ndarray:
        """Calibrated logits of any graph, (N, C)."""

    def describe(self, _learnt: Learnt, /) -> str:
        """A sentence on what was learnt, for the stage's note."""
        return ""


@dataclass(frozen=True)
class Identity(Calibrate):
    """z' = z."""

    def fit(self, _logits: np.ndarray, _problem: Problem, _stage: int) -> None:
        """Nothing."""

    def apply(self, _learnt: Learnt, logits: np.ndarray, _graph: Graph, _device: str) -> np.ndarray:
        """The logits as they are."""
        return logits
