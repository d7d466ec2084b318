"""Two processes that share a computation: exchanges by hand, views, regression and a whole run against one process."""

import multiprocessing
import socket
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
import torch.distributed as dist

from drgst.datasets.synthetic import block_model
from drgst.graph.core import Graph
from drgst.graph.relation import Relation
from drgst.graph.split import random_split
from drgst.recipes import find_recipe
from drgst.selftrain.engine import self_train
from drgst.selftrain.problem import Problem
from drgst.selftrain.views import shared as view_tables
from drgst.selftrain.views.graph_views import Views
from drgst.shards import ALONE, ProcessGroup, Shards
from drgst.transforms import approximate, features, knn, products
from drgst.transforms.features import krylov_vectors, projection
from drgst.transforms.propagate import sym_norm

GRAPH = block_model(300, 1_500, seed=0, classes=3, features=60, homophily=0.6)


def _process(function: Callable[[Shards], Any], rank: int, port: int, answers: Any) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
    answers.put((rank, function(ProcessGroup())))
    dist.barrier()
    dist.destroy_process_group()


def in_two_processes(function: Callable[[Shards], Any]) -> list[Any]:
    """What ``function`` returns in each of two processes."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    processes = [context.Process(target=_process, args=(function, rank, port, answers)) for rank in range(2)]
    for process in processes:
        process.start()
    found = dict(answers.get(timeout=120) for _ in processes)
    for process in processes:
        process.join(timeout=30)
    return [found[0], found[1]]


def _exchanges(shards: Shards) -> dict[str, Any]:
    whole = np.arange(35, dtype=np.float32).reshape(7, 5)
    own = whole[shards.rows(7)]
    return {
        "blocks": np.concatenate(list(shards.blocks(own, 7))),
        "all": shards.all_rows(own, 7),
        "mean": shards.mean(own),
        "extremes": np.stack(shards.extremes(own)),
        "any": shards.any(shards.rank == 0),
        "swap": np.concatenate(shards.swap([own[rank : rank + 1] for rank in range(shards.size)])),
        "sum": shards.sum(np.array([shards.rank + 1.0, 2])),
        "first": shards.first(("a", shards.rank)),
        "at": shards.at(own, np.array([6, 0, 3]), 7),
    }


def test_exchanges_by_hand() -> None:
    whole = np.arange(35, dtype=np.float32).reshape(7, 5)
    for rank, found in enumerate(in_two_processes(_exchanges)):
        np.testing.assert_array_equal(found["blocks"], whole)
        np.testing.assert_array_equal(found["mean"], whole.mean(axis=0))
        np.testing.assert_array_equal(found["extremes"], [whole[-1], whole[0]])
        np.testing.assert_array_equal(found["swap"], whole[[rank, 3 + rank]])
        assert found["any"]
        np.testing.assert_array_equal(found["all"], whole)
        np.testing.assert_array_equal(found["sum"], [3, 4])
        np.testing.assert_array_equal(found["at"], whole[[6, 0, 3]])
        assert found["first"] == ("a", 0)


def test_one_process_has_everything() -> None:
    found = _exchanges(ALONE)
    np.testing.assert_array_equal(found["blocks"], found["all"])
    assert found["first"] == ("a", 0)


def _views(shards: Shards, graph: Graph = GRAPH) -> dict[str, np.ndarray]:
    views = Views(graph, shards=shards)
    made = {name: views[name].astype(np.float32) for name in views.default_weights()}
    means = {name: a for name, a in views.maps.arrays.items() if name.endswith(".mean")}
    return made | means | {"defaults": np.array(list(views.default_weights().values()))}


def _compare(function: Callable[[Shards], dict[str, np.ndarray]], atol: float) -> None:
    alone, (first, second) = function(ALONE), in_two_processes(function)
    for name, whole in alone.items():
        shared = name.endswith((".mean", ".map")) or name == "defaults"
        found = first[name] if shared else np.concatenate([first[name], second[name]])
        np.testing.assert_allclose(found, whole, atol=atol, err_msg=name)


@pytest.mark.parametrize("approximated", [False, True])
def test_views_of_two_processes(monkeypatch: pytest.MonkeyPatch, approximated: bool) -> None:
    """Each has its rows of every view; means and default weights are those of one process."""
    if approximated:
        monkeypatch.setattr(knn, "EXACT_NODES", 10)
        monkeypatch.setattr(approximate, "LINKED_NODES", 10)
        monkeypatch.setattr(approximate, "CLUSTER_SIZE", 50)
        pytest.importorskip("faiss")
    _compare(_views, 1e-5)


def _cosines_of_views(shards: Shards) -> dict[str, np.ndarray]:
    views = Views(GRAPH, shards=shards)
    whole = {name: shards.all_rows(views[name].astype(np.float32), 300) for name in views.available}
    return {name: rows[shards.rows(300)] @ rows.T for name, rows in whole.items()}


def test_views_of_a_large_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    """As above 100,000 nodes: stored in 16 bits, with few columns by a Krylov space, whose signs are not fixed."""
    pytest.importorskip("faiss")
    for module, name, value in (
        (knn, "EXACT_NODES", 10),
        (approximate, "LINKED_NODES", 10),
        (approximate, "CLUSTER_SIZE", 50),
        (features, "MANY_ROWS", 100),
        (products, "MANY_ROWS", 100),
        (view_tables, "MANY_ROWS", 100),
        (view_tables, "WIDE_NODES", 100),
        (view_tables, "MAX_COLUMNS", 8),
        (view_tables, "MIN_COLUMNS", 8),
    ):
        monkeypatch.setattr(module, name, value)
    _compare(_cosines_of_views, 0.02)


def test_views_of_relations_and_numeric_features() -> None:
    rng = np.random.default_rng(0)
    incidence = sp.csr_array((rng.random((300, 40)) < 0.05).astype(np.float32))
    numeric = (rng.standard_normal((300, 5)) * [1, 10, 100, 1e3, 1e4]).astype(np.float32)
    names = np.array([str(k) for k in range(40)])
    graph = GRAPH.with_(features=numeric, relations=(Relation.of("device", incidence, names),))
    _compare(lambda shards: _views(shards, graph), 1e-4)


@pytest.mark.parametrize("of", [krylov_vectors, projection])
def test_singular_vectors_of_divided_features(monkeypatch: pytest.MonkeyPatch, of: Callable[..., np.ndarray]) -> None:
    """They span what those of one process span."""
    monkeypatch.setattr(features, "GRAM_COLUMNS", 10)
    rng = np.random.default_rng(0)
    x = sp.csr_array(rng.standard_normal((300, 4)) @ rng.standard_normal((4, 40)), dtype=np.float32)
    first, second = in_two_processes(lambda shards: of(x[shards.rows(300)], 4, shards=shards))
    np.testing.assert_array_equal(first, second)
    alone = of(x, 4)
    np.testing.assert_allclose(first @ first.T, alone @ alone.T, atol=1e-3)


def test_products_of_a_divided_matrix_are_bit_identical() -> None:
    s, x = sym_norm(GRAPH.adjacency), np.random.default_rng(0).random((300, 7), dtype=np.float32)

    def product(shards: Shards) -> np.ndarray:
        rows = shards.rows(300)
        return sym_norm(GRAPH.adjacency[rows], shards) @ x[rows]

    np.testing.assert_array_equal(np.concatenate(in_two_processes(product)), s @ x)


def _run(shards: Shards) -> tuple[np.ndarray, np.ndarray]:
    split = random_split(GRAPH, per_class=5, val=0, test=60, seed=0)
    spec = find_recipe("drgst-plus")
    settings = spec.settings({})
    problem = replace(Problem.of(GRAPH, split, settings), shards=shards)
    stage = self_train(problem, spec.make(settings))[-1]
    return stage.probabilities, stage.all_gain


def test_a_run_of_two_processes() -> None:
    """Both end with the probabilities of one process within 1e-4, with regressions that are fitted together."""
    p, gain = _run(ALONE)
    first, second = in_two_processes(_run)
    np.testing.assert_array_equal(first[0], second[0])
    np.testing.assert_allclose(first[0], p, atol=1e-4)
    np.testing.assert_allclose(first[1], gain, atol=1e-4)


def _network(shards: Shards) -> tuple[np.ndarray, int]:
    split = random_split(GRAPH, per_class=20, val=60, test=60, seed=0)
    spec = find_recipe("gcn")
    settings = spec.settings({"batch": 60, "epochs": 30, "hidden": 16})
    problem = replace(Problem.of(GRAPH, split, settings), shards=shards)
    stage = self_train(problem, spec.make(settings))[-1]
    return stage.probabilities, int((stage.predictions[split.test] == GRAPH.labels[split.test]).sum())


def test_mini_batches_of_two_processes() -> None:
    """Both processes end with the same network, which is about as good as that of one process."""
    pytest.importorskip("pymetis")
    _, right = _network(ALONE)
    first, second = in_two_processes(_network)
    np.testing.assert_array_equal(first[0], second[0])
    assert first[1] >= right - 6
