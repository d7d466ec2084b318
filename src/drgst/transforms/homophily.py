"""How similar the nodes are that edges join, measured without labels."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from drgst.shards import ALONE, Shards
from drgst.transforms.features import row_l2
from drgst.transforms.products import gram, multiply_rows

PAIRS = 20_000  # edges and random pairs that are compared


def homophily(
    adjacency: sp.csr_array, z: np.ndarray, components: int, rng: np.random.Generator, shards: Shards = ALONE
) -> float:
    """P(cos of an edge > cos of a random pair) + ½ P(equal), ½ by chance, by the leading components of centred rows z.

    As many components as there are classes: all columns together hold so much noise that even edges within classes
    are hardly more similar than random pairs. With several ``shards``, z has the own rows.
    """
    _, v = np.linalg.eigh(shards.sum(gram(z)))
    unit = row_l2(multiply_rows(z, v[:, -max(components, 2) :].astype(np.float32)))
    unit = shards.all_rows(unit, adjacency.shape[0])
    edge = rng.choice(adjacency.nnz, size=min(adjacency.nnz, PAIRS), replace=False)
    rows = np.searchsorted(adjacency.indptr, edge, side="right") - 1
    own = _cosines(unit, rows, adjacency.indices[edge])
    u, w = rng.integers(0, adjacency.shape[0], size=(2, PAIRS))
    chance = np.sort(_cosines(unit, u[u != w], w[u != w]))
    below, upto = (np.searchsorted(chance, own, side=side) for side in ("left", "right"))
    return float((below + upto).mean() / 2 / chance.size)


def _cosines(unit: np.ndarray, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """x_u · x_v for pairs of unit rows."""
    return np.asarray((unit[u] * unit[v]).sum(axis=1))
