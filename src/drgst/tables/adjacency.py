"""Rows between nodes as an adjacency matrix and as node columns: the aggregation of repeated rows."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import scipy.sparse as sp

from drgst.tables.faults import counted
from drgst.tables.options import Aggregate
from drgst.tables.relations import Relation


def aggregate(relation: Relation, u: np.ndarray, v: np.ndarray, how: Aggregate, nodes: int) -> sp.csr_array:
    """The rows of each pair (u, v) as one entry, (N, N): sum, number, maximum or latest of their weights."""
    weight = np.ones(u.size) if relation.weight is None or how == "count" else relation.weight
    order = np.lexsort((relation.time, v, u))
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


def undirected(relation: Relation, how: Aggregate, nodes: int) -> tuple[sp.csr_array, bool]:
    """The aggregated rows of each unordered pair, (N, N) above the diagonal, and whether both directions are listed.

    This is the rule for repeated rows, whichever way tables are read: all rows between u and v, in both directions,
    are rows of one edge, and their weights are aggregated. A table whose rows from u to v weigh as much as those from
    v to u, for every pair, lists each edge in both directions, as many programs export undirected graphs: only one
    direction then counts.
    """
    one_way = aggregate(relation, relation.source, relation.target, how, nodes)
    if one_way.nnz and same_both_ways(one_way):
        return sp.csr_array(sp.triu(one_way, format="csr")), True
    low, high = np.minimum(relation.source, relation.target), np.maximum(relation.source, relation.target)
    return aggregate(relation, low, high, how, nodes), False


def same_both_ways(a: sp.csr_array) -> bool:
    """A = Aᵀ."""
    other = sp.csr_array(a.T)
    return np.array_equal(a.indptr, other.indptr) and (a != other).nnz == 0


def edge_notes(rows: int, edges: int, both_ways: bool, how: Aggregate, file: str) -> list[str]:
    """What was merged when ``rows`` rows became ``edges`` edges."""
    if both_ways:
        return [f"{file} lists every edge in both directions with equal weights: one direction counts"]
    merged = rows - edges
    return [f"{counted(merged, 'repeated or returning edge')} merged ({how})"] if merged else []


def merged_adjacency(uppers: Mapping[str, sp.csr_array], units: Mapping[str, float], nodes: int) -> sp.csr_array:
    """A_uv = A_vu = Σ_r w_r(u, v) / unit_r, (N, N), from the pairs of each relation."""
    total = sp.csr_array((nodes, nodes), dtype=np.float32)
    for name, upper in uppers.items():
        total = total + upper / np.float32(units[name])
    return sp.csr_array(total + total.T)


def mean_weight(upper: sp.csr_array) -> float:
    """The mean weight of the pairs of a relation; 1 without edges or weights above 0."""
    return float(upper.data.mean()) if upper.nnz and upper.data.max() > 0 else 1.0


def node_columns(relation: Relation, nodes: int) -> dict[str, np.ndarray]:
    """Per node and direction: rows, distinct partners, and sum and mean of each amount, (N,) each; 0 without rows."""
    found: dict[str, np.ndarray] = {}
    for direction, mine, other in (("out", relation.source, relation.target), ("in", relation.target, relation.source)):
        prefix = f"{relation.name} {direction}"
        found[f"{prefix}: rows"] = np.bincount(mine, minlength=nodes).astype(np.float64)
        pairs = np.unique(mine * nodes + other)
        found[f"{prefix}: partners"] = np.bincount(pairs // nodes, minlength=nodes).astype(np.float64)
        for name, amount in relation.amounts.items():
            known = np.isfinite(amount)
            total = np.bincount(mine[known], amount[known], minlength=nodes)
            count = np.bincount(mine[known], minlength=nodes)
            found[f"{prefix}: {name} sum"] = total
            found[f"{prefix}: {name} mean"] = total / np.maximum(count, 1)
    return found
