"""Edge tables as arrays: the ends of each row, aggregation of repeated rows, and node columns from edges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from drgst.tables.cells import Cells
from drgst.tables.faults import Fault, counted, some
from drgst.tables.kinds.date import date_formats, dates
from drgst.tables.kinds.number import Style, numbers
from drgst.tables.options import Aggregate
from drgst.tables.roles import OpenTable, likely_cause, without_decimals
from drgst.tables.schema import RelationSchema

LARGEST_WEIGHT = 1e30  # sums of such weights are still finite in float32


@dataclass(frozen=True, eq=False)
class Relation:
    """E directed rows between nodes, without self-loops."""

    name: str
    source: np.ndarray  # (E,) node index
    target: np.ndarray  # (E,)
    weight: np.ndarray | None  # (E,) at least 0; None: every row counts 1
    time: np.ndarray  # (E,) days or any number that grows with time; the row number without times
    amounts: dict[str, np.ndarray]  # (E,) each, NaN where missing


class EdgeReader:
    """One edge table, its columns and the faults of its cells."""

    def __init__(self, edges: OpenTable, schema: RelationSchema, whole_ids: bool, style: Style | None = None) -> None:
        self.table = edges.table
        self.schema = schema
        self.whole_ids = whole_ids  # whether node ids are whole numbers, so that 7.0 is 7
        self.style = style  # of the weights; that of the column if None
        self.cells = {**edges.cells, **{name: edges.texts[name] for name in self._ends()}}

    def ends(self) -> dict[str, list[str]]:
        """Column -> its distinct ids, for source and target."""
        texts = {name: self.cells[name].texts for name in self._ends()}
        return {name: without_decimals(found) for name, found in texts.items()} if self.whole_ids else texts

    def unknown_ends(self, ids: Set[str]) -> list[str]:
        """The ends that are not ids, each once, in the order of their rows."""
        return list(dict.fromkeys(text for texts in self.ends().values() for text in texts if text not in ids))

    def faults(self, ids: Set[str] | None) -> list[Fault]:
        """The faults of the cells; ends are compared with ``ids`` unless it is None."""
        found = [*self._bad_weights(), *self._bad_times()]
        for column, texts in self.ends().items():
            cells = self.cells[column]
            if cells.missing.any():
                row = int(np.flatnonzero(cells.missing)[0])
                rows = counted(int(cells.missing.sum()), "row")
                found.append(self.table.fault(f"the end of the edge is empty ({rows} in all)", row, column))
            if ids is not None:
                found += self._not_nodes(column, texts, ids)
        return found

    def read(self, index: Mapping[str, int]) -> tuple[Relation, list[str]]:
        """The rows as arrays, and one sentence for each thing that was changed."""
        ends = self.nodes(index)
        keep = ends[0] != ends[1]
        notes = []
        if not keep.all():
            notes.append(f"{self.table.file}: {counted(int((~keep).sum()), 'self-loop')} dropped")
        weight, said = self._weight()
        amounts = {name: self._numbers(name)[keep] for name in self.schema.amounts}
        time = self._time()
        relation = Relation(
            self.schema.name,
            ends[0][keep],
            ends[1][keep],
            None if weight is None else weight[keep],
            time[keep],
            amounts,
        )
        return relation, [*notes, *said]

    def nodes(self, index: Mapping[str, int]) -> tuple[np.ndarray, np.ndarray]:
        """Source and target of each row as node indices, (rows,) both."""
        places = {
            name: np.array([index[text] for text in texts], dtype=np.int64) for name, texts in self.ends().items()
        }
        source, target = (self.cells[name].spread(found, -1) for name, found in places.items())
        return source, target

    def _ends(self) -> tuple[str, str]:
        return self.schema.source, self.schema.target

    def _not_nodes(self, column: str, texts: Sequence[str], ids: Set[str]) -> list[Fault]:
        unknown = [text for text in texts if text not in ids]
        if not unknown:
            return []
        cells = self.cells[column]
        mask = np.array([text not in ids for text in texts])
        cause = likely_cause(unknown, ids)
        rows = counted(int(cells.counts[mask].sum()), "row")
        message = f"{unknown[0]!r} is not the id of a node; {rows} with {counted(len(unknown), 'such id')}"
        message += f" ({some(unknown)}): {cause}" if cause else f" ({some(unknown)})"
        row = cells.first_row(mask)
        return [self.table.fault(message, row, column, option="unknown_endpoints", value="add")]

    def _bad_weights(self) -> list[Fault]:
        column = self.schema.weight
        if column is None:
            return []
        cells = self.cells[column]
        found = numbers(cells, self.style)
        bad_rows = []
        faults = {"not a number": np.isnan(found), "negative": found < 0, "too large": found > LARGEST_WEIGHT}
        for fault, bad in faults.items():
            if bad.any():
                texts = [text for text, wrong in zip(cells.texts, bad, strict=True) if wrong]
                rows = counted(int(cells.counts[bad].sum()), "row")
                message = f"the weight {texts[0]!r} is {fault} ({rows} in all): weights are numbers of 0 or above"
                bad_rows.append(self.table.fault(message, cells.first_row(bad), column, option="weight"))
        return bad_rows

    def _bad_times(self) -> list[Fault]:
        column = self.schema.time
        if column is None:
            return []
        cells = self.cells[column]
        values = self._times(cells)
        if cells.share(np.isfinite(values)) >= 0.5 or not len(cells.values):
            return []
        bad = np.isnan(values)
        text = cells.texts[int(np.flatnonzero(bad)[0])]
        message = f"{text!r} is neither a date nor a number"
        return [self.table.fault(message, cells.first_row(bad), column, option="time")]

    def weights(self) -> np.ndarray | None:
        """The weights as they are in the table, (rows,), NaN where they are missing; None without weights."""
        return None if self.schema.weight is None else self._numbers(self.schema.weight)

    def _weight(self) -> tuple[np.ndarray | None, list[str]]:
        x = self.weights()
        missing = np.zeros(0, dtype=bool) if x is None else np.isnan(x)
        if x is None or not missing.any() or missing.all():
            return (None if missing.size and missing.all() else x), []
        median = float(np.median(x[~missing]))
        return np.where(missing, median, x), [
            self.imputed(self.table.file, str(self.schema.weight), int(missing.sum()), median)
        ]

    @staticmethod
    def imputed(file: str, column: str, rows: int, median: float) -> str:
        """The note on rows without a weight."""
        return f"{file}: {counted(rows, 'row')} without {column!r} got its median {median:g}"

    def _time(self) -> np.ndarray:
        rows = self.cells[self.schema.source].rows
        if self.schema.time is None:
            return np.arange(rows, dtype=np.float64)
        cells = self.cells[self.schema.time]
        return cells.spread(np.nan_to_num(self._times(cells), nan=-np.inf), -np.inf)

    def _numbers(self, column: str) -> np.ndarray:
        cells = self.cells[column]
        return cells.spread(numbers(cells, self.style if column == self.schema.weight else None), np.nan)

    @staticmethod
    def _times(cells: Cells) -> np.ndarray:
        """Days or numbers, (V,); NaN where a text is neither."""
        found = numbers(cells, "plain")
        if cells.share(np.isfinite(found)) >= 0.5:
            return found
        formats = date_formats(cells, 0.5)
        return dates(cells, formats[0]) if formats else np.full(len(cells.values), np.nan)


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
