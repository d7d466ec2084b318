"""Features that can be read: what counts as a measurement, and what becomes of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import norm

import drgst
from drgst.graph.core import Graph, make_graph
from drgst.graph.datasets.synthetic import block_model
from drgst.graph.split import random_split
from drgst.graph.transforms.rank_normalise import is_numeric, rank_normalised, remark, scores, shared
from drgst.selftrain.learners.multiview.ensemble import scale_l2

KINDS = pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])


def bare(x: Any) -> Graph:
    """A graph of these features without edges."""
    return make_graph(x, sp.csr_array((x.shape[0], x.shape[0])), np.arange(x.shape[0]) % 2)


def table(rng: np.random.Generator, nodes: int = 200) -> np.ndarray:
    """An amount, an age, a flag and two rare counts."""
    amount = np.exp(rng.normal(8, 2, nodes))
    age = rng.uniform(18, 90, nodes)
    rare = rng.poisson(0.1, (2, nodes))
    return np.column_stack([amount, age, rng.random(nodes) < 0.2, *rare]).astype(np.float32)


@KINDS
def test_what_is_measured(kind: Callable[[Any], Any]) -> None:
    rng = np.random.default_rng(0)
    words = rng.poisson(0.1, (100, 50)).astype(np.float32)
    flags = (rng.random((100, 5)) < 0.9).astype(np.float32)
    loud = words.copy()
    loud[:, 0] *= 1_000
    assert not is_numeric(kind(words))
    assert not is_numeric(kind(flags)), "zeros and ones are words however frequent"
    assert not is_numeric(kind(np.zeros((4, 2), dtype=np.float32)))
    assert is_numeric(kind(table(rng)))
    assert is_numeric(kind(-words))
    assert is_numeric(kind(loud)), "a rare column in a unit of its own"
    assert is_numeric(kind(rng.random((100, 5)).astype(np.float32))), "columns that all nodes have"


def test_cora_is_words() -> None:
    graph = drgst.load("cora")
    assert rank_normalised(graph) is graph
    assert remark(graph) == ""


def test_scores_by_hand() -> None:
    """The first column is full: normal scores; the second has zeros: ranks of the others, around 1."""
    x = np.array([[5, 0], [1e6, 0], [7, 2], [7, 30], [6, 0]], dtype=np.float32)
    got = scores(x)
    ranks = np.array([1, 5, 3.5, 3.5, 2])
    np.testing.assert_allclose(got[:, 0], norm.ppf((ranks - 0.5) / 5), rtol=1e-5)
    np.testing.assert_allclose(got[:, 1], [0, 0, 0.75, 1.25, 0])


def test_units_are_kept_where_they_are_alike_and_dropped_where_not() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(500, 4)) * [1, 2, 3, 20]
    np.testing.assert_allclose(scores(x).std(axis=0), x.std(axis=0), rtol=0.02)
    x[:, 3] *= 100
    np.testing.assert_allclose(scores(x).std(axis=0), 1, rtol=0.02)


@KINDS
def test_scores_do_not_feel_units_far_apart_nor_tails(kind: Callable[[Any], Any]) -> None:
    """Any rising function of a full column gives the same scores, so that a ruler does not matter."""
    x = table(np.random.default_rng(1))
    other = x.copy()
    other[:, 0] = np.sqrt(x[:, 0]) * 1e6
    other[:, 1] = 3e5 * x[:, 1] + 7
    one, two = scores(kind(x)), scores(kind(other))
    assert isinstance(one, np.ndarray) == (kind is np.asarray)
    dense = [v if isinstance(v, np.ndarray) else v.toarray() for v in (one, two)]
    np.testing.assert_allclose(dense[0], dense[1], atol=1e-6)
    assert dense[0].shape == x.shape


@KINDS
def test_readable_ranks_measurements_and_says_so(kind: Callable[[Any], Any]) -> None:
    graph = bare(kind(table(np.random.default_rng(2))))
    assert rank_normalised(graph).num_features == 5
    assert np.abs(rank_normalised(graph).features).max() < 4
    assert remark(graph) == "Features are numbers rather than words, so their ranks are read."


@pytest.mark.parametrize("unit", [1e-30, 1e-6, 1, 1e18])
def test_what_is_measured_does_not_depend_on_the_unit(unit: float) -> None:
    x = np.random.default_rng(0).random((100, 5)) * unit
    assert is_numeric(x.astype(np.float32))
    assert not is_numeric(np.where(x > x.mean(), unit, 0).astype(np.float32))
    assert is_numeric((1.7e9 + 8_000 * np.random.default_rng(0).random((100, 1))).astype(np.float32)), "a time"


@KINDS
def test_rare_columns_with_signs_stay_sparse(kind: Callable[[Any], Any]) -> None:
    x = np.zeros((6, 1), dtype=np.float32)
    x[:2, 0] = (-40, 3)
    got = scores(kind(x))
    dense = got if isinstance(got, np.ndarray) else got.toarray()
    assert np.count_nonzero(dense) == 2
    assert dense[0, 0] / dense[1, 0] == pytest.approx(-1.25 / 0.75)


def test_columns_that_never_change_are_not_shared() -> None:
    assert not shared(bare(np.tile(np.float32([1, 5]), (6, 1))))
    assert shared(bare(np.tile(np.float32([1, 5]), (6, 1)) + np.eye(6, 2, dtype=np.float32)))


def test_features_of_one_node_each_are_not_shared() -> None:
    assert not shared(bare(sp.csr_array(sp.eye_array(5, dtype=np.float32))))
    assert not shared(bare(np.zeros((5, 0), dtype=np.float32)))
    assert shared(bare(np.array([[1], [1], [0]], dtype=np.float32)))


def test_an_amount_in_cents_does_not_drown_the_rest() -> None:
    """Classes show in ten small columns; an eleventh, of no class, is a million times as large."""
    graph = block_model(400, 1_200, seed=3, classes=4, homophily=0.25)
    rng = np.random.default_rng(3)
    x = rng.normal(size=(4, 10))[graph.labels] + 0.6 * rng.normal(size=(400, 10))
    x = np.column_stack([x - x.min(), 1e6 * rng.random(400)]).astype(np.float32)
    graph = graph.with_(features=x)
    split = random_split(graph, per_class=5, seed=0, val=0, test=100)
    model = drgst.SelfTraining("drgst-plus").fit(graph, split)
    assert model.score(graph, split.test) > 0.85
    assert "ranks are read" in model.history_[0].note


@pytest.mark.parametrize(("classes", "wanted"), [(2, 3e-4), (10, 3e-4), (70, 3e-4 / 7)])
def test_many_classes_ease_the_l2(classes: int, wanted: float) -> None:
    assert scale_l2(3e-4, classes) == pytest.approx(wanted)
