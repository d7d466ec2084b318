"""How much structure edges and features have, measured without labels."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from drgst.graph.core import Features
from drgst.graph.transforms.features import row_l2, svd
from drgst.graph.transforms.normalise import sym_norm_without_loops

PAIRS = 20_000  # edges and random pairs that are compared


def homophily(adjacency: sp.csr_array, z: np.ndarray, components: int, rng: np.random.Generator) -> float:
    """P(cos of an edge > cos of a random pair) + ½ P(equal) over the leading components of (N, D) rows z: ½ by chance.

    As many components as there are classes: all columns together hold so much noise that even edges within classes
    are hardly more similar than random pairs.
    """
    x = z - z.mean(axis=0)
    _, v = np.linalg.eigh(np.asarray(x.T @ x, dtype=np.float64))
    unit = row_l2(x @ v[:, -max(components, 2) :].astype(np.float32))
    edge = rng.choice(adjacency.nnz, size=min(adjacency.nnz, PAIRS), replace=False)
    rows = np.searchsorted(adjacency.indptr, edge, side="right") - 1
    own = _cosines(unit, rows, adjacency.indices[edge])
    u, w = rng.integers(0, adjacency.shape[0], size=(2, PAIRS))
    chance = np.sort(_cosines(unit, u[u != w], w[u != w]))
    below, upto = (np.searchsorted(chance, own, side=side) for side in ("left", "right"))
    return float((below + upto).mean() / 2 / chance.size)


def edge_signal(adjacency: sp.csr_array, classes: int, rng: np.random.Generator) -> float:
    """Σ_{k=2..C} σ_k(D^-½ A D^-½) over that of a random graph with the same degrees: 1 where edges form no clusters."""
    own = sp.coo_array(sp.triu(adjacency, 1))
    one, other = rng.permutation(np.concatenate([own.row, own.col])).reshape(2, -1)
    random = sp.csr_array((np.ones(one.size, dtype=np.float32), (one, other)), shape=own.shape)
    random = sp.csr_array(random + random.T)
    random.setdiag(0)
    random.eliminate_zeros()
    random.data[:] = 1
    return _signal(sym_norm_without_loops(adjacency), sym_norm_without_loops(random), classes)


def feature_signal(features: Features, classes: int, rng: np.random.Generator) -> float:
    """Σ_{k=2..C} σ_k(X) over that of X with every column shuffled, unit rows: 1 where features form no clusters."""
    x = sp.csc_array(features)
    rows = np.concatenate([rng.permutation(x.shape[0])[:count] for count in np.diff(x.indptr)])
    shuffled = sp.csc_array((x.data, rows, x.indptr), shape=x.shape)
    return _signal(row_l2(sp.csr_array(x)), row_l2(sp.csr_array(shuffled)), classes)


def _signal(own: sp.csr_array, random: sp.csr_array, classes: int) -> float:
    """The sum of the second to the C-th singular value of one matrix over that of the other; 1 for a single one."""
    if min(own.shape) < 2:
        return 1.0
    rank = min(max(classes, 2), *own.shape)
    sums = []
    for x in (own, random):
        columns = svd(x, rank, seed=0, rounds=3)
        sums.append(float(np.sort(np.linalg.norm(columns, axis=0))[::-1][1:].sum()))
    return sums[0] / sums[1] if sums[1] > 0 else 1.0


def _cosines(unit: np.ndarray, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """x_u · x_v for pairs of unit rows."""
    return np.asarray((unit[u] * unit[v]).sum(axis=1))
