"""Postprocess: what is done to the predictions of the result. No part of the loop sees it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np
from torch import Tensor

from drgst.graph.core import Graph
from drgst.selftrain.history import History, Stage
from drgst.selftrain.problem import Problem

if TYPE_CHECKING:
    from drgst.selftrain.recipe import AnyRecipe


class Rerun(Protocol):
    """The engine, for a part that runs a recipe again: it goes on from ``history`` where that is given."""

    def __call__(self, problem: Problem, recipe: AnyRecipe, history: History | None = None) -> History: ...


@dataclass(frozen=True, eq=False)
class Context:
    """The run that a postprocess part is called for."""

    problem: Problem
    recipe: AnyRecipe
    history: History
    stage: Stage  # the result
    rerun: Rerun = field(repr=False)


@dataclass(frozen=True, eq=False)
class Adjusted:
    """The logits that a postprocess part gives, what it learnt, and a sentence on it for the stage's note."""

    logits: np.ndarray  # (N, C)
    learnt: Mapping[str, Tensor] = field(default_factory=dict)
    note: str = ""
    out_of_fold: np.ndarray | None = None  # (M, C) logits of the training nodes by runs without their labels
    state: Mapping[str, Tensor] = field(default_factory=dict)  # tensors of the learner that take the place of its own


class Postprocess(ABC):
    """(logits of the result, Context) -> Adjusted. A plain function may give the logits alone."""

    requires: ClassVar[frozenset[str]] = frozenset()

    @abstractmethod
    def __call__(self, logits: np.ndarray, context: Context, /) -> Adjusted:
        """The logits of the fitted graph, (N, C)."""

    def apply(self, _learnt: Mapping[str, Tensor], logits: np.ndarray, _graph: Graph, _device: str, /) -> np.ndarray:
        """The logits of another graph, by what was learnt; as they are where the part knows one graph only."""
        return logits
