"""drgst-plus from end to end: no test label is used, a model is saved, an interrupted run is resumed."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import drgst
from drgst.datasets.synthetic import block_model
from drgst.graph.core import Graph
from drgst.graph.split import random_split
from drgst.runs.config import RunConfig
from drgst.runs.folder import RunFolder
from drgst.runs.run import Run
from drgst.selftrain.engine import believe
from drgst.selftrain.history import History
from drgst.selftrain.persist import load_stage, save_stage
from drgst.selftrain.views.graph_views import Views
from drgst.transforms.softmax import softmax

NOTE = r"View weights: {} [01]\.\d\d.*\. Features are numeric, so they are rank-normalised\."


@pytest.fixture(scope="module")
def run(world: Any) -> History:
    """A finished run in the small world; do not change it."""
    history: History = world.run("drgst-plus", stages=3, view="topology")
    return history


def town() -> Graph:
    """200 nodes of 3 classes, hard enough that the stages differ."""
    graph = block_model(200, 600, seed=1, classes=3, features=60, homophily=0.8, signal=0.3)
    return graph.with_(name="town", splits=(random_split(graph, per_class=4, val=40, test=60, seed=0),))


def test_a_run(world: Any) -> None:
    model = drgst.SelfTraining("drgst-plus").fit(world.graph, world.split)
    assert model.score(world.graph, world.split.test) > 0.7
    assert model.stop_reason_ == "all 5 stages are done"
    assert len(model.history_) == 6
    assert np.isfinite(model.gain_).all()
    sizes = [stage.pseudo_labels.nodes.size for stage in model.history_.stages]
    assert sizes[:4] == sorted(sizes[:4])
    for stage in model.history_.stages:
        assert np.isin(stage.pseudo_labels.nodes, world.split.pool).all()


def test_validation_labels_train(world: Any) -> None:
    model = drgst.SelfTraining("drgst-plus").fit(world.graph, world.split)
    np.testing.assert_array_equal(model.split_.train, np.union1d(world.split.train, world.split.val))
    assert model.split_.val.size == 0
    held = drgst.SelfTraining("drgst-plus", {"val_labels": "hold-out"}).fit(world.graph, world.split)
    np.testing.assert_array_equal(held.split_.val, world.split.val)


def test_no_validation_labels_are_needed(world: Any) -> None:
    model = drgst.SelfTraining("drgst-plus").fit(world.graph, world.split.without_validation())
    assert model.score(world.graph, world.split.test) > 0.7
    np.testing.assert_array_equal(model.probabilities_, model.history_[-1].probabilities)


def test_the_seed_has_no_effect(world: Any) -> None:
    """Convex problems have one solution."""
    one, two = (drgst.SelfTraining("drgst-plus", seed=s).fit(world.graph, world.split) for s in (0, 7))
    np.testing.assert_array_equal(one.probabilities_, two.probabilities_)


@pytest.mark.parametrize("view", ["auto", "topology+knn"])
def test_labels_of_test_and_pool_are_never_used(world: Any, view: str) -> None:
    hidden = np.concatenate([world.split.test, world.split.pool])
    labels = world.graph.labels.copy()
    labels[hidden] = (labels[hidden] + 1) % 3
    scrambled = world.graph.with_(labels=labels)
    one, two = (drgst.SelfTraining("drgst-plus", {"view": view}).fit(g, world.split) for g in (world.graph, scrambled))
    np.testing.assert_array_equal(one.probabilities_, two.probabilities_)
    assert one.history_[0].note == two.history_[0].note


def test_a_saved_model(world: Any, worlds: Any, tmp_path: Path) -> None:
    model = drgst.SelfTraining("drgst-plus").fit(world.graph, world.split)
    model.save(str(tmp_path / "m"))
    loaded = drgst.load_model(str(tmp_path / "m"))
    np.testing.assert_array_equal(loaded.predict(), model.predict())
    np.testing.assert_allclose(loaded.predict_proba(world.graph), model.probabilities_, atol=1e-6)
    other = worlds(nodes=90).graph
    with pytest.warns(UserWarning, match="the remaining views are used"):
        assert (loaded.predict(other) == other.labels).mean() > 0.5


def test_the_note_is_given_once(run: History) -> None:
    assert run[0].note == run[0].summary()["note"]
    assert re.fullmatch(NOTE.format("topology"), run[0].note)
    assert [stage.note for stage in run.stages[1:]] == ["", "", ""]
    assert all(stage.accepted for stage in run.stages)


def test_parts_go_by_the_selection_logits_and_the_result_does_not(world: Any, run: History) -> None:
    problem = world.problem("drgst-plus", view="topology")
    np.testing.assert_array_equal(believe(problem, run[0], 1).logits, run[0].selection_logits)
    confidence = softmax(run[0].selection_logits)[run[1].pseudo_labels.nodes].max(axis=1)
    np.testing.assert_array_equal(run[1].confidence, confidence)
    np.testing.assert_array_equal(run[0].final_logits, run[0].logits)
    assert np.abs(run[0].probabilities - softmax(run[0].selection_logits)).max() > 0.01


def test_without_selection_logits_parts_go_by_the_logits(world: Any, history: History) -> None:
    assert all(stage.selection_logits is None for stage in history.stages)
    np.testing.assert_array_equal(believe(world.problem(), history[-1], 2).logits, history[-1].logits)


def test_stage_files_keep_the_selection_logits(run: History, history: History, same: Any, tmp_path: Path) -> None:
    loaded = []
    for stage in run.stages:
        save_stage(stage, tmp_path / f"{stage.number}")
        loaded.append(load_stage(tmp_path / f"{stage.number}"))
        np.testing.assert_array_equal(loaded[-1].selection_logits, stage.selection_logits)
        assert loaded[-1].selection_logits.dtype == stage.selection_logits.dtype
    same(History(tuple(loaded), run.stop_reason), run)
    save_stage(history[1], tmp_path / "network")
    assert load_stage(tmp_path / "network").selection_logits is None


def test_a_resumed_run_is_bit_identical(tmp_path: Path) -> None:
    """From the teacher and stage 1 alone."""
    graph = town()
    run = Run.from_config(RunConfig(data="town", recipe="drgst-plus", threads=1), lambda _: graph)
    folder = RunFolder(tmp_path / "run")
    run.execute(folder=folder)
    names = ("predictions.csv", "model.safetensors", "model.json")
    before = {name: (folder / name).read_bytes() for name in names}
    stages = folder.stage_files()
    assert len(stages) == 6
    for path in (folder / "summary.json", *stages[2:]):
        path.unlink()
    Run.from_config(folder.config(), lambda _: graph).execute(folder=folder, resume=True)
    assert {name: (folder / name).read_bytes() for name in names} == before
    assert drgst.load_model(str(folder)).predict().shape == (200,)


def test_a_warm_fit_equals_a_fresh_one_and_makes_no_view_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the further label is the first one of its class."""
    graph = town()
    nodes = np.concatenate([np.flatnonzero(graph.labels == c)[:4] for c in (0, 1)])
    more = np.append(nodes, np.flatnonzero(graph.labels == 2)[0])

    def shown(nodes: np.ndarray, classes: int) -> Graph:
        labels = np.full(graph.num_nodes, -1, dtype=np.int64)
        labels[nodes] = graph.labels[nodes]
        return graph.with_(labels=labels, class_names=graph.class_names[:classes], splits=())

    fresh = drgst.SelfTraining("drgst-plus").fit(shown(more, 3))
    first = drgst.SelfTraining("drgst-plus").fit(shown(nodes, 2))
    monkeypatch.setattr(Views, "_make", lambda _self, name: pytest.fail(f"{name} is made again"))
    warm = drgst.SelfTraining("drgst-plus").fit(shown(more, 3), warm_from=first)
    np.testing.assert_array_equal(warm.predict_proba(), fresh.predict_proba())
