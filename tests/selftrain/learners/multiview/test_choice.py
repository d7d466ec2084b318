"""Which view is pseudo: where edges help, where they do not, where features do not, and where nobody can know."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.stats

from drgst.errors import SettingError
from drgst.graph.core import Graph, make_graph
from drgst.graph.datasets.synthetic import block_model
from drgst.graph.split import Split, random_split
from drgst.selftrain.learners.multiview import views as lenses
from drgst.selftrain.learners.multiview.choice import Shelf, _replaces, choose, critical_value
from drgst.selftrain.problem import Problem
from drgst.selftrain.settings import Settings

L2 = 3e-4


def town(homophily: float, signal: float) -> Graph:
    """300 nodes of 3 classes, 1,500 edges."""
    return block_model(300, 1_500, seed=1, classes=3, features=90, homophily=homophily, signal=signal)


def problem_of(graph: Graph, per_class: int = 10, val: int = 0) -> Problem:
    """A draw of that many labels a class."""
    return Problem.of(graph, random_split(graph, per_class=per_class, val=val, test=60, seed=0), Settings())


def choice(problem: Problem) -> tuple[str, str]:
    """The view that is taken, and why."""
    panel = Shelf().panel(problem, "auto", L2)
    return panel.name, panel.reason


@pytest.mark.parametrize("val", [0, 60])
def test_topology_where_edges_join_alike_nodes(val: int) -> None:
    name, reason = choice(problem_of(town(0.9, 0.4), val=val))
    assert name == "topology"
    assert reason.startswith("topology: mean probability of known labels left out: topology ")
    assert "random pair" in reason


@pytest.mark.parametrize("val", [0, 60])
def test_no_edges_where_they_are_useless(val: int) -> None:
    """A third of the edges within three classes is chance."""
    assert choice(problem_of(town(1 / 3, 0.5), val=val))[0] == "knn+hops+structure"


def test_neighbours_where_features_are_useless() -> None:
    name, reason = choice(problem_of(town(0.9, 0.0), per_class=20, val=100))
    assert name == "neighbours"
    assert "49% of the time" in reason


@pytest.mark.parametrize(
    ("homophily", "signal", "wanted"),
    [(0.9, 0.5, "topology"), (1 / 3, 0.5, "knn+hops+structure"), (0.9, 0.0, "neighbours")],
)
def test_one_label_a_class(homophily: float, signal: float, wanted: str) -> None:
    """Nothing to compare by: edges and features alone decide, and the sentence says so."""
    name, reason = choice(problem_of(town(homophily, signal), per_class=1))
    assert name == wanted
    assert "a class has one label alone, so views can't be compared" in reason


def test_one_label_in_one_class() -> None:
    """As soon as one class can't be left out, no view is judged by the others."""
    graph = town(0.9, 0.5)
    problem = problem_of(graph)
    train = problem.split.train
    short = np.concatenate([train[graph.labels[train] > 0], train[graph.labels[train] == 0][:1]])
    name, reason = choice(Problem.of(graph, Split.of(short, [], [], 300), Settings()))
    assert name == "topology"
    assert "a class has one label alone" in reason


def test_validation_labels_are_asked_where_there_are(world: Any) -> None:
    """Other validation labels, other figures; without any, the figures are those of the training nodes."""
    problem = world.problem("drgst-plus")
    views = Shelf().views(problem.graph)
    labels = problem.graph.labels.copy()
    labels[problem.split.val] = (labels[problem.split.val] + 1) % 3
    changed = Problem(problem.graph.with_(labels=labels), problem.split, problem.settings)
    without = Problem.of(world.graph, world.split.without_validation(), problem.settings)
    reasons = [choose(p, views, L2)[1] for p in (problem, changed, without)]
    assert len(set(reasons)) == 3


def test_the_only_view(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lenses, "MANY", 59)
    graph = world.graph.with_(adjacency=sp.csr_array((60, 60), dtype=np.float32))
    name, reason = choice(Problem.of(graph, world.split, Settings()))
    assert (name, reason) == (
        "features",
        "features: the graph offers nothing else. Features are numbers rather than words, so their ranks are read.",
    )


@pytest.mark.parametrize("per_class", [1, 20])
@pytest.mark.parametrize(("homophily", "wanted"), [(0.9, "neighbours"), (0.02, "structure")])
@pytest.mark.parametrize("features", ["none", "one-hot"])
def test_edges_alone(homophily: float, wanted: str, per_class: int, features: str) -> None:
    """Within groups neighbours, across them structure, whatever the number of labels; names of nodes tell nothing."""
    graph = block_model(300, 1_500, seed=0, classes=2, homophily=homophily)
    own = sp.csr_array(sp.eye_array(300) if features == "one-hot" else (300, 0), dtype=np.float32)
    problem = problem_of(graph.with_(features=own), per_class=per_class)
    panel = Shelf().panel(problem, "auto", L2)
    assert panel.name == wanted
    assert "of the time (50% is chance)" in panel.reason
    said = (
        "There are no features."
        if features == "none"
        else "No feature is shared by some nodes and not by others, so they are not read."
    )
    assert panel.reason.endswith(said)


