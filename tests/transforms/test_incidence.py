"""Products with incidences, against the matrix of pairs that they stand for."""

import numpy as np
import pytest
import scipy.sparse as sp

from drgst.errors import GraphError
from drgst.graph.core import make_graph
from drgst.graph.relation import Relation
from drgst.transforms.features import projection
from drgst.transforms.incidence import Factor, LinkMatrix, with_links_as_edges
from drgst.transforms.propagate import Polynomial, smooth_log_probs, sym_norm

B = sp.csr_array(np.random.default_rng(0).random((40, 12)) < 0.15, dtype=np.float32)


def formed(b: sp.csr_array) -> np.ndarray:
    """B W Bᵀ without its diagonal, W_e = 1 / (n_e - 1), by hand."""
    dense = b.toarray().astype(np.float64)
    n = dense.sum(axis=0)
    a = dense @ np.diag(np.where(n > 1, 1 / np.maximum(n - 1, 1), 0)) @ dense.T
    np.fill_diagonal(a, 0)
    return a


def test_an_entity_adds_one_to_the_row_of_each_of_its_nodes() -> None:
    shared = B.toarray() @ (B.sum(axis=0) > 1)
    assert np.allclose(formed(B).sum(axis=1), shared)


def test_products_are_those_of_the_formed_matrix() -> None:
    edges = sp.csr_array(np.triu(np.random.default_rng(1).random((40, 40)) < 0.05, 1), dtype=np.float32)
    edges = sp.csr_array(edges + edges.T)
    a = LinkMatrix.of([Factor.of(B), Factor.of(B[:, :5])], edges)
    whole = formed(B) + formed(B[:, :5]) + edges.toarray()
    x = np.random.default_rng(2).standard_normal((40, 3)).astype(np.float32)
    assert np.allclose(a @ x, (whole + np.eye(40)) @ x, atol=1e-5)
    s = sym_norm(sp.csr_array(whole))
    assert np.allclose(a.normalised() @ x, s @ x, atol=1e-5)
    assert np.allclose(a.unit_rows().T @ x, (a.unit_rows() @ np.eye(40, dtype=np.float32)).T @ x, atol=1e-5)
    c = np.array([0.5, 0.3, 0.2])
    found = next(block for _, block in Polynomial(a.normalised(), c).blocks(x))
    assert np.allclose(found, 0.5 * x + 0.3 * (s @ x) + 0.2 * (s @ (s @ x)), atol=1e-5)
    log_p = np.log(np.full((40, 3), 1 / 3)) + x
    log_p -= np.log(np.exp(log_p).sum(axis=1, keepdims=True))
    both = smooth_log_probs(log_p, ((0.4, a.normalised()), (0.6, s)))
    assert np.allclose(both, smooth_log_probs(log_p, s), atol=1e-4)


def test_unit_rows_have_about_unit_length() -> None:
    rows = LinkMatrix.of([Factor.of(B)]).unit_rows() @ np.eye(40, dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=1)
    assert 0.9 < lengths.mean() < 1.1
    assert lengths.max() < 1.5
    v = projection(LinkMatrix.of([Factor.of(B)]).unit_rows(), 4)
    assert v is not None
    assert v.shape == (40, 4)


def test_a_star_of_many_rows_costs_its_links() -> None:
    star = sp.csr_array(np.ones((100_000, 1), dtype=np.float32))
    a = LinkMatrix.of([Factor.of(star)])
    assert a.nnz == 200_000
    assert np.allclose(a.normalised() @ np.ones((100_000, 1), dtype=np.float32), 1, atol=1e-3)
    graph = make_graph(None, sp.coo_array((100_000, 100_000)), np.arange(100_000) % 2)
    with pytest.raises(GraphError, match=r"4,999,950,000 pairs of nodes \(100,000 nodes share 'D1'\), too many"):
        with_links_as_edges(graph.with_(relations=(Relation.of("device", star, ["D1"]),)), {})


def test_links_become_edges_where_they_are_few() -> None:
    graph = make_graph(None, np.zeros((40, 40)), np.arange(40) % 2).with_(relations=(Relation.of("device", B),))
    made = with_links_as_edges(graph, {})
    assert not made.relations
    assert np.allclose(made.adjacency.toarray(), formed(B), atol=1e-6)
