"""Two processes that share a computation: exchanges by hand, views, regression and a whole run against one process."""

import multiprocessing
import socket
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
import torch.distributed as dist

from drgst.datasets.synthetic import block_model
from drgst.graph.split import random_split
from drgst.recipes import find_recipe
from drgst.selftrain.engine import self_train
from drgst.selftrain.problem import Problem
from drgst.selftrain.views.graph_views import Views
from drgst.shards import ALONE, ProcessGroup, Shards
from drgst.transforms import approximate, knn

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
        "rows": shards.to_rows(whole[:, shards.columns(5)].astype(np.float16), 5),
        "all": shards.all_rows(own, 7),
        "sum": shards.sum(np.array([shards.rank + 1.0, 2])),
        "first": shards.first(("a", shards.rank)),
        "at": shards.at(own, np.array([6, 0, 3]), 7),
    }


def test_exchanges_by_hand() -> None:
    whole = np.arange(35, dtype=np.float32).reshape(7, 5)
    for rank, found in enumerate(in_two_processes(_exchanges)):
        np.testing.assert_array_equal(found["rows"], whole[:3] if rank == 0 else whole[3:])
        np.testing.assert_array_equal(found["all"], whole)
        np.testing.assert_array_equal(found["sum"], [3, 4])
        np.testing.assert_array_equal(found["at"], whole[[6, 0, 3]])
        assert found["first"] == ("a", 0)


def test_one_process_has_everything() -> None:
    found = _exchanges(ALONE)
    np.testing.assert_array_equal(found["rows"], found["all"])
    assert found["first"] == ("a", 0)


def _views(shards: Shards) -> dict[str, np.ndarray]:
    views = Views(GRAPH, shards=shards)
    made = {name: views[name] for name in views.default_weights()}
    means = {name: a for name, a in views.maps.arrays.items() if name.endswith(".mean")}
    return made | means | {"defaults": np.array(list(views.default_weights().values()))}


@pytest.mark.parametrize("approximated", [False, True])
def test_views_of_two_processes(monkeypatch: pytest.MonkeyPatch, approximated: bool) -> None:
    """Each has its rows of every view; means and default weights are those of one process."""
    if approximated:
        monkeypatch.setattr(knn, "EXACT_NODES", 10)
        monkeypatch.setattr(approximate, "LINKED_NODES", 10)
        monkeypatch.setattr(approximate, "CLUSTER_SIZE", 50)
        pytest.importorskip("faiss")
    alone, (first, second) = _views(ALONE), in_two_processes(_views)
    for name, whole in alone.items():
        shared = name.endswith((".mean", ".map")) or name == "defaults"
        found = first[name] if shared else np.concatenate([first[name], second[name]])
        np.testing.assert_allclose(found, whole, atol=1e-5, err_msg=name)


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
