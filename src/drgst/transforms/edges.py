"""Rows of edges as an adjacency and as node columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp


@dataclass(frozen=True, eq=False)
class EdgeRows:
    """E directed rows between nodes, without self-loops."""

    name: str
    source: np.ndarray  # (E,) node index
    target: np.ndarray  # (E,)
    weight: np.ndarray | None  # (E,) at least 0; None: every row counts 1
    time: np.ndarray  # (E,) days or any number that grows with time; the row number without times
    amounts: dict[str, np.ndarray]  # (E,) each, NaN where missing


def aggregate(rows: EdgeRows, u: np.ndarray, v: np.ndarray, how: str, nodes: int) -> sp.csr_array:
    """The rows of each pair (u, v) as one entry, (N, N): sum, number, maximum or latest of their weights."""
    weight = np.ones(u.size) if rows.weight is None or how == "count" else rows.weight
    order = np.lexsort((rows.time, v, u))
    u, v, weight = u[order], v[order], weight[order]
    first = np.ones(u.size, dtype=bool)
    first[1:] = (u[1:] != u[:-1]) | (v[1:] != v[:-1])
    starts = np.flatnonzero(first)
    if not starts.size:
        return sp.csr_array((nodes, nodes), dtype=np.float32)
    if how == "last":
        values = weight[np.append(starts[1:], u.size) - 1]
    else:
        values = (np.maximum if how == "max" else np.add).reduceat(weight, starts)
    return sp.csr_array((values.astype(np.float32), (u[starts], v[starts])), shape=(nodes, nodes))


def undirected(rows: EdgeRows, how: str, nodes: int) -> tuple[sp.csr_array, bool]:
    """The aggregated rows of each unordered pair, (N, N) above the diagonal, and whether both directions are listed.

    This is the rule for repeated rows, whichever way tables are read: all rows between u and v, in both directions,
    are rows of one edge, and their weights are aggregated. A table whose rows from u to v weigh as much as those from
    v to u, for every pair, lists each edge in both directions, as many programs export undirected graphs: only one
    direction then counts.
    """
    one_way = aggregate(rows, rows.source, rows.target, how, nodes)
    if one_way.nnz and same_both_ways(one_way):
        return sp.csr_array(sp.triu(one_way, format="csr")), True
    low, high = np.minimum(rows.source, rows.target), np.maximum(rows.source, rows.target)
    return aggregate(rows, low, high, how, nodes), False


def same_both_ways(a: sp.csr_array) -> bool:
    """A = Aᵀ."""
    other = sp.csr_array(a.T)
    return np.array_equal(a.indptr, other.indptr) and (a != other).nnz == 0


def merged_adjacency(uppers: Mapping[str, sp.csr_array], units: Mapping[str, float], nodes: int) -> sp.csr_array:
    """A_uv = A_vu = Σ_r w_r(u, v) / unit_r, (N, N), from the pairs of each relation."""
    total = sp.csr_array((nodes, nodes), dtype=np.float32)
    for name, upper in uppers.items():
        total = total + upper / np.float32(units[name])
    return sp.csr_array(total + total.T)


def mean_weight(upper: sp.csr_array) -> float:
    """The mean weight of the pairs of a relation; 1 without edges or weights above 0."""
    return float(upper.data.mean()) if upper.nnz and upper.data.max() > 0 else 1.0


def node_columns(rows: EdgeRows, nodes: int) -> dict[str, np.ndarray]:
    """Per node and direction: rows, distinct partners, and sum and mean of each amount, (N,) each; 0 without rows."""
    found: dict[str, np.ndarray] = {}
    for direction, mine, other in (("out", rows.source, rows.target), ("in", rows.target, rows.source)):
        prefix = f"{rows.name} {direction}"
        found[f"{prefix}: rows"] = np.bincount(mine, minlength=nodes).astype(np.float64)
        pairs = np.unique(mine * nodes + other)
        found[f"{prefix}: partners"] = np.bincount(pairs // nodes, minlength=nodes).astype(np.float64)
        for name, amount in rows.amounts.items():
            known = np.isfinite(amount)
            total = np.bincount(mine[known], amount[known], minlength=nodes)
            count = np.bincount(mine[known], minlength=nodes)
            found[f"{prefix}: {name} sum"] = total
            found[f"{prefix}: {name} mean"] = total / np.maximum(count, 1)
    return found
