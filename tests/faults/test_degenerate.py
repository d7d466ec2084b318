"""Every recipe on degenerate graphs: it ends in time with finite probabilities, or refuses in one sentence."""

import random
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from drgst.errors import DrgstError
from drgst.graph.core import Graph, make_graph
from drgst.graph.split import Split
from drgst.recipes import find_recipe, recipe_names
from drgst.runs.config import RunConfig
from drgst.runs.run import Run

LIMIT = 120.0  # seconds of this process for one run
QUICK = {"epochs": 5, "stages": 2, "threshold": 0.4, "samples": 3, "hidden": 8}
N = 40


def ring(n: int) -> sp.csr_array:
    """Each node is joined to the next."""
    nodes = np.arange(n)
    return sp.csr_array((np.ones(n), (nodes, (nodes + 1) % n)), shape=(n, n))


def graph(adjacency: Any = None, features: Any = "normal", labels: Any = None, nodes: int = N) -> tuple[Graph, Split]:
    """A graph and a split with four training labels per class."""
    rng = np.random.default_rng(0)
    y = np.arange(nodes) % 2 if labels is None else np.asarray(labels)
    x = y[:, None] + rng.normal(size=(nodes, 5)) if isinstance(features, str) else features
    a = ring(nodes) if adjacency is None else adjacency
    known = [np.flatnonzero(y == c) for c in range(y.max() + 1)]
    train = np.concatenate([c[: min(4, max(1, c.size // 3))] for c in known])
    rest = np.setdiff1d(np.flatnonzero(y >= 0), train)
    val, test = rest[: rest.size // 4], rest[rest.size // 4 : rest.size // 2]
    return make_graph(x, a, y), Split.of(train, val, test, nodes)


def dense(value: float, columns: int = 5) -> np.ndarray:
    """A feature matrix of one number."""
    return np.full((N, columns), value, dtype=np.float32)


def star(leaves: int) -> sp.csr_array:
    """One node is joined to all others."""
    return sp.csr_array((np.ones(leaves), (np.zeros(leaves, int), np.arange(1, leaves + 1))), shape=(leaves + 1,) * 2)


def one_hot(place: int, value: float = 1.0, columns: int = 5) -> np.ndarray:
    """Zeros but for one node."""
    x = dense(0, columns)
    x[place, 0] = value
    return x


RANDOM = np.random.default_rng(1)
GRAPHS: dict[str, Callable[[], tuple[Graph, Split]]] = {
    "no edges": lambda: graph(sp.csr_array((N, N))),
    "one edge": lambda: graph(sp.csr_array(([1.0], ([0], [1])), shape=(N, N))),
    "complete": lambda: graph(np.ones((N, N))),
    "star": lambda: graph(star(N - 1)),
    "path": lambda: graph(sp.csr_array(np.eye(N, k=1))),
    "pairs": lambda: graph(sp.csr_array(np.kron(np.eye(N // 2), [[0, 1], [1, 0]]))),
    "two cliques": lambda: graph(np.kron(np.eye(2), np.ones((N // 2, N // 2)))),
    "bipartite": lambda: graph(np.kron([[0, 1], [1, 0]], np.ones((N // 2, N // 2)))),
    "one node aside": lambda: graph(np.ones((N, N)) * (np.arange(N) > 0)[:, None] * (np.arange(N) > 0)),
    "tiny weights": lambda: graph(ring(N) * 1e-30),
    "huge weights": lambda: graph(ring(N) * 1e30),
    "mixed weights": lambda: graph(sp.csr_array(np.triu(10.0 ** RANDOM.uniform(-20, 20, (N, N)), 1))),
    "no features": lambda: graph(features=None),
    "no features and no edges": lambda: graph(sp.csr_array((N, N)), None),
    "one feature": lambda: graph(features=dense(0, 1) + np.arange(N)[:, None]),
    "features of zeros": lambda: graph(features=dense(0)),
    "features of ones": lambda: graph(features=dense(1)),
    "huge features": lambda: graph(features=dense(1e30) * RANDOM.normal(size=(N, 5))),
    "tiny features": lambda: graph(features=dense(1e-30) * RANDOM.normal(size=(N, 5))),
    "negative features": lambda: graph(features=-np.abs(RANDOM.normal(size=(N, 5)))),
    "one node has features": lambda: graph(features=one_hot(0)),
    "one huge feature": lambda: graph(features=one_hot(3, 1e35)),
    "identical nodes": lambda: graph(np.ones((N, N)), dense(1)),
    "wide features": lambda: graph(features=sp.csr_array((np.ones(N), (range(N), range(0, 5000, 125))), (N, 5000))),
    "sparse zeros": lambda: graph(features=sp.csr_array((N, 20))),
    "four nodes": lambda: graph(nodes=4),
    "six nodes": lambda: graph(nodes=6),
    "many classes": lambda: graph(labels=np.arange(N) % 10),
    "one rare class": lambda: graph(labels=np.where(np.arange(N) < 3, 1, 0)),
    "most labels unknown": lambda: graph(labels=np.where(np.arange(N) < 8, np.arange(N) % 2, -1)),
    "labels against edges": lambda: graph(sp.csr_array(np.kron(np.eye(N // 2), [[0, 1], [1, 0]])), None),
    "labels at random": lambda: graph(labels=RANDOM.permutation(np.arange(N) % 2)),
}


def outcome(name: str, recipe: str) -> str:
    """``ended`` or ``refused``; anything else is a fault."""
    made, split = GRAPHS[name]()
    settings = find_recipe(recipe).readable(QUICK)
    began = time.process_time()  # of this process: other work on the machine does not count
    try:
        config = RunConfig(data="x", recipe=recipe, seed=0, settings=settings)
        result = Run.of(made, config, split).execute()
    except DrgstError:
        return "refused"
    assert time.process_time() - began < LIMIT, f"{recipe} on {name} takes too long"
    assert np.isfinite(result.probabilities).all(), f"{recipe} on {name} gives NaN"
    np.testing.assert_allclose(result.probabilities.sum(axis=1), 1, atol=1e-4)
    return "ended"


PAIRS = [(name, recipe) for name in GRAPHS for recipe in recipe_names()]


@pytest.mark.parametrize(("name", "recipe"), random.Random(0).sample(PAIRS, 24))
def test_some_pairs(name: str, recipe: str) -> None:
    outcome(name, recipe)


@pytest.mark.slow
@pytest.mark.parametrize("name", GRAPHS)
def test_every_recipe_on_degenerate_graphs(name: str) -> None:
    """Most recipes end; what can't be trained is refused by the same sentence for all."""
    outcomes = [outcome(name, recipe) for recipe in recipe_names()]
    print(f"{name}: {outcomes.count('ended')} ended, {outcomes.count('refused')} refused")
