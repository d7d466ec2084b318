"""What a run may know, and what a learner is trained on."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from drgst.errors import SettingError
from drgst.graph.core import Features, Graph
from drgst.graph.split import Split
from drgst.nn.records import ValidationSet
from drgst.selftrain.settings import Settings
from drgst.shards import ALONE, Shards

if TYPE_CHECKING:
    from drgst.nn.inputs import InputFeatures, Inputs

Step = Callable[[str, int, int], None]  # what, number, total: as Callback.step
FEWEST_MEASURED = 10  # labels of a sample from which the accuracy is measured where others were asked for


class GraphCache:
    """Keeps values of one graph by name; another graph empties it.

    A problem owns one, and problems that differ in labels alone may share one: the fold problems of cross-fitting,
    and the runs of a bench on the same graph. Nothing that depends on a label may be put into it.
    """

    def __init__(self) -> None:
        self._features: Features = None
        self._adjacency: Any = None
        self._relations: Any = None
        self._values: dict[str, Any] = {}

    def get(self, graph: Graph, name: str, make: Callable[[], Any]) -> Any:
        """The value of that name for ``graph``, made by ``make`` where it is not there yet."""
        known = self._features is graph.features and self._adjacency is graph.adjacency
        if not known or self._relations is not graph.relations:
            self._features, self._adjacency, self._relations = graph.features, graph.adjacency, graph.relations
            self._values = {}
        if name not in self._values:
            self._values[name] = make()
        return self._values[name]


def _no_step(_what: str, _number: int, _total: int) -> None:
    """Nobody follows the steps; a function, so that a fitted estimator can be pickled."""


@dataclass(frozen=True, eq=False)
class Problem:
    """What a run may know: the graph with all labels hidden but those of train and val, the split, settings, seed."""

    graph: Graph
    split: Split
    settings: Settings
    seed: int = 0
    graph_cache: GraphCache = field(default_factory=GraphCache, repr=False)  # shared by problems on the same graph
    sample_weight: np.ndarray | None = None  # (N,) weights of the user, None: 1 each
    sampled: np.ndarray | None = None  # (N,) whether a given label is part of a sample; None: all are
    step: Step = field(default=_no_step, repr=False)  # called before each step of a long computation
    shards: Shards = field(default=ALONE, repr=False)  # the processes that share the run

    @classmethod
    def of(
        cls, graph: Graph, split: Split, settings: Settings, seed: int = 0, graph_cache: GraphCache | None = None
    ) -> Problem:
        """Check seed and split, and hide every label that is neither a training nor a validation label."""
        if not isinstance(seed, Integral) or seed < 0:
            raise SettingError(f"seed is {seed!r} (allowed: whole numbers from 0)")
        split.check(graph)
        shown = np.full(graph.num_nodes, -1, dtype=np.int64)
        for part in (split.train, split.val):
            shown[part] = graph.labels[part]
        return cls(graph.with_(labels=shown), split, settings, seed, graph_cache or GraphCache())

    @cached_property
    def cache(self) -> dict[Hashable, Any]:
        """What parts compute once for this problem, labels included."""
        return {}

    @cached_property
    def features(self) -> InputFeatures:
        """What a network is given as features, fitted to the graph."""
        from drgst.nn.inputs import InputFeatures  # imports torch, which is slow

        return InputFeatures.fit(self.graph, self.settings.normalise)

    @cached_property
    def inputs(self) -> Inputs:
        """The tensors of the graph."""
        from drgst.nn.inputs import make_inputs

        return make_inputs(self.graph, self.settings.device, fitted=self.features)

    def check_device(self) -> None:
        """Refuse a device that can't be used here."""
        if self.settings.device != "cpu":
            from drgst.nn.inputs import open_device  # imports torch, which is slow

            open_device(self.settings.device)

    @property
    def true_weights(self) -> np.ndarray:
        """Weights of the training nodes, scaled to mean 1, (|V_L|,); 1 each where the user gave none.

        The numbers of labels that were asked for say nothing about class shares, as they are not a sample: the labels
        of class c then have the total weight 1 + n_c, for n_c labels of a sample (experiment 040).
        """
        train = self.split.train
        if self.sample_weight is None and self.sampled is None:
            return np.ones(train.size)
        given = np.ones(train.size) if self.sample_weight is None else self.sample_weight[train]
        if self.sampled is not None:
            labels, classes = self.graph.labels[train], self.graph.num_classes
            drawn = np.bincount(labels[self.sampled[train]], minlength=classes)
            given = given * ((1 + drawn) / np.maximum(np.bincount(labels, minlength=classes), 1))[labels]
        if given.sum() <= 0:
            raise SettingError("sample_weight is zero at every training node")
        return given / given.mean()

    @property
    def few_sampled(self) -> bool:
        """Whether labels were asked for and too few others are a random sample that measures the accuracy."""
        return self.sampled is not None and int(self.sampled[self.split.train].sum()) < FEWEST_MEASURED

    @property
    def train_sampled(self) -> np.ndarray:
        """Which training labels give class shares and calibration, (|V_L|,): those of a sample, or all without one."""
        train = self.split.train
        shown = np.ones(train.size, dtype=bool) if self.sampled is None else self.sampled[train]
        return shown if shown.any() else np.ones(train.size, dtype=bool)

    @property
    def watch(self) -> ValidationSet:
        return ValidationSet(self.split.val, self.graph.labels[self.split.val])


@dataclass(frozen=True, eq=False)
class Targets:
    """V_L ∪ S_U with labels and weights; the true ones come first."""

    nodes: np.ndarray  # (M,)
    labels: np.ndarray  # (M,)
    weights: np.ndarray  # (M,)
    true: int  # how many of them are true labels
