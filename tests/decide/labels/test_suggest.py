"""Suggested labels, and the forecast of what more labels bring."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import drgst
from drgst.datasets.synthetic import block_model
from drgst.decide.labels.forecast import Fit, extrapolate, forecast, power_law
from drgst.decide.labels.registry import default_chooser, find_chooser
from drgst.decide.labels.state import LabelState, representation
from drgst.decide.labels.suggest import CONFIDENT, STANDS_FOR, Suggestions, suggest, suggest_first, suggest_nodes
from drgst.errors import RunError, SettingError
from drgst.graph.split import random_split
from drgst.runs.config import RunConfig
from drgst.runs.result import Result
from drgst.runs.run import Run
from drgst.selftrain.views.graph_views import Views

GRAPH = block_model(150, 500, seed=0, classes=3, features=40, words=6)
NAMES = ("a", "b", "c")


def suggested(state: LabelState, by: str, n: int) -> Suggestions:
    return suggest_nodes(state, find_chooser(by), n, NAMES)


def state(confident: int = 0) -> LabelState:
    """40 nodes in two bundles, two labelled; the first ``confident`` candidates are of confidence 0.99."""
    rng = np.random.default_rng(0)
    z = np.repeat(np.eye(2), 20, axis=0) + 0.05 * rng.standard_normal((40, 2))
    p = np.tile([0.45, 0.4, 0.15], (40, 1))
    p[2 : 2 + confident] = [0.99, 0.005, 0.005]
    return LabelState(z, np.arange(2, 40), np.arange(2), np.random.default_rng(0), p)


def test_confident_nodes_need_a_reason() -> None:
    """A node of confidence 0.99 is suggested only where it stands for others."""
    for n in (3, 20):
        given = state(confident=30)
        found = suggested(given, "variance", n)
        confidence = given.probabilities[found.nodes].max(axis=1)  # type: ignore[index]
        assert (found.represents[confidence > CONFIDENT] >= STANDS_FOR).all()
        assert all(found.reasons)
    assert "were left out" in found.note
    assert not suggested(state(), "variance", 3).note


def test_samples_keep_confident_nodes() -> None:
    found = suggested(state(confident=38), "random", 10)
    assert found.nodes.size == 10
    assert all(words.startswith("drawn at random") for words in found.reasons)


def test_reason_names_what_a_person_can_check() -> None:
    found = suggested(state(), "variance", 1)
    nodes = f"{found.represents[0]:,} nodes are nearer to it than to any label"
    assert found.reasons == (f"{nodes}; between a (0.45) and b (0.40)",)
    drawn = suggested(state(38), "random", 38)
    assert set(drawn.reasons) == {"drawn at random"}


def test_rows() -> None:
    given = state()
    drawn = suggested(given, "random", 4).rows(given.probabilities)
    assert all(row["probability"] == pytest.approx(4 / 38) for row in drawn)
    chosen = suggested(given, "margin", 4).rows(None)
    assert all(row["probability"] is None and row["predicted"] is None for row in chosen)
    assert {row["chosen_by"] for row in chosen} == {"margin"}


def test_limits() -> None:
    assert suggested(state(), "variance", 1000).nodes.tolist() == list(range(2, 40))
    with pytest.raises(SettingError, match="at least 1"):
        suggested(state(), "variance", 0)


def test_representation_is_the_weighted_kernel() -> None:
    views = Views(GRAPH)
    weights = {"features": 0.75, "knn": 0.25, "hops": 0.01}
    z = representation(views, weights)
    kernel = 0.75 * views["features"] @ views["features"].T + 0.25 * views["knn"] @ views["knn"].T
    scale = np.linalg.norm(np.hstack([np.sqrt(w) * views[v] for v, w in list(weights.items())[:2]]), axis=1).mean()
    np.testing.assert_allclose(z @ z.T, kernel / scale**2, atol=1e-4)


def test_first_suggestions() -> None:
    found = suggest_first(GRAPH.with_(labels=np.full(150, -1), splits=()), 6)
    assert len(set(found.nodes.tolist())) == 6
    assert "No label is used." in found.note
    assert [words.startswith("drawn at random") for words in found.reasons] == [True] * 3 + [False] * 3
    assert [row["chosen_by"] for row in found.rows(None)] == ["random"] * 3 + ["half-random"] * 3
    assert all(words.startswith("represents") for words in found.reasons[3:])


def test_labels_of_a_graph_are_not_asked_for_again() -> None:
    graph = drgst.block_model(80, 240, seed=0, classes=2, features=12)
    some = graph.with_(labels=np.where(np.arange(80) < 60, graph.labels, -1))
    found = suggest_first(some, 10)
    assert found.nodes.min() >= 60
    assert "The 60 labels of the graph are not used: drgst run" in found.note


def test_a_result_suggests_candidates() -> None:
    split = random_split(GRAPH, per_class=3, val=20, test=20, seed=0)
    result = Run.of(GRAPH, RunConfig(recipe="drgst-plus", seed=0, settings={"stages": 1}), split).execute()
    for by in (None, "balanced", "margin"):
        found = suggest(result, 7, by)
        assert np.isin(found.nodes, result.model.arrays["candidates"]).all()
        np.testing.assert_array_equal(found.nodes, suggest(result, 7, by).nodes)


def test_hidden_labels_may_be_asked_for_and_no_curve_is_claimed_without_a_choice() -> None:
    """Of a data set with a few nodes without any label, the other pool nodes are suggested as well."""
    split = random_split(GRAPH, per_class=3, val=20, test=20, seed=0)
    labels = GRAPH.labels.copy()
    bare = split.pool[:3]
    labels[bare] = -1
    config = RunConfig(recipe="drgst-plus", seed=0, settings={"stages": 1})
    result = Run.of(GRAPH.with_(labels=labels), config, split).execute()
    found = suggest(result, 12, "balanced")
    assert found.nodes.size == 12
    assert (labels[found.nodes] >= 0).any()
    every = suggest(result, 1_000)
    size = np.setdiff1d(split.pool, split.test).size
    assert every.note == f"Only {size} nodes can be labelled, so there was nothing to choose."


def test_validation_nodes_of_a_network_do_not_count_as_labelled() -> None:
    """Their labels stop the training; the model learns nothing from them."""
    split = random_split(GRAPH, per_class=3, val=20, test=20, seed=0)
    every = np.union1d(split.train, split.val)
    for recipe, settings, wanted in (("gcn", {"epochs": 5}, split.train), ("drgst-plus", {"stages": 1}, every)):
        result = Run.of(GRAPH, RunConfig(recipe=recipe, seed=0, settings=settings), split).execute()
        np.testing.assert_array_equal(result.train, wanted)


def asked_result(random: int, asked: int) -> Result:
    """A run with so many labels of a random sample, and so many that were asked for."""
    split = random_split(GRAPH, per_class=(random + asked) // 3, val=0, test=30, seed=0)
    run = Run.of(GRAPH, RunConfig(recipe="drgst-plus", seed=0, settings={"stages": 1}), split)
    sampled = np.zeros(150, dtype=bool)
    sampled[run.split.train[:random]] = True
    return replace(run, problem=replace(run.problem, sampled=sampled)).execute()


def test_labels_that_were_asked_for_tell_no_accuracy() -> None:
    result = asked_result(random=9, asked=9)
    assert result.oof_accuracy is None
    assert result.summary()["oof_labels"] == 0
    assert "label 10 to 20 random nodes" in result.oof_words
    with pytest.raises(RunError, match="needs 10 labels of a random sample, and the run has 9"):
        forecast(result)
    assert default_chooser("drgst-plus", int(result.sampled.sum())) == suggest(result, 4).by == "half-random"
    assert "can be far too high" in asked_result(random=0, asked=18).stage.note
    assert "can be far too high" in result.stage.note


def test_a_random_sample_among_them_does() -> None:
    result = asked_result(random=12, asked=6)
    assert "too high" not in result.stage.note
    right = result.out_of_fold.argmax(axis=1)[:12] == result.train_labels[:12]  # type: ignore[union-attr]
    assert result.oof_accuracy == pytest.approx(right.mean())
    assert "of the 12 labels that were not asked for" in result.oof_words
    assert all(fit.tried <= 12 for fit in forecast(result, (10,)).fits)


def fits(a: float, b: float) -> tuple[Fit, ...]:
    return tuple(Fit(m, 10_000, round(10_000 * (a + b / np.sqrt(m)))) for m in (10, 20, 40, 60))


def test_a_known_curve_is_found_again() -> None:
    m = np.array([10, 20, 40])
    (a, b), deviation = power_law(m, 0.1 + 0.8 / np.sqrt(m), np.full(3, 1e6))
    assert (a, b) == (pytest.approx(0.1, abs=0.01), pytest.approx(0.8, abs=0.01))
    assert deviation < 0.01
    assert power_law(m, 0.1 + 0.8 / np.sqrt(m), np.full(3, 1e-6))[0][1] == pytest.approx(0.5)  # the prior
    found = extrapolate(fits(0.1, 0.8), 4_000, (20, 100))
    gain, low, high = found.gains[100]
    assert gain == pytest.approx(0.8 * (4_000**-0.5 - 4_100**-0.5), rel=0.1)
    assert low < gain < high
    assert found.error == pytest.approx(0.1 + 0.8 / np.sqrt(4_000), abs=0.01)
    assert not found.pays
    assert extrapolate(fits(0.1, 0.8), 40, (20, 100)).pays


def test_labels_stop_paying() -> None:
    found = extrapolate(fits(0.2, 0.0), 2_000, (20, 100))
    assert not found.pays
    assert any("stop paying" in line for line in found.sentences())
    assert found.document()["pays"] is False


def test_an_accuracy_to_which_labels_bring_more_is_below_all() -> None:
    """Where every prediction of the fits is right, the forecast does not expect more than all of them."""
    found = extrapolate(tuple(Fit(m, 6, 0) for m in (4, 8, 12)), 17, (20, 100))
    assert 0 < found.gains[100][0] <= found.error


def test_of_a_run() -> None:
    graph = drgst.block_model(150, 500, seed=0, classes=3, features=40, words=6)
    run = Run.of(
        graph,
        RunConfig(recipe="drgst-plus", seed=0, settings={"stages": 1}),
        drgst.random_split(graph, per_class=6, val=0, test=30, seed=0),
    )
    found = forecast(run.execute(), (10,))
    assert found.labels == 18
    assert [fit.labels for fit in found.fits] == [3, 9, 12] * 3
    few = drgst.random_split(graph, per_class=2, val=0, test=30, seed=0)
    with pytest.raises(RunError, match="needs 12"):
        forecast(Run.of(graph, RunConfig(recipe="drgst-plus", seed=0, settings={"stages": 1}), few).execute())


def test_labels_that_are_tried_again_count_once() -> None:
    """More repeats of the same fits make no interval narrower; labels that no fit is tried on make it wider."""
    once = extrapolate(fits(0.1, 0.8), 40, (20,))
    again = extrapolate(fits(0.1, 0.8) * 5, 40, (20,))
    assert again.gains[20] == pytest.approx(once.gains[20])
    _, low, high = once.gains[20]
    _, lower, higher = extrapolate(fits(0.1, 0.8), 40, (20,), alone=20).gains[20]
    assert higher - lower > high - low


def test_fewer_candidates_than_are_left_out_are_no_error() -> None:
    """Where every candidate is confident and represents few, none is left, and nothing fails."""
    z = np.eye(30, 8, dtype=np.float32) + 0.1
    p = np.tile([0.99, 0.01], (30, 1))
    state = LabelState(z, np.arange(20, 30), np.arange(20), np.random.default_rng(0), p, np.zeros(30), sampled=20)
    for n in (3, 6, 9):
        found = suggest_nodes(state, find_chooser("typical-first"), n, ("a", "b"))
        assert found.nodes.size == len(found.reasons) <= n
