"""Learning curves: the points, what is asked, what is hidden, the store."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from drgst.datasets.synthetic import block_model
from drgst.errors import SettingError
from drgst.graph.split import random_split
from drgst.io.npz import load_graph
from drgst.lab.grid.executors import Inline
from drgst.lab.label_curves import make_curves
from drgst.lab.simulate import Plan, Simulation, execute_curve, known_classes, start_split
from drgst.lab.store import Store
from drgst.lab.store.cells import RunFilter, runs_by_cell
from drgst.selftrain.problem import GraphCache


def plan(tiny: Path, **changes: object) -> Plan:
    usual = {"recipe": "drgst-plus", "start": 2, "budget": 12, "batch": 5, "draws": 1, "by": ("random",)}
    return Plan(str(tiny), **{**usual, **changes})  # type: ignore[arg-type]


def test_points_of_a_curve(tiny: Path) -> None:
    """6 labels, then 5, 5 and the last 2; each point has its figures and, but for the last, the time of the choice."""
    (task,) = plan(tiny, recipe="drgst-plus").tasks()
    row = execute_curve(task)
    assert row["error"] is None
    points = json.loads(row["stage_rows"])
    assert [point["labels"] for point in points] == [6, 11, 16, 18]
    assert row["test_accuracy"] == points[-1]["accuracy"]
    assert ["choice_seconds" in point for point in points] == [True, True, True, False]


def test_from_no_labels(tiny: Path) -> None:
    """Classes without a label count as wrong; one class alone is predicted everywhere."""
    (task,) = plan(tiny, recipe="drgst-plus", start=0, budget=6, batch=1, by=("variance",)).tasks()
    points = json.loads(execute_curve(task)["stage_rows"])
    assert [point["labels"] for point in points] == [1, 2, 3, 4, 5, 6]
    graph = load_graph(tiny)
    truth = graph.labels[start_split(graph, 0, 0).test]
    assert points[0]["accuracy"] in [pytest.approx((truth == c).mean(), abs=1e-6) for c in range(3)]


def test_only_free_nodes_are_asked(tiny: Path) -> None:
    """Neither validation nor test nodes, and test labels change nothing but the figures."""
    graph = load_graph(tiny)
    (task,) = plan(tiny, recipe="drgst-plus", by=("margin",)).tasks()
    simulation = Simulation(graph, task, GraphCache())
    split = simulation.split
    sampled = np.ones(graph.num_nodes, dtype=bool)
    p, state = simulation._fit(split.train, sampled, np.random.default_rng(0))
    assert not np.isin(state.candidates, np.concatenate([split.train, split.val, split.test])).any()
    scrambled = graph.labels.copy()
    scrambled[split.test] = (scrambled[split.test] + 1) % 3
    other = Simulation(graph.with_(labels=scrambled), task, GraphCache())
    other.__dict__["split"] = split
    np.testing.assert_array_equal(other._fit(split.train, sampled, np.random.default_rng(0))[0], p)


def test_store_keeps_curves_apart_from_runs(tiny: Path, store: Store) -> None:
    """A second call makes none; tables of runs do not show them."""
    wanted = plan(tiny, recipe="drgst-plus", by=("random", "margin"), budget=2, batch=2)
    first = make_curves(wanted, store, Inline(execute_curve))
    again = make_curves(wanted, store, Inline(execute_curve))
    assert (first.ran, first.reused, again.ran, again.reused) == (2, 0, 0, 2)
    assert first.summary() == again.summary()
    assert not runs_by_cell(store.all_rows(), RunFilter(validation="none"))


@pytest.mark.parametrize(
    ("changes", "words"), [({"by": ("margn",)}, "margin"), ({"budget": 0}, "budget"), ({"by": ()}, "no chooser")]
)
def test_refused(tiny: Path, changes: dict[str, object], words: str) -> None:
    with pytest.raises(SettingError, match=words):
        plan(tiny, **{"recipe": "drgst-plus", **changes})


def test_failure_is_a_row(tiny: Path) -> None:
    (task,) = plan(tiny, recipe="drgst-plus").tasks()
    assert "have changed" in execute_curve(replace(task, split_sha256="0"))["error"]


def test_known_classes() -> None:
    """A class without a training label is removed, and its validation nodes join the pool."""
    graph = block_model(150, 500, seed=0, classes=3, features=40, words=6)
    split = random_split(graph, per_class=2, val=20, test=20, seed=0)
    lacking = replace(split, train=split.train[graph.labels[split.train] != 1])
    fewer, made, known = known_classes(graph, lacking)
    assert known.tolist() == [0, 2]
    assert fewer.num_classes == 2
    np.testing.assert_array_equal(fewer.labels, np.select([graph.labels == 0, graph.labels == 2], [0, 1], -1))
    assert (graph.labels[made.val] != 1).all()
    assert np.isin(split.val[graph.labels[split.val] == 1], made.pool).all()
    assert known_classes(graph, split)[0] is graph