def test_neighbours_are_not_made_where_features_vouch_for_edges_but_can_be_asked_for() -> None:
    problem = problem_of(town(0.9, 0.5))
    shelf = Shelf()
    assert "neighbours" not in shelf.views(problem.graph)
    assert shelf.panel(problem, "neighbours", L2).view.smoother is not None
    assert "neighbours" not in shelf.views(problem.graph), "asked for once, not offered later"
    assert "neighbours" in Shelf().views(town(0.9, 0.0))


def test_features_alone(world: Any) -> None:
    graph = world.graph.with_(adjacency=sp.csr_array((60, 60), dtype=np.float32))
    assert choice(Problem.of(graph, world.split, Settings()))[0] in ("knn", "features")


def test_a_view_that_is_asked_for(world: Any) -> None:
    panel = Shelf().panel(world.problem("drgst-plus"), "hops", L2)
    assert (panel.name, panel.reason) == (
        "hops",
        "hops: as it was asked for. Features are numbers rather than words, so their ranks are read.",
    )


def test_a_view_that_the_graph_does_not_permit(world: Any) -> None:
    graph = make_graph(None, world.graph.adjacency, world.graph.labels)
    with pytest.raises(SettingError, match=r"no view 'knn' \(it has structure, neighbours, or auto\)"):
        Shelf().panel(Problem.of(graph, world.split, Settings()), "knn", L2)


def test_views_are_made_once_a_graph_and_the_panel_once_a_problem(world: Any, worlds: Any) -> None:
    shelf = Shelf()
    problem = world.problem("drgst-plus")
    panel = shelf.panel(problem, "auto", L2)
    assert shelf.panel(problem, "auto", L2) is panel
    other_draw = Problem.of(world.graph, Split.of(np.arange(6), [], np.arange(30, 60), 60), problem.settings)
    second = shelf.panel(other_draw, "auto", L2)
    assert second is not panel
    assert shelf.views(world.graph) is shelf.views(problem.graph)
    assert shelf.panel(other_draw, "hops", L2).name == "hops"
    elsewhere = worlds(nodes=90).problem("drgst-plus")
    assert shelf.panel(elsewhere, "auto", L2).view.lenses[0].shape[0] == 90


def test_clearly_is_the_tail_of_students_t() -> None:
    assert scipy.stats.t.sf(critical_value(30, 0.025), 29) == pytest.approx(0.025)
    assert critical_value(10, 0.001) > critical_value(1_000, 0.001) > critical_value(1_000, 0.025) > 1.95


def test_where_edges_do_not_vouch_topology_must_lead() -> None:
    """Two classes: random pairs are alike half the time, so feature_homophily is low, but topology reads best."""
    graph = block_model(600, 2_400, seed=1, classes=2, homophily=0.85, signal=0.25)
    name, reason = choice(problem_of(graph, per_class=20))
    assert "52% of the time" in reason
    assert name == "topology"


@pytest.mark.parametrize(
    ("rival", "ahead", "taken"),
    [
        ("topology+knn+hops+structure", 0.1, True),
        ("topology+knn+hops+structure", -0.1, False),
        ("hops", 1.2, False),
        ("hops", 1.4, True),
        ("structure", 1.2, False),
        ("structure", 1.4, True),
    ],
)
def test_how_clear_a_lead_must_be(rival: str, ahead: float, taken: bool) -> None:
    base = np.zeros(30)
    noise = np.resize([1.0, -1.0], 30)
    own = noise + ahead * noise.std(ddof=1) / np.sqrt(30)
    assert _replaces(rival, "knn+hops+structure", {"knn+hops+structure": base, rival: own}) is taken
    assert not _replaces(rival, "topology", {"topology": base, rival: own})


def test_what_is_in_the_compound_does_not_replace_it() -> None:
    """kNN and features, however far ahead on the few known labels, hold nothing that is not in it."""
    found = {"knn+hops+structure": np.zeros(30), "knn": 5 + np.resize([1.0, -1.0], 30)}
    assert not _replaces("knn", "knn+hops+structure", found)


def test_topology_beside_nearest_neighbours_where_that_helps() -> None:
    """A small but align_prior t_statistic is enough."""
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
    """Whatever leads among the others; with one label a class, what holds groups."""
    monkeypatch.setattr(lenses, "MANY", 299)
    assert choice(problem_of(town(homophily, signal), per_class=per_class))[0] == wanted
