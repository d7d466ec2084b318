"""Strata: parts of similar nodes of equal total weight."""

from __future__ import annotations

import numpy as np


def split_into_strata(rows: np.ndarray, weight: np.ndarray, n: int) -> list[np.ndarray]:
    """n parts of the (K, D) ``rows``, each of about Σ weight / n, as lists of places; 1 ≤ n ≤ K.

    A part for m strata is cut in two, for ⌊m/2⌋ and the rest, across the direction of largest variance of its rows,
    where the weight below the cut is the share of its strata. K log n rows are read in all.
    """
    done: list[np.ndarray] = []
    todo = [(np.arange(len(rows)), n)]
    while todo:
        members, m = todo.pop()
        if m == 1:
            done.append(members)
            continue
        order = members[np.argsort(_leading(rows[members]), kind="stable")]
        low = m // 2
        below = np.cumsum(weight[order])
        cut = int(np.searchsorted(below - weight[order] / 2, below[-1] * low / m))
        cut = min(max(cut, low), order.size - (m - low))
        todo += [(order[cut:], m - low), (order[:cut], low)]
    return done


def _leading(rows: np.ndarray, rounds: int = 8) -> np.ndarray:
    """Coordinates on the first principal direction, (K,), by power iteration; its sign is that of the largest entry."""
    x = rows - rows.mean(axis=0)
    v = np.linalg.norm(x, axis=0)
    v[int(v.argmax())] += 1  # not orthogonal to the direction of the widest column
    for _ in range(rounds):
        v = x.T @ (x @ v)
        length = np.linalg.norm(v)
        if length == 0:
            return np.zeros(len(rows))
        v = v / length
    return np.asarray(x @ v * np.sign(v[np.abs(v).argmax()]))
