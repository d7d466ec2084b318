"""Which learning curves to make, and the tasks of the bench that make them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from drgst.datasets.load import open_graph
from drgst.decide.labels.registry import default_chooser
from drgst.errors import SettingError, unknown
from drgst.graph.core import Graph
from drgst.graph.split import Split, draw_split
from drgst.lab.curves.choosers import CURVE_CHOOSERS
from drgst.lab.grid.expand import resolved
from drgst.lab.grid.grid import Task, canonical
from drgst.lab.store.cells import CURVE
from drgst.recipes import find_recipe
from drgst.runs.config import VALIDATIONS
from drgst.runs.fingerprint import data_fingerprint, split_fingerprint

JUDGES = ("test", "validation")
SUGGEST = "suggest"  # the default chooser of the recipe
VERSION = 1  # of the choosers and of the simulation; raised when curves change


@dataclass(frozen=True)
class Plan:
    """Curves of one recipe on one graph: every chooser on the same draws."""

    source: str  # a data set's name or the path of a graph
    recipe: str = "drgst-plus"
    start: int = 3  # labels per class at the start; 0: none at all
    budget: int = 100  # further labels
    batch: int = 10
    by: Sequence[str] = (SUGGEST, "random")
    draws: int = 5
    first_draw: int = 0
    validation: str | None = None  # public, or none; None: none where the recipe trains on validation labels
    judge: str = "test"  # whose labels judge: test, or validation nodes
    changes: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        allowed = {"start": 0, "budget": 1, "batch": 1, "draws": 1, "first_draw": 0}
        for name, lowest in allowed.items():
            if getattr(self, name) < lowest:
                raise SettingError(f"{name} is {getattr(self, name)}, but must be at least {lowest}")
        for name in self.by:
            if name != SUGGEST and name not in CURVE_CHOOSERS:
                raise SettingError(unknown("chooser", name, (SUGGEST, *CURVE_CHOOSERS)))
        if not self.by:
            raise SettingError("no chooser is named")
        if self.judge not in JUDGES:
            raise SettingError(unknown("judge", self.judge, JUDGES))
        if self.validation not in (None, *VALIDATIONS):
            raise SettingError(unknown("validation", str(self.validation), VALIDATIONS))
        if self.judge == "validation" and self.hides_validation is False:
            raise SettingError("validation nodes can't judge where their labels are used; take validation=none")
        object.__setattr__(self, "by", tuple(dict.fromkeys(self.by)))

    @property
    def hides_validation(self) -> bool:
        """Whether the run is given no validation labels."""
        if self.validation is not None:
            return self.validation == "none"
        return find_recipe(self.recipe).defaults.get("val_labels") == "train"

    def tasks(self) -> list[CurveTask]:
        """One per chooser and draw; a draw has the same start for every chooser."""
        graph = open_graph(self.source)
        data = data_fingerprint(graph)
        numbers = range(self.first_draw, self.first_draw + self.draws)
        return [self._task(graph, data, draw, by) for draw in numbers for by in self.by]

    def _task(self, graph: Graph, data: str, draw: int, by: str) -> CurveTask:
        spec = find_recipe(self.recipe)
        split = start_split(graph, self.start, draw)
        drawn = split if self.start else start_split(graph, 1, draw)
        facts = resolved(spec.name, graph, drawn, spec.readable(self.changes))
        words = f"{CURVE} by={by},budget={self.budget},batch={self.batch},judge={self.judge}"
        facts["variant"] = ",".join(part for part in (words, facts["variant"]) if part)
        steps = -(-self.budget // self.batch) + 1
        return CurveTask(
            source=self.source,
            dataset=graph.name,
            per_class=self.start,
            recipe=spec.name,
            pool="unlabelled",
            validation="none" if self.hides_validation else "public",
            draw=draw,
            data_sha256=data,
            split_sha256=split_fingerprint(graph, split),
            cost=float(graph.num_entries * steps),
            by=by,
            budget=self.budget,
            batch=self.batch,
            judge=self.judge,
            **facts,
        )


@dataclass(frozen=True)
class CurveTask(Task):
    """One learning curve: from the start to the end of the budget, with a fit after every batch."""

    by: str = SUGGEST
    budget: int = 100
    batch: int = 10
    judge: str = "test"

    @property
    def key(self) -> str:
        """SHA-256 of the run at the start and of how labels are added."""
        by = default_chooser(self.recipe) if self.by == SUGGEST else self.by
        facts = [super().key, CURVE, VERSION, by, self.budget, self.batch, self.judge, self.validation]
        return hashlib.sha256(canonical(facts).encode()).hexdigest()

    @property
    def title(self) -> str:
        """``drgst-plus by random``."""
        return f"{self.recipe} by {self.by}"


def start_split(graph: Graph, per_class: int, draw: int) -> Split:
    """``per_class`` drawn training labels per class, none for 0; validation and test nodes as in all splits."""
    split = draw_split(graph, max(per_class, 1), draw)
    none = np.empty(0, dtype=np.int64)
    return split if per_class else Split(none, split.val, split.test, np.union1d(split.pool, split.train), split.name)
