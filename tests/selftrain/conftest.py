"""A small world in which self-training works, and quick settings for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pytest

from drgst.graph.core import Graph, make_graph
from drgst.graph.split import Split
from drgst.selftrain.beliefs import Beliefs
from drgst.selftrain.engine import self_train
from drgst.selftrain.history import History
from drgst.selftrain.learner import Problem
from drgst.selftrain.observer import Observer
from drgst.selftrain.recipes import find_recipe

QUICK = {"epochs": 30, "hidden": 8, "samples": 5, "threshold": 0.45, "stages": 2, "lr": 0.03, "agreement": 1.0}


@dataclass(frozen=True)
class World:
    """A graph and its split."""

    graph: Graph
    split: Split

    def problem(self, name: str = "drgst-de", seed: int = 0, **changes: Any) -> Problem:
        """What a run of a recipe may know, with quick settings."""
        settings = find_recipe(name).settings({**QUICK, **changes})
        return Problem.of(self.graph, self.split, settings, seed)

    def run(
        self,
        name: str = "drgst-de",
        seed: int = 0,
        observer: Observer | None = None,
        history: History | None = None,
        **changes: Any,
    ) -> History:
        """A run of a recipe with quick settings."""
        problem = self.problem(name, seed, **changes)
        return self_train(problem, find_recipe(name).make(problem.settings), observer, history)


def make_world(nodes: int = 60, classes: int = 3, per_class: int = 3, val: int = 15, test: int = 15) -> World:
    """A block model with noisy class features; nodes in turn of class 0, 1, 2, …; training nodes first."""
    rng = np.random.default_rng(0)
    y = np.arange(nodes) % classes
    chance = np.where(y[:, None] == y[None, :], 12 / nodes, 1.2 / nodes)
    a = np.triu(rng.random((nodes, nodes)) < chance, 1).astype(np.float64)
    x = np.hstack([np.eye(classes)[y] + rng.normal(scale=0.6, size=(nodes, classes)), rng.normal(size=(nodes, 4))])
    train = np.arange(classes * per_class)
    rest = np.arange(train.size, nodes)
    split = Split.of(train, rest[:val], rest[val : val + test], nodes)
    return World(make_graph(x, a + a.T, y), split)


@pytest.fixture(scope="session")
def world() -> World:
    """60 nodes, 3 classes, 9 labels, 15 validation and 15 test nodes, a pool of 21."""
    return make_world()


@pytest.fixture(scope="session")
def worlds() -> Callable[..., World]:
    """:func:`make_world`."""
    return make_world


@pytest.fixture(scope="session")
def history(world: World) -> History:
    """A finished run of drgst-de in the small world; do not change it."""
    return world.run()


@pytest.fixture
def beliefs(world: World) -> Beliefs:
    """Beliefs of a made-up teacher: random logits and gains."""
    rng = np.random.default_rng(5)
    problem = world.problem()
    return Beliefs(
        logits=rng.normal(scale=1.5, size=(60, 3)),
        graph=problem.graph,
        split=problem.split,
        stage=0,
        embedding=rng.normal(size=(60, 8)),
        gain=rng.gamma(1.0, size=60).astype(np.float32),
    )


def assert_same(a: History, b: History) -> None:
    """Two runs agree in every bit but the clock's."""
    assert len(a) == len(b)
    assert a.stop_reason == b.stop_reason
    for one, two in zip(a.stages, b.stages, strict=True):
        for name in ("weights", "gain", "confidence", "logits", "all_gain", "embedding"):
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)
        np.testing.assert_array_equal(one.chosen.nodes, two.chosen.nodes)
        np.testing.assert_array_equal(one.chosen.labels, two.chosen.labels)
        assert (one.transition is None) == (two.transition is None)
        if one.transition is not None:
            np.testing.assert_array_equal(one.transition, two.transition)
        _same_state(one.state, two.state)
        assert (one.number, one.accepted, one.note) == (two.number, two.accepted, two.note)
        for first, second in zip(one.trainings, two.trainings, strict=True):
            np.testing.assert_equal(asdict(first), asdict(second))


def _same_state(one: Mapping[str, Any], two: Mapping[str, Any]) -> None:
    assert one.keys() == two.keys()
    for name, value in one.items():
        np.testing.assert_array_equal(value.numpy(), two[name].numpy(), err_msg=name)


@pytest.fixture(scope="session")
def same() -> Callable[[History, History], None]:
    """:func:`assert_same`."""
    return assert_same
