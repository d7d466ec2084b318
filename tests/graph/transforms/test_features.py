"""Feature maps: each against its equation, dense and sparse alike."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from drgst.errors import SettingError
from drgst.graph.core import Graph, make_graph
from drgst.graph.transforms.features import row_l1, row_l2, svd, tfidf

X = np.array([[1, 1, 0, 2], [0, 0, 0, 0], [-3, 4, 0, 0]], dtype=np.float32)


def graph(x: object) -> Graph:
    return make_graph(x, np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]), [0, 1, 0])


def dense(g: Graph) -> np.ndarray:
    return g.features.toarray() if isinstance(g.features, sp.csr_array) else g.features


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(
    ("transform", "expected"),
    [
        (row_l1, [[0.25, 0.25, 0, 0.5], [0, 0, 0, 0], [-3 / 7, 4 / 7, 0, 0]]),
        (row_l2, [[6**-0.5, 6**-0.5, 0, 2 * 6**-0.5], [0, 0, 0, 0], [-0.6, 0.8, 0, 0]]),
        (tfidf, X * (1 + np.log(4 / (1 + np.array([2, 2, 0, 1]))))),
    ],
)
def test_rows_by_hand(kind: Callable, transform: Callable[[Graph], Graph], expected: list) -> None:
    g = graph(kind(X))
    out = transform(g)
    np.testing.assert_allclose(dense(out), expected, rtol=1e-6)
    assert sp.issparse(out.features) == sp.issparse(g.features)
    assert out.features.dtype == np.float32
    np.testing.assert_array_equal(dense(g), X)  # the graph given is left as it was


@settings(max_examples=50, deadline=None)
@given(hnp.arrays(np.float32, (3, 5), elements=st.floats(-1000, 1000, width=32).map(lambda v: round(v, 2))))
def test_normalised_rows_have_length_one_or_zero(x: np.ndarray) -> None:
    np.testing.assert_allclose(abs(dense(row_l1(graph(x)))).sum(1), x.any(1).astype(float), atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(dense(row_l2(graph(sp.csr_array(x)))), axis=1), x.any(1), atol=1e-5)


def low_rank(rng: np.random.Generator) -> np.ndarray:
    return rng.standard_normal((60, 4)) @ rng.standard_normal((4, 30)) + 0.01 * rng.standard_normal((60, 30))


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_svd_equals_the_exact_one_up_to_sign(kind: Callable) -> None:
    x = low_rank(np.random.default_rng(0)).astype(np.float32)
    g = make_graph(kind(x), sp.coo_array((60, 60)), np.arange(60) % 2)
    out = svd(g, 4, seed=0)
    u, s, _ = np.linalg.svd(x)
    np.testing.assert_allclose(abs(out.features), abs(u[:, :4] * s[:4]), rtol=1e-3, atol=1e-3)
    assert (out.features[abs(out.features).argmax(0), range(4)] > 0).all()
    np.testing.assert_allclose(svd(g, 4, seed=1).features, out.features, rtol=1e-2, atol=1e-3)


def test_svd_of_full_rank_keeps_all_products() -> None:
    x = X.copy()
    out = svd(graph(x), 3, seed=0).features
    np.testing.assert_allclose(out @ out.T, x @ x.T, atol=1e-4)


@pytest.mark.parametrize("k", [0, -2, 4])
def test_svd_refuses_a_rank_the_features_do_not_have(k: int) -> None:
    with pytest.raises(SettingError, match=f"k = {k}, but the features of 'graph' allow 1 to 3"):
        svd(graph(X), k, seed=0)
