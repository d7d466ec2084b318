"""Whether edges, or features, hold classes at all: asked of the graph alone, where labels are too few to be asked."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from drgst.graph.core import Features, Graph
from drgst.graph.transforms.features import svd, unit_rows
from drgst.graph.transforms.suggest import agreement_of
from drgst.nn.ops.adjacency import laplacian_norm


def feature_homophily(graph: Graph, table: np.ndarray, rng: np.random.Generator) -> float:
    """P(cos of an edge > cos of a random pair) over the C leading components of a table (N, D): 0.5 is chance.

    All columns together hold so much noise that even edges within classes look little better than chance.
    """
    x = table - table.mean(axis=0)
    _, v = np.linalg.eigh(np.asarray(x.T @ x, dtype=np.float64))
    leading = x @ v[:, -max(graph.num_classes, 2) :].astype(np.float32)
    return agreement_of(unit_rows(leading), graph, rng)


def edge_order(graph: Graph, rng: np.random.Generator) -> float:
    """Σ_{k=2..C} σ_k(D^-½ A D^-½) over that of a random graph with the same degrees: 1 where edges hold no groups."""
    own = sp.coo_array(sp.triu(graph.adjacency, 1))
    one, other = rng.permutation(np.concatenate([own.row, own.col])).reshape(2, -1)
    mixed = sp.csr_array((np.ones(one.size, dtype=np.float32), (one, other)), shape=own.shape)
    mixed = sp.csr_array(mixed + mixed.T)
    mixed.setdiag(0)
    mixed.eliminate_zeros()
    mixed.data[:] = 1
    return _order(graph, _normalised(graph.adjacency), _normalised(mixed))


def feature_order(graph: Graph, rng: np.random.Generator) -> float:
    """Σ_{k=2..C} σ_k(X) over that of X with every column shuffled, rows of norm 1: 1 where features hold no groups."""
    x = sp.csc_array(graph.features)
    rows = np.concatenate([rng.permutation(x.shape[0])[:count] for count in np.diff(x.indptr)])
    mixed = sp.csc_array((x.data, rows, x.indptr), shape=x.shape)
    return _order(graph, unit_rows(sp.csr_array(x)), unit_rows(sp.csr_array(mixed)))


def _normalised(adjacency: sp.csr_array) -> sp.csr_array:
    return sp.csr_array(-laplacian_norm(adjacency))


def _order(graph: Graph, own: Features, mixed: Features) -> float:
    """The sum of the second to the C-th singular value of one matrix over that of the other; 1 where it has but one."""
    if min(own.shape) < 2:
        return 1.0
    rank = min(max(graph.num_classes, 2), *own.shape)
    sums = []
    for x in (own, mixed):
        columns = np.asarray(svd(graph.with_(features=x), rank, seed=0, rounds=3).features)
        sums.append(float(np.sort(np.linalg.norm(columns, axis=0))[::-1][1:].sum()))
    return sums[0] / sums[1] if sums[1] > 0 else 1.0
