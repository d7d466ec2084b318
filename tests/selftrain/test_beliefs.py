"""What parts are handed and hand back, the history of a run, and the problem that a run may know."""

import gc
import json
import weakref
from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest

import drgst
from drgst.datasets.synthetic import block_model
from drgst.graph.split import Split, random_split
from drgst.selftrain.beliefs import PseudoLabels
from drgst.selftrain.history import History, result_stage
from drgst.selftrain.problem import GraphCache, Problem
from drgst.selftrain.settings import Settings
from drgst.selftrain.slots.postprocess import describe


def test_what_follows_from_the_logits(beliefs) -> None:
    p = beliefs.probabilities
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(beliefs.predictions, p.argmax(axis=1))
    np.testing.assert_array_equal(beliefs.confidence, p.max(axis=1))
    ordered = np.sort(p, axis=1)
    np.testing.assert_allclose(beliefs.margin, ordered[:, -1] - ordered[:, -2])


def test_labels_of_test_and_pool_are_hidden(beliefs, world) -> None:
    """A part can't read what it must not know: -1 on test and pool nodes."""
    labels = beliefs.graph.labels
    assert (labels[world.split.test] == -1).all()
    assert (labels[world.split.pool] == -1).all()
    np.testing.assert_array_equal(labels[world.split.train], world.graph.labels[world.split.train])
    np.testing.assert_array_equal(beliefs.train_labels, world.graph.labels[world.split.train])
    with pytest.raises(ValueError, match="read-only"):
        labels[0] = 1


def test_chosen_is_sorted_with_its_labels() -> None:
    pseudo = PseudoLabels.of(np.array([5, 2, 9]), np.array([0, 1, 2]))
    np.testing.assert_array_equal(pseudo.nodes, [2, 5, 9])
    np.testing.assert_array_equal(pseudo.labels, [1, 0, 2])


def test_agreement_counts_same_nodes_with_same_labels_over_the_union() -> None:
    a = PseudoLabels.of(np.array([1, 2, 3]), np.array([0, 0, 1]))
    b = PseudoLabels.of(np.array([2, 3, 4]), np.array([0, 0, 1]))
    assert a.agreement(b) == pytest.approx(1 / 4)
    assert a.agreement(a) == 1
    assert PseudoLabels.empty().agreement(PseudoLabels.empty()) == 1
    assert a.agreement(PseudoLabels.empty()) == 0


def stages(history: History, *sets: list[int], accepted: tuple[bool, ...] | None = None) -> History:
    """A history whose stages pseudo-labelled these nodes."""
    ok = accepted or (True,) * len(sets)
    made = [
        replace(history[0], number=k, pseudo_labels=PseudoLabels.of(np.array(s, int), np.zeros(len(s))), accepted=a)
        for k, (s, a) in enumerate(zip(sets, ok, strict=True))
    ]
    return History(tuple(made))


def test_entered_is_the_first_stage(history) -> None:
    """Stage of the first pseudo-label; 0 for true labels, -1 for never."""
    entered = stages(history, [], [5, 6], [6, 7]).entered(9, np.array([0, 1]))
    np.testing.assert_array_equal(entered, [0, 0, -1, -1, -1, 1, 1, 2, -1])


def test_a_stage_that_was_not_accepted_lets_nobody_in(history) -> None:
    entered = stages(history, [], [5], [6], accepted=(True, True, False)).entered(8, np.array([0]))
    np.testing.assert_array_equal(entered, [0, -1, -1, -1, -1, 1, -1, -1])


def test_with_stage_and_ended_make_copies(history) -> None:
    longer = history.with_stage(history[1])
    assert len(longer) == len(history) + 1
    assert longer.seconds == pytest.approx(history.seconds + history[1].seconds)
    assert history.ended("enough").stop_reason == "enough"
    assert history.stop_reason != "enough"
    with pytest.raises(FrozenInstanceError):
        history.stop_reason = "x"


def test_summary_is_plain_json_without_hidden_labels(history) -> None:
    for stage in history.stages:
        told = json.loads(json.dumps(stage.summary(), allow_nan=False))
        assert told["pseudo_labelled"] == stage.pseudo_labels.nodes.size
        assert told["epochs"] == sum(t.epochs for t in stage.trainings)
    first = history[0].summary()
    assert (first["pseudo_labelled"], first["mean_gain"], first["mean_weight"]) == (0, None, None)


def test_summary_without_validation_has_none_not_nan(worlds) -> None:
    world = worlds()
    alone = type(world)(world.graph, world.split.without_validation())
    told = alone.run(stages=1, fixed_epochs=10)[-1].summary()
    assert told["val_loss"] is None
    json.dumps(told, allow_nan=False)


