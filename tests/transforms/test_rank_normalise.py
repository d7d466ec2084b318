"""Rank normalisation: what counts as numeric, and the scores by hand; features from the edges alone."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import norm

import drgst
from drgst.datasets.synthetic import block_model
from drgst.errors import GraphError
from drgst.graph.core import Graph, make_graph
from drgst.graph.split import random_split
from drgst.transforms.rank_normalise import RankTable, describe_features, informative, is_numeric
from drgst.transforms.structure import COLUMNS, StructureMap


def rank_scores(x: Any) -> np.ndarray:
    return RankTable.fit(x)(x)


KINDS = pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])


def table(rng: np.random.Generator, nodes: int = 200) -> np.ndarray:
    """An amount, an age, a flag and two rare counts."""
    amount = np.exp(rng.normal(8, 2, nodes))
    age = rng.uniform(18, 90, nodes)
    rare = rng.poisson(0.1, (2, nodes))
    return np.column_stack([amount, age, rng.random(nodes) < 0.2, *rare]).astype(np.float32)


@KINDS
def test_what_is_numeric(kind: Callable[[Any], Any]) -> None:
    rng = np.random.default_rng(0)
    words = rng.poisson(0.1, (100, 50)).astype(np.float32)
    flags = (rng.random((100, 5)) < 0.9).astype(np.float32)
    mixed = words.copy()
    mixed[:, 0] *= 1_000
    assert not is_numeric(kind(words))
    assert not is_numeric(kind(flags)), "zeros and ones are words however frequent"
    assert not is_numeric(kind(np.zeros((4, 2), dtype=np.float32)))
    assert is_numeric(kind(table(rng)))
    assert is_numeric(kind(-words))
    assert is_numeric(kind(mixed)), "a rare column in a unit of its own"
    assert is_numeric(kind(rng.random((100, 5)).astype(np.float32))), "columns that all nodes have"


def test_cora_stays_as_it_is() -> None:
    x = drgst.load("cora").features
    assert not is_numeric(x)
    assert describe_features(x) == ""


def test_scores_by_hand() -> None:
    """The first column is full: normal scores; the second has zeros: ranks of the others, around 1."""
    x = np.array([[5, 0], [1e6, 0], [7, 2], [7, 30], [6, 0]], dtype=np.float32)
    got = rank_scores(x)
    ranks = np.array([1, 5, 3.5, 3.5, 2])
    np.testing.assert_allclose(got[:, 0], norm.ppf((ranks - 0.5) / 5), rtol=1e-5)
    np.testing.assert_allclose(got[:, 1], [0, 0, 0.75, 1.25, 0])


def test_units_are_kept_where_they_are_similar_and_dropped_where_not() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(500, 4)) * [1, 2, 3, 20]
    np.testing.assert_allclose(rank_scores(x).std(axis=0), x.std(axis=0), rtol=0.02)
    x[:, 3] *= 100
    np.testing.assert_allclose(rank_scores(x).std(axis=0), 1, rtol=0.02)


@KINDS
def test_scores_do_not_depend_on_units_far_apart_nor_on_tails(kind: Callable[[Any], Any]) -> None:
    """Any rising function of a full column gives the same scores."""
    x = table(np.random.default_rng(1))
    other = x.copy()
    other[:, 0] = np.sqrt(x[:, 0]) * 1e6
    other[:, 1] = 3e5 * x[:, 1] + 7
    one, two = rank_scores(kind(x)), rank_scores(kind(other))
    np.testing.assert_allclose(one, two, atol=1e-6)
    assert one.shape == x.shape


@KINDS
def test_numeric_features_are_ranked_and_described(kind: Callable[[Any], Any]) -> None:
    x = kind(table(np.random.default_rng(2)))
    assert rank_scores(x).shape == (200, 5)
    assert np.abs(rank_scores(x)).max() < 4
    assert describe_features(x) == "Features are numeric, so they are rank-normalised."
    assert describe_features(kind(np.zeros((4, 0), dtype=np.float32))) == "There are no features."
    assert describe_features(kind(np.eye(4, dtype=np.float32))).startswith("Features are not used: none is shared")


@pytest.mark.parametrize("unit", [1e-30, 1e-6, 1, 1e18])
def test_what_is_numeric_does_not_depend_on_the_unit(unit: float) -> None:
    x = np.random.default_rng(0).random((100, 5)) * unit
    assert is_numeric(x.astype(np.float32))
    assert not is_numeric(np.where(x > x.mean(), unit, 0).astype(np.float32))
    assert is_numeric((1.7e9 + 8_000 * np.random.default_rng(0).random((100, 1))).astype(np.float32)), "a time"


@KINDS
def test_rare_columns_with_signs(kind: Callable[[Any], Any]) -> None:
    x = np.zeros((6, 1), dtype=np.float32)
    x[:2, 0] = (-40, 3)
    got = rank_scores(kind(x))
    assert np.count_nonzero(got) == 2
    assert got[0, 0] / got[1, 0] == pytest.approx(-1.25 / 0.75)


def test_columns_that_tell_no_nodes_apart_are_not_informative() -> None:
    assert not informative(np.tile(np.float32([1, 5]), (6, 1)))
    assert informative(np.tile(np.float32([1, 5]), (6, 1)) + np.eye(6, 2, dtype=np.float32))
    # of one node each
    assert not informative(sp.csr_array(sp.eye_array(5, dtype=np.float32)))
    assert not informative(np.zeros((5, 0), dtype=np.float32))
    assert informative(np.array([[1], [1], [0]], dtype=np.float32))


def test_an_amount_in_cents_does_not_outweigh_the_rest() -> None:
    """Classes show in ten small columns; an eleventh, of no class, is a million times as large."""
    graph = block_model(400, 1_200, seed=3, classes=4, homophily=0.25)
    rng = np.random.default_rng(3)
    x = rng.normal(size=(4, 10))[graph.labels] + 0.6 * rng.normal(size=(400, 10))
    x = np.column_stack([x - x.min(), 1e6 * rng.random(400)]).astype(np.float32)
    graph = graph.with_(features=x)
    split = random_split(graph, per_class=5, seed=0, val=0, test=100)
    model = drgst.SelfTraining("drgst-plus").fit(graph, split)
    assert model.score(graph, split.test) > 0.85
    assert "rank-normalised" in model.history_[0].note


def graph_of(a: np.ndarray) -> Graph:
    return make_graph(None, a, np.full(len(a), -1), class_names=["a", "b"], unlabelled=True)


def features_of(a: np.ndarray) -> np.ndarray:
    graph = graph_of(a)
    return StructureMap.fit(graph)(graph)


def test_two_cliques_are_told_apart_and_small_graphs_have_as_many_columns() -> None:
    clique = np.ones((5, 5)) - np.eye(5)
    a = np.block([[clique, np.zeros((5, 5))], [np.zeros((5, 5)), clique]])
    a[4, 5] = a[5, 4] = 1
    x = features_of(a)
    assert x.shape == (10, COLUMNS)
    assert x.dtype == np.float32
    near = x @ x.T
    same = np.kron(np.eye(2), np.ones((5, 5))).astype(bool)
    assert near[same].mean() > near[~same].mean() + 0.5
    np.testing.assert_allclose(x[:, -1].mean(), 0, atol=1e-6)
    assert x[4, -1] > x[0, -1]


def test_without_edges_all_are_zero() -> None:
    assert not features_of(np.zeros((4, 4))).any()
    assert features_of(np.zeros((1, 1))).shape == (1, COLUMNS)


def test_known_nodes_keep_their_rows_and_new_ones_lie_beside_their_neighbours() -> None:
    """A subgraph, the graph with a new node in the second clique, and another graph, which is refused."""
    rng = np.random.default_rng(0)
    same = np.kron(np.eye(2), np.ones((100, 100)))
    a = np.triu(rng.random((200, 200)) < 0.02 + 0.2 * same, 1).astype(float)
    fitted = graph_of(a + a.T)
    structure = StructureMap.fit(fitted)
    x = structure(fitted)
    part = np.arange(0, 200, 3)
    sub = make_graph(
        None, fitted.adjacency[part][:, part], np.full(part.size, -1), class_names=["a", "b"], unlabelled=True
    )
    np.testing.assert_array_equal(structure(sub.with_(node_ids=fitted.node_ids[part]))[:, :-1], x[part, :-1])
    larger = np.zeros((201, 201))
    larger[:200, :200] = a
    larger[130:150, 200] = 1
    y = structure(graph_of(larger + larger.T))
    np.testing.assert_array_equal(y[:200, :-1], x[:, :-1])
    near = y[:200, :-1] @ y[200, :-1]
    assert near[100:].mean() > near[:100].mean() + 0.3
    b = np.triu(rng.random((200, 200)) < 0.02 + 0.2 * same, 1).astype(float)
    other = graph_of(b + b.T)
    for strange in (other, other.with_(node_ids=np.array([f"n{k}" for k in range(200)]))):
        with pytest.raises(GraphError, match="say nothing about another graph"):
            structure(strange)
