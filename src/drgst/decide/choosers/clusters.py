"""k-means for choosers."""

from __future__ import annotations

import numpy as np

from drgst.decide.choosers.base import nearest

CLUSTERED = 20_000  # rows that centres are fitted to


def kmeans(rows: np.ndarray, weights: np.ndarray, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The cluster of each of the (K, D) ``rows``, numbered from 0 without gaps, and its distance from the centre.

    Centres minimise Σ_i w_i ‖z_i - μ_{j(i)}‖² over at most 20,000 rows, every k-th of them.
    """
    from sklearn.cluster import KMeans

    fitted = np.arange(len(rows))[:: -(-len(rows) // CLUSTERED)]
    distinct = len(np.unique(rows[fitted], axis=0))
    floor = max(weights.max() * 1e-9, 1e-12)  # a cluster in which every weight is 0 has no centre
    means = KMeans(min(n, distinct), n_init=3, random_state=int(rng.integers(2**31)))
    centres = means.fit(rows[fitted], sample_weight=weights[fitted] + floor).cluster_centers_
    place, distance = nearest(rows, centres)
    return np.unique(place, return_inverse=True)[1], distance


def typical(members: np.ndarray, distance: np.ndarray) -> int:
    """The member nearest to the centre of its cluster."""
    return int(members[np.argmin(distance[members])])