@pytest.mark.parametrize(
    ("losses", "best", "student"),
    [([0.5, 0.7, 0.6], 0, 2), ([0.9, 0.4, 0.6], 1, 1), ([0.9, 0.6, 0.6], 1, 1), ([0.5], 0, 0)],
)
def test_the_best_may_be_the_teacher_but_the_best_student_is_not(
    history: History, losses: list[float], best: int, student: int
) -> None:
    """By validation loss; of students of equal accuracy that of lower loss, of equal ones the first."""
    stages = [
        replace(history[0], number=k, trainings=(replace(history[0].trainings[0], val_loss=loss, val_accuracy=0.8),))
        for k, loss in enumerate(losses)
    ]
    made = History(tuple(stages))
    assert result_stage(made, "best").number == best
    assert result_stage(made, "best-student").number == student
    assert result_stage(made, "last").number == len(losses) - 1


def test_without_validation_the_last_is_the_result(history: History) -> None:
    blind = tuple(
        replace(history[0], number=k, trainings=(replace(history[0].trainings[0], val_loss=float("nan")),))
        for k in range(3)
    )
    for keep in ("last", "best", "best-student"):
        assert result_stage(History(blind), keep).number == 2


def problem() -> Problem:
    """Four labels of class 0, two of class 1, one of class 2."""
    graph = block_model(60, 150, seed=0, classes=3, features=20, words=4)
    train = np.concatenate([np.flatnonzero(graph.labels == c)[:k] for c, k in enumerate((4, 2, 1))])
    none = np.empty(0, dtype=np.int64)
    return Problem.of(graph, Split.of(train, none, none, 60), Settings())


def test_classes_weigh_by_labels_of_a_sample_where_others_were_asked_for() -> None:
    """Without a mask every label weighs 1; with one, classes weigh by 1 + 2, 1 + 2 and 1 + 1 labels of a sample."""
    whole = problem()
    assert whole.true_weights.tolist() == [1.0] * 7
    assert whole.train_sampled.all()
    sampled = np.ones(60, dtype=bool)
    sampled[whole.split.train[:2]] = False
    asked = replace(whole, sampled=sampled)
    labels = whole.graph.labels[whole.split.train]
    sums = [asked.true_weights[labels == c].sum() for c in range(3)]
    np.testing.assert_allclose(sums, 7 * np.array([3, 3, 2]) / 8)
    none = replace(whole, sampled=np.zeros(60, dtype=bool))
    np.testing.assert_allclose([none.true_weights[labels == c].sum() for c in range(3)], 7 / 3)
    np.testing.assert_array_equal(asked.train_sampled, sampled[whole.split.train])
    given = replace(asked, sample_weight=np.arange(60.0))
    np.testing.assert_allclose(given.true_weights.mean(), 1)


def test_an_accuracy_of_few_labels_of_a_sample_is_called_so() -> None:
    learnt = {"labels": np.array(2), "correct": np.array([2, 2]), "temperature": np.array(1.0)}
    sampled = np.zeros(60, dtype=bool)
    for few in (False, True):
        asked = replace(problem(), sampled=sampled if few else None)
        assert asked.few_sampled is few
        words = ", which can be far too high: fewer than 10 labels are a random sample; temperature"
        assert (words in describe(learnt, 2, few=asked.few_sampled)) is few


def test_without_any_sample_all_labels_calibrate() -> None:
    assert replace(problem(), sampled=np.zeros(60, dtype=bool)).train_sampled.all()


def test_a_value_is_made_once_for_graphs_that_differ_in_labels_alone(world: Any) -> None:
    cache, made = GraphCache(), []

    def make() -> int:
        made.append(1)
        return len(made)

    other_labels = world.graph.with_(labels=np.zeros(60, dtype=np.int64))
    for graph in (world.graph, other_labels, world.graph):
        assert cache.get(graph, "value", make) == 1
    assert cache.get(world.graph, "other", make) == 2


def test_another_graph_empties_it(world: Any, worlds: Any) -> None:
    cache = GraphCache()
    assert cache.get(world.graph, "value", lambda: 1) == 1
    other = worlds(nodes=90).graph
    assert cache.get(other, "value", lambda: 2) == 2
    assert cache.get(other.with_(features=other.features.copy()), "value", lambda: 3) == 3
    assert cache.get(world.graph, "value", lambda: 4) == 4


def test_a_finished_run_releases_its_graph() -> None:
    """Nothing in the process refers to the matrices of a graph once its user has let go of graph and model."""
    graph = block_model(200, 600, seed=1, classes=3, features=60)
    split = random_split(graph, per_class=4, val=0, test=60, seed=0)
    adjacency, features = weakref.ref(graph.adjacency), weakref.ref(graph.features)
    model = drgst.SelfTraining("drgst-plus").fit(graph, split)
    assert len(model.history_) == 6
    del graph, model
    gc.collect()
    assert adjacency() is None
    assert features() is None
