"""Learning curves: which to make, and the simulation of one, which workers call, from a task to a row of the store."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any
from zlib import crc32

import numpy as np

from drgst.datasets.load import open_graph
from drgst.decide.labels.choosers import BeforeLabels, Medoids, Random
from drgst.decide.labels.registry import CHOOSERS, SAMPLE, TYPICAL, ChooserSpec, default_chooser
from drgst.decide.labels.state import Choice, LabelState, choose, first_state, highest, run_state
from drgst.errors import RunError, SettingError, unknown
from drgst.graph.core import Graph
from drgst.graph.split import Split, draw_split
from drgst.lab.grid.execute import Row, blank, describe_error, failed, graph_cache, graph_of, resolved
from drgst.lab.grid.grid import Task
from drgst.lab.store.cells import CURVE
from drgst.lab.store.schema import canonical
from drgst.recipes import find_recipe
from drgst.runs.config import VALIDATIONS, RunConfig
from drgst.runs.fingerprint import data_fingerprint, split_fingerprint
from drgst.runs.metrics import ClassScores, finite
from drgst.runs.result import Result
from drgst.runs.run import Run
from drgst.selftrain.problem import GraphCache
from drgst.selftrain.views.graph_views import Views


@dataclass(frozen=True)
class Entropy:
    """The n largest H(p_u) = -Σ_c p_uc log p_uc; before the first label a random sample."""

    def __call__(self, state: LabelState, n: int) -> Choice:
        if state.probabilities is None:
            return Random()(state, n)
        p = state.probabilities[state.candidates]
        h = -(p * np.log(np.maximum(p, 1e-12))).sum(axis=1)
        return Choice.of(state.candidates[highest(h, n)])


_ALL = (
    ChooserSpec("entropy", Entropy(), "the nodes of highest entropy"),
    ChooserSpec(
        "balanced-variance",
        BeforeLabels(Medoids(), TYPICAL),
        "typical nodes whose labels lower the variance most, as many of each predicted class; medoids at first",
    ),
)
CURVE_CHOOSERS: Mapping[str, ChooserSpec] = {**CHOOSERS, **{spec.name: spec for spec in _ALL}}


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
        if self.validation not in (None, *VALIDATIONS):
            raise SettingError(unknown("validation", str(self.validation), VALIDATIONS))
        object.__setattr__(self, "by", tuple(dict.fromkeys(self.by)))

    def tasks(self) -> list[CurveTask]:
        """One per chooser and draw; a draw has the same start for every chooser."""
        graph = open_graph(self.source)
        data = data_fingerprint(graph)
        numbers = range(self.first_draw, self.first_draw + self.draws)
        return [self._task(graph, data, draw, by) for draw in numbers for by in self.by]

    def _task(self, graph: Graph, data: str, draw: int, by: str) -> CurveTask:
        spec = find_recipe(self.recipe)
        usual = "none" if spec.defaults.get("val_labels") == "train" else "public"
        split = start_split(graph, self.start, draw)
        drawn = split if self.start else start_split(graph, 1, draw)
        facts = resolved(spec.name, graph, drawn, spec.readable(self.changes))
        words = f"{CURVE} by={by},budget={self.budget},batch={self.batch},judge=test"
        facts["variant"] = ",".join(part for part in (words, facts["variant"]) if part)
        steps = -(-self.budget // self.batch) + 1
        return CurveTask(
            source=self.source,
            dataset=graph.name,
            per_class=self.start,
            recipe=spec.name,
            pool="unlabelled",
            validation=self.validation or usual,
            draw=draw,
            data_sha256=data,
            split_sha256=split_fingerprint(graph, split),
            cost=float(graph.num_entries * steps),
            by=by,
            budget=self.budget,
            batch=self.batch,
            **facts,
        )


@dataclass(frozen=True)
class CurveTask(Task):
    """One learning curve: from the start to the end of the budget, with a fit after every batch."""

    by: str = SUGGEST
    budget: int = 100
    batch: int = 10

    @property
    def key(self) -> str:
        """SHA-256 of the run at the start and of how labels are added."""
        facts = [super().key, CURVE, VERSION, self.chooser, self.budget, self.batch, "test", self.validation]
        return hashlib.sha256(canonical(facts).encode()).hexdigest()

    @property
    def chooser(self) -> str:
        """The chooser; ``suggest`` is the recipe's own, by whether there are labels of a sample at the start."""
        return default_chooser(self.recipe, self.per_class * SAMPLE) if self.by == SUGGEST else self.by

    @property
    def title(self) -> str:
        """``drgst-plus by random``."""
        return f"{self.recipe} by {self.by}"


def start_split(graph: Graph, per_class: int, draw: int) -> Split:
    """``per_class`` drawn training labels per class, none for 0; validation and test nodes as in all splits."""
    split = draw_split(graph, max(per_class, 1), draw)
    none = np.empty(0, dtype=np.int64)
    return split if per_class else Split(none, split.val, split.test, np.union1d(split.pool, split.train), split.name)


