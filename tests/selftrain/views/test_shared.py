"""What views have learnt, the ridge map of propagated views, and neighbours as words."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from drgst.datasets.synthetic import block_model
from drgst.selftrain.views import shared as module
from drgst.selftrain.views.base import PENALTY, ridge_map
from drgst.selftrain.views.neighbours import neighbour_idf, neighbour_words, scaled_neighbour_words
from drgst.selftrain.views.shared import Shared, ViewMaps, checksum_of_ids, columns_kept
from drgst.transforms import products
from drgst.transforms.features import idf, row_l2


def test_an_array_is_learnt_once() -> None:
    maps = ViewMaps()
    first = maps.learn("a.mean", lambda: np.zeros(2))
    assert maps.learn("a.mean", lambda: np.ones(2)) is first
    assert maps.under("a.") == {"mean": first}


def test_the_fitted_nodes_are_found_by_ids_and_features(world: Any) -> None:
    graph = world.graph
    maps = ViewMaps()
    assert maps.fitted_nodes(graph) == graph.num_nodes
    assert maps.are_of_the_first_nodes(graph)
    other = graph.with_(node_ids=np.array([f"other{n}" for n in range(graph.num_nodes)]))
    assert not maps.are_of_the_first_nodes(other)
    assert not maps.are_of_the_first_nodes(graph.with_(features=np.asarray(graph.features) + 1))
    for changed, same in ((6, True), (7, False)):  # nine in ten of 60 nodes must be as they were
        x = np.asarray(graph.features).copy()
        x[:changed] += 1
        assert maps.are_of_the_first_nodes(graph.with_(features=x)) is same


def test_the_checksum_does_not_depend_on_the_size_of_a_block(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = checksum_of_ids(world.graph, 50)
    monkeypatch.setattr(module, "ID_BLOCK", 7)
    assert checksum_of_ids(world.graph, 50) == whole
    assert checksum_of_ids(world.graph, 49) != whole


@pytest.mark.parametrize(("wide", "mapped"), [(100, 100), (10, 100), (10, 10)])
def test_storage_in_memory_and_in_a_file(world: Any, monkeypatch: pytest.MonkeyPatch, wide: int, mapped: int) -> None:
    """Of the 60 nodes of the graph, more than ``wide`` are stored in 16 bits and more than ``mapped`` in a file."""
    monkeypatch.setattr(module, "WIDE_NODES", wide)
    monkeypatch.setattr(module, "MAPPED_NODES", mapped)
    made = module.Shared(world.graph).empty((3, 2), "z")
    made[:] = 1.5
    assert made.dtype == ("float32" if wide == 100 else "float16")
    assert isinstance(made, np.memmap) == (mapped == 10)


@pytest.mark.parametrize(("nodes", "kept"), [(0, 256), (30_000, 256), (200_000, 99), (1_000_000, 44), (10**8, 32)])
def test_of_very_many_nodes_fewer_columns_are_kept(nodes: int, kept: int) -> None:
    assert columns_kept(nodes) == kept


def test_against_the_normal_equations() -> None:
    rng = np.random.default_rng(0)
    x, z = rng.normal(3, 1, (50, 4)).astype(np.float32), rng.normal(size=(50, 3)).astype(np.float32)
    centred = x - x.mean(axis=0)
    penalty = PENALTY * centred.var(axis=0).mean() * 50
    expected = np.linalg.solve(centred.T @ centred + penalty * np.eye(4), centred.T @ z)
    np.testing.assert_allclose(ridge_map(x, z), expected, atol=1e-5)


def test_noise_is_shortened_and_what_is_predicted_stays() -> None:
    """The first column of z is that of x; the second has nothing to do with x."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(2_000, 2)).astype(np.float32)
    found = ridge_map(x, np.stack([x[:, 0], rng.normal(size=2_000)], axis=1).astype(np.float32))
    np.testing.assert_allclose(found, [[1, 0], [0, 0]], atol=0.06)


def test_blocks_of_rows_and_16_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    x, z = rng.normal(size=(500, 5)).astype(np.float16), rng.normal(size=(500, 5)).astype(np.float16)
    whole = ridge_map(x.astype(np.float32), z.astype(np.float32))
    monkeypatch.setattr(products, "BLOCK_BYTES", 1_000)
    np.testing.assert_allclose(ridge_map(x, z), whole, atol=1e-6)


def test_constant_columns_give_zeros() -> None:
    np.testing.assert_array_equal(ridge_map(np.ones((6, 2), np.float32), np.ones((6, 3), np.float32)), np.zeros((2, 3)))


GRAPH = block_model(60, 200, seed=0)
A = GRAPH.adjacency


def test_they_are_tfidf_of_a_node_and_its_neighbours() -> None:
    dense = A.toarray() + np.eye(60, dtype=np.float32)
    np.testing.assert_array_equal(neighbour_idf(A), idf(dense))
    np.testing.assert_allclose(neighbour_words(A, neighbour_idf(A)).toarray(), row_l2(dense * idf(dense)), atol=1e-6)


def test_nodes_without_neighbours_share_a_word() -> None:
    lone = sp.csr_array(sp.block_diag([sp.csr_array((1, 1)), A, sp.csr_array((2, 2))], format="csr"), dtype=np.float32)
    words = neighbour_words(lone, neighbour_idf(lone)).toarray()
    np.testing.assert_array_equal(words[[0, 61, 62]], np.eye(63)[[0, 0, 0]])
    np.testing.assert_array_equal(words[1:61, [0, 61, 62]], 0)


def test_later_nodes_are_no_columns() -> None:
    early = neighbour_idf(A)[:50]
    words = neighbour_words(A, early)
    assert words.shape == (60, 50)
    np.testing.assert_allclose(np.linalg.norm(words.toarray()[:50], axis=1), 1, atol=1e-6)


def test_both_forms_give_the_same_products() -> None:
    weighted = A * 2.5
    for a in (A, weighted):
        words, y = neighbour_words(a, neighbour_idf(a)), np.random.default_rng(0).random((60, 11), dtype=np.float32)
        scaled = scaled_neighbour_words(Shared(GRAPH.with_(adjacency=a)), neighbour_idf(a))
        np.testing.assert_allclose(scaled @ y, words @ y, atol=1e-5)
        np.testing.assert_allclose(scaled.T @ y, words.T @ y, atol=1e-5)
