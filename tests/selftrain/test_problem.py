"""Weights of given labels, and which of them are a sample."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from drgst.datasets.synthetic import block_model
from drgst.graph.split import Split
from drgst.selftrain.problem import Problem
from drgst.selftrain.settings import Settings


def problem() -> Problem:
    """Four labels of class 0, two of class 1, one of class 2."""
    graph = block_model(60, 150, seed=0, classes=3, features=20, words=4)
    train = np.concatenate([np.flatnonzero(graph.labels == c)[:k] for c, k in enumerate((4, 2, 1))])
    none = np.empty(0, dtype=np.int64)
    return Problem.of(graph, Split.of(train, none, none, 60), Settings())


def test_labels_that_were_asked_for_weigh_the_same_per_class() -> None:
    """Without a mask every label weighs 1; with one the labels of each class weigh a third, in the mean 1."""
    whole = problem()
    assert whole.true_weights.tolist() == [1.0] * 7
    assert whole.train_sampled.all()
    sampled = np.ones(60, dtype=bool)
    sampled[whole.split.train[:2]] = False
    asked = replace(whole, sampled=sampled)
    labels = whole.graph.labels[whole.split.train]
    np.testing.assert_allclose([asked.true_weights[labels == c].sum() for c in range(3)], 7 / 3)
    np.testing.assert_array_equal(asked.train_sampled, sampled[whole.split.train])
    given = replace(asked, sample_weight=np.arange(60.0))
    np.testing.assert_allclose(given.true_weights.mean(), 1)


def test_without_any_sample_all_labels_calibrate() -> None:
    assert replace(problem(), sampled=np.zeros(60, dtype=bool)).train_sampled.all()