Point = dict[str, Any]  # labels, accuracy, macro_f1, ece, seconds of the fit and of the choice


def execute_curve(task: Task) -> Row:
    """The row of a :class:`CurveTask`, its points as ``stage_rows``; an error becomes a row that describes it."""
    try:
        assert isinstance(task, CurveTask)
        began = time.perf_counter()
        points = Simulation(graph_of(task), task, graph_cache(task.data_sha256)).points()
        last = points[-1]
        figures = {"test_accuracy": last["accuracy"], "macro_f1": last["macro_f1"], "ece": last["ece"]}
        figures["stages"] = len(points) - 1
        seconds = round(time.perf_counter() - began, 4)
        return {**blank(task), **figures, "seconds": seconds, "stage_rows": json.dumps(points)}
    except Exception as error:
        return failed(task, describe_error(error))


@dataclass(frozen=True, eq=False)
class Simulation:
    """The labels of ``graph`` are known and revealed as the chooser of ``task`` asks for them.

    Labels are asked of nodes that are neither validation nor test nodes. A class is unknown until its first label; its
    nodes count as wrong until then. With fewer than two classes nothing is fitted.
    """

    graph: Graph
    task: CurveTask
    cache: GraphCache

    @cached_property
    def split(self) -> Split:
        """At the start."""
        split = start_split(self.graph, self.task.per_class, self.task.draw)
        if split_fingerprint(self.graph, split) != self.task.split_sha256:
            raise RunError(f"the labels or the split of {self.task.source} have changed since the plan was made")
        return split

    def points(self) -> list[Point]:
        """One point per fit."""
        task, train, found = self.task, self.split.train, []
        rng = np.random.default_rng([task.seed, crc32(task.by.encode())])
        sampled = np.ones(self.graph.num_nodes, dtype=bool)
        for left in range(task.budget, -task.batch, -task.batch):
            began = time.perf_counter()
            p, state = self._fit(train, sampled, rng)
            fitted = time.perf_counter()
            if train.size:
                found.append({"labels": int(train.size), **self._figures(p), "seconds": round(fitted - began, 4)})
            if left <= 0 or not state.candidates.size:
                break
            asked = choose(CURVE_CHOOSERS[task.chooser].chooser, state, min(task.batch, left))
            train = np.union1d(train, asked.nodes)
            sampled[asked.nodes] = asked.random
            if found:
                found[-1]["choice_seconds"] = round(time.perf_counter() - fitted, 4)
        return found

    def _fit(self, train: np.ndarray, sampled: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, LabelState]:
        """p of every node, (N, C), and the state in which labels are chosen."""
        graph, split = self.graph, self.split
        views = Views.of(graph, self.cache)
        p = np.zeros((graph.num_nodes, graph.num_classes))
        free = np.setdiff1d(np.flatnonzero(graph.labels >= 0), np.concatenate([train, split.val, split.test]))
        known = np.unique(graph.labels[train])
        if known.size < 2:
            p[:, known] = 1.0
            return p, replace(first_state(views, free, rng), labelled=train, sampled=int(sampled[train].sum()))
        result, known = self._result(train, sampled)
        p[:, known] = result.probabilities
        return p, run_state(result, views, free, rng)

    def _result(self, train: np.ndarray, sampled: np.ndarray) -> tuple[Result, np.ndarray]:
        """The result with the labels of ``train``, of which those ``sampled`` tell class shares and calibration."""
        split, task, nodes = self.split, self.task, self.graph.num_nodes
        val = split.val if task.validation == "public" else np.empty(0, dtype=np.int64)
        graph, split, known = known_classes(self.graph, Split.of(train, val, split.test, nodes))
        config = RunConfig(recipe=task.recipe, seed=task.seed, settings=task.settings, threads=1)
        run = Run.of(graph, config, split)
        mask = None if sampled[train].all() else sampled
        return replace(run, problem=replace(run.problem, sampled=mask)).sharing(self.cache).execute(), known

    def _figures(self, p: np.ndarray) -> Point:
        scores = ClassScores(p[self.split.test], self.graph.labels[self.split.test])
        found = {name: finite(getattr(scores, name)()) for name in ("accuracy", "macro_f1", "ece")}
        return {name: None if value is None else round(value, 6) for name, value in found.items()}


def known_classes(graph: Graph, split: Split) -> tuple[Graph, Split, np.ndarray]:
    """``graph`` and ``split`` with those classes alone that have a training label, and these classes, (C',).

    The labels of other classes are removed, and validation nodes of other classes join the pool.
    """
    found = np.unique(graph.labels[split.train])
    if found.size == graph.num_classes:
        return graph, split, found
    index = np.full(graph.num_classes + 1, -1)  # the last place is that of unlabelled nodes
    index[found] = np.arange(found.size)
    names = tuple(graph.class_names[c] for c in found)
    made = graph.with_(labels=index[graph.labels], class_names=names)
    strange = made.labels[split.val] < 0
    pool = np.union1d(split.pool, split.val[strange])
    return made, Split(split.train, split.val[~strange], split.test, pool, split.name), found
