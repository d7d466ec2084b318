"""Neighbours as words: one matrix in two forms."""

from __future__ import annotations

import numpy as np

from drgst.datasets.synthetic import block_model
from drgst.selftrain.views.neighbours import neighbour_idf, neighbour_words, scaled_neighbour_words
from drgst.transforms.features import idf, row_l2
from drgst.transforms.propagate import sym_norm

A = block_model(60, 200, seed=0).adjacency


def test_they_are_tfidf_of_a_node_and_its_neighbours() -> None:
    dense = A.toarray() + np.eye(60, dtype=np.float32)
    np.testing.assert_array_equal(neighbour_idf(A), idf(dense))
    np.testing.assert_allclose(neighbour_words(A, neighbour_idf(A)).toarray(), row_l2(dense * idf(dense)), atol=1e-6)


def test_later_nodes_are_no_columns() -> None:
    early = neighbour_idf(A)[:50]
    words = neighbour_words(A, early)
    assert words.shape == (60, 50)
    np.testing.assert_allclose(np.linalg.norm(words.toarray()[:50], axis=1), 1, atol=1e-6)


def test_both_forms_give_the_same_products() -> None:
    weighted = A * 2.5
    for a in (A, weighted):
        words, y = neighbour_words(a, neighbour_idf(a)), np.random.default_rng(0).random((60, 11), dtype=np.float32)
        scaled = scaled_neighbour_words(a, sym_norm(a), neighbour_idf(a))
        np.testing.assert_allclose(scaled @ y, words @ y, atol=1e-5)
        np.testing.assert_allclose(scaled.T @ y, words.T @ y, atol=1e-5)
