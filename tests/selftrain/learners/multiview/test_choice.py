"""The choice of a view: on homophilous and heterophilous graphs, without features, and with too few labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from drgst.errors import GraphError, SettingError
from drgst.graph.core import Graph, make_graph
from drgst.graph.datasets.synthetic import block_model
from drgst.graph.split import Split
from drgst.graph.splits import random_split
from drgst.selftrain.learners.multiview import views as module
from drgst.selftrain.learners.multiview.choice import _replaces, candidate_views, choose_view, view_choice
from drgst.selftrain.problem import Problem
from drgst.selftrain.settings import Settings

L2 = 3e-4


def town(homophily: float, signal: float) -> Graph:
    """300 nodes of 3 classes, 1,500 edges."""
    return block_model(300, 1_500, seed=1, classes=3, features=90, homophily=homophily, signal=signal)


def problem_of(graph: Graph, per_class: int = 10, val: int = 0) -> Problem:
    """A draw of that many labels per class."""
    return Problem.of(graph, random_split(graph, per_class=per_class, val=val, test=60, seed=0), Settings())


def choice(problem: Problem) -> tuple[str, str]:
    """The view that is taken, and why."""
    found = view_choice(problem, "auto", L2)
    return found.name, found.reason


@pytest.mark.parametrize("val", [0, 60])
def test_topology_on_homophilous_graphs(val: int) -> None:
    name, reason = choice(problem_of(town(0.9, 0.4), val=val))
    assert name == "topology"
    kind = "probability of validation labels" if val else "out-of-fold probability of training labels"
    assert reason.startswith(f"View topology: mean {kind}: topology ")
    assert "than a random pair" in reason


@pytest.mark.parametrize("val", [0, 60])
def test_no_edges_where_they_are_useless(val: int) -> None:
    """A third of the edges within three classes is chance."""
    assert choice(problem_of(town(1 / 3, 0.5), val=val))[0] == "knn+hops+structure"


def test_neighbours_where_features_are_useless() -> None:
    name, reason = choice(problem_of(town(0.9, 0.0), per_class=20, val=100))
    assert name == "neighbours"
    assert "49 % of the time (50 % by chance)" in reason


@pytest.mark.parametrize(
    ("homophily", "signal", "wanted"),
    [(0.9, 0.5, "topology"), (1 / 3, 0.5, "knn+hops+structure"), (0.9, 0.0, "neighbours")],
)
def test_one_label_per_class(homophily: float, signal: float, wanted: str) -> None:
    """Nothing to compare by: edges and features alone decide, and the sentence says so."""
    name, reason = choice(problem_of(town(homophily, signal), per_class=1))
    assert name == wanted
    assert "views can't be compared, as a class has one label only" in reason


def test_one_label_in_one_class() -> None:
    """As soon as one class has no folds, no view is compared."""
    graph = town(0.9, 0.5)
    problem = problem_of(graph)
    train = problem.split.train
    short = np.concatenate([train[graph.labels[train] > 0], train[graph.labels[train] == 0][:1]])
    name, reason = choice(Problem.of(graph, Split.of(short, [], [], 300), Settings()))
    assert name == "topology"
    assert "a class has one label only" in reason


def test_validation_labels_are_used_where_there_are_any(world: Any) -> None:
    """Other validation labels, other figures; without any, the figures are those of the training nodes."""
    problem = world.problem("drgst-plus")
    views = candidate_views(problem)
    labels = problem.graph.labels.copy()
    labels[problem.split.val] = (labels[problem.split.val] + 1) % 3
    changed = Problem(problem.graph.with_(labels=labels), problem.split, problem.settings)
    without = Problem.of(world.graph, world.split.without_validation(), problem.settings)
    reasons = [choose_view(p, views, L2).reason for p in (problem, changed, without)]
    assert len(set(reasons)) == 3


def test_the_only_view(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KNN_NODES", 59)
    graph = world.graph.with_(adjacency=sp.csr_array((60, 60), dtype=np.float32))
    name, reason = choice(Problem.of(graph, world.split, Settings()))
    assert (name, reason) == (
        "features",
        "View features: the graph has no other. Features are numeric, so they are rank-normalised.",
    )


@pytest.mark.parametrize("per_class", [1, 20])
@pytest.mark.parametrize(("homophily", "wanted"), [(0.9, "neighbours"), (0.02, "structure")])
@pytest.mark.parametrize("features", ["none", "one-hot"])
def test_edges_alone(homophily: float, wanted: str, per_class: int, features: str) -> None:
    """Within clusters neighbours, across them structure, for any number of labels; one-hot node names are not used."""
    graph = block_model(300, 1_500, seed=0, classes=2, homophily=homophily)
    own = sp.csr_array(sp.eye_array(300) if features == "one-hot" else (300, 0), dtype=np.float32)
    problem = problem_of(graph.with_(features=own), per_class=per_class)
    name, reason = choice(problem)
    assert name == wanted
    assert "of the time (50 % by chance)" in reason
    unused = "Features are not used: none is shared by some nodes and not by others."
    assert reason.endswith("There are no features." if features == "none" else unused)


def test_neighbours_are_no_candidate_on_homophilous_graphs_but_can_be_set() -> None:
    problem = problem_of(town(0.9, 0.5))
    assert "neighbours" not in candidate_views(problem)
    assert view_choice(problem, "neighbours", L2).views.smoother is not None
    assert "neighbours" not in candidate_views(problem), "set once, no candidate later"
    assert "neighbours" in candidate_views(problem_of(town(0.9, 0.0)))


def test_features_alone(world: Any) -> None:
    graph = world.graph.with_(adjacency=sp.csr_array((60, 60), dtype=np.float32))
    assert choice(Problem.of(graph, world.split, Settings()))[0] in ("knn", "features")


def test_a_view_that_is_set(world: Any) -> None:
    found = view_choice(world.problem("drgst-plus"), "hops", L2)
    assert found.name == "hops"
    assert found.reason == "View hops: as set. Features are numeric, so they are rank-normalised."


def test_a_view_that_the_graph_does_not_allow(world: Any) -> None:
    graph = make_graph(None, world.graph.adjacency, world.graph.labels)
    with pytest.raises(SettingError, match=r"no view 'knn' \(allowed: structure, neighbours, auto\)"):
        view_choice(Problem.of(graph, world.split, Settings()), "knn", L2)


def test_a_graph_without_edges_and_features_is_refused(world: Any) -> None:
    graph = make_graph(None, sp.csr_array((60, 60), dtype=np.float32), world.graph.labels)
    with pytest.raises(GraphError, match="neither edges nor features"):
        choice(Problem.of(graph, world.split, Settings()))


def test_views_are_made_once_per_graph_cache_and_chosen_once_per_problem(world: Any) -> None:
    problem = world.problem("drgst-plus")
    first = view_choice(problem, "auto", L2)
    assert view_choice(problem, "auto", L2) is first
    split = Split.of(np.arange(6), [], np.arange(30, 60), 60)
    shared = Problem.of(world.graph, split, problem.settings, graph_cache=problem.graph_cache)
    assert view_choice(shared, "auto", L2) is not first, "other labels"
    assert view_choice(shared, "knn", L2).views is candidate_views(problem)["knn"]
    alone = Problem.of(world.graph, split, problem.settings)
    assert view_choice(alone, "knn", L2).views is not candidate_views(problem)["knn"]
    assert view_choice(alone, "auto", L2).reason == view_choice(shared, "auto", L2).reason


def test_topology_on_a_heterophilous_graph_if_its_t_statistic_is_high() -> None:
    """Two classes: random pairs are similar half the time, so homophily is low, but topology is the best view."""
    graph = block_model(600, 2_400, seed=1, classes=2, homophily=0.85, signal=0.25)
    name, reason = choice(problem_of(graph, per_class=20))
    assert "52 % of the time" in reason
    assert name == "topology"


@pytest.mark.parametrize(
    ("rival", "t", "taken"),
    [
        ("topology+knn+hops+structure", 0.1, True),
        ("topology+knn+hops+structure", -0.1, False),
        ("hops", 1.2, False),
        ("hops", 1.4, True),
        ("structure", 1.2, False),
        ("structure", 1.4, True),
    ],
)
def test_the_critical_value_of_each_rival(rival: str, t: float, taken: bool) -> None:
    base = np.zeros(30)
    noise = np.resize([1.0, -1.0], 30)
    own = noise + t * noise.std(ddof=1) / np.sqrt(30)
    assert _replaces(rival, "knn+hops+structure", {"knn+hops+structure": base, rival: own}) is taken
    assert not _replaces(rival, "topology", {"topology": base, rival: own})


def test_a_part_of_the_compound_does_not_replace_it() -> None:
    """kNN, however high its t statistic on the few known labels, has nothing that is not in it."""
    found = {"knn+hops+structure": np.zeros(30), "knn": 5 + np.resize([1.0, -1.0], 30)}
    assert not _replaces("knn", "knn+hops+structure", found)


def test_topology_beside_nearest_neighbours_where_that_helps() -> None:
    """A significance level of 0.1 for kNN beside topology, of 0.001 for hops instead of it."""
    found = {"topology": np.zeros(60), "topology+knn": 0.02 + np.resize([0.1, -0.1], 60)}
    assert _replaces("topology+knn", "topology", found)
    assert not _replaces("hops", "topology", found | {"hops": found["topology+knn"]})


@pytest.mark.parametrize(
    ("homophily", "signal", "per_class", "wanted"),
    [
        (1 / 3, 0.5, 10, "features"),
        (0.9, 0.0, 20, "neighbours"),
        (1 / 3, 0.5, 1, "features"),
        (0.9, 0.0, 1, "neighbours"),
    ],
)
def test_too_many_nodes_for_nearest_neighbours(
    homophily: float, signal: float, per_class: int, wanted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The best of the others; with one label per class, what has a cluster signal."""
    monkeypatch.setattr(module, "KNN_NODES", 299)
    assert choice(problem_of(town(homophily, signal), per_class=per_class))[0] == wanted
