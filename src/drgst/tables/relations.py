"""Edge tables as arrays: the ends of each row, aggregation of repeated rows, and node columns from edges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from drgst.tables.cells import Cells, date_formats, dates, number_style, numbers, read_cells
from drgst.tables.faults import Problem, counted, some
from drgst.tables.options import Aggregate
from drgst.tables.roles import OpenTable, id_texts, likely_cause
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

    def adjacency(self, how: Aggregate, nodes: int) -> sp.csr_array:
        """A_uv = the aggregated weight of the rows from u to v, (N, N), directed."""
        return aggregate(self, self.source, self.target, how, nodes)


class EdgeReader:
    """One edge table, its columns and the faults of its cells."""

    def __init__(self, edges: OpenTable, schema: RelationSchema, strict: bool = False) -> None:
        self.table = edges.table
        self.schema = schema
        self.strict = strict  # whether ids are compared as they are written
        columns = {name: read_cells(self.table.data.column(name), missing=False) for name in self._ends()}
        ends = {name: cells for name, cells in columns.items() if cells is not None}  # an id may be "none" or "-"
        self.cells = {**edges.cells, **ends}

    def ends(self) -> dict[str, list[str]]:
        """Column -> its distinct ids, for source and target."""
        return {name: self.cells[name].texts if self.strict else id_texts(self.cells[name]) for name in self._ends()}

    def unknown_ends(self, ids: set[str]) -> list[str]:
        """The ends that are not ids, each once, in the order of their rows."""
        return list(dict.fromkeys(text for texts in self.ends().values() for text in texts if text not in ids))

    def problems(self, ids: set[str] | None) -> list[Problem]:
        """The faults of the cells; ends are compared with ``ids`` unless it is None."""
        found = [*self._bad_weights(), *self._bad_times()]
        for column, texts in self.ends().items():
            cells = self.cells[column]
            if cells.missing.any():
                row = int(np.flatnonzero(cells.missing)[0])
                rows = counted(int(cells.missing.sum()), "row")
                found.append(self.table.problem(f"the end of the edge is empty ({rows} in all)", row, column))
            if ids is not None:
                found += self._not_nodes(column, texts, ids)
        return found

    def read(self, index: Mapping[str, int]) -> tuple[Relation, list[str]]:
        """The rows as arrays, and one sentence for each thing that was changed."""
        ends = []
        for column, texts in self.ends().items():
            places = np.array([index[text] for text in texts], dtype=np.int64)
            ends.append(self.cells[column].spread(places, -1))
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

    def _ends(self) -> tuple[str, str]:
        return self.schema.source, self.schema.target

    def _not_nodes(self, column: str, texts: Sequence[str], ids: set[str]) -> list[Problem]:
        unknown = [text for text in texts if text not in ids]
        if not unknown:
            return []
        cells = self.cells[column]
        mask = np.array([text not in ids for text in texts])
        cause = likely_cause(unknown, ids)
        rows = counted(int(cells.counts[mask].sum()), "row")
        message = f"{unknown[0]!r} is not the id of a node; {rows} with {counted(len(unknown), 'such id')}"
        message += f" ({some(unknown)}): {cause}" if cause else f" ({some(unknown)})"
        remedy = {} if self.strict else {"option": "unknown_endpoints", "value": "add"}
        return [self.table.problem(message, cells.first_row(mask), column, **remedy)]

    def _bad_weights(self) -> list[Problem]:
        column = self.schema.weight
        if column is None:
            return []
        cells = self.cells[column]
        found = numbers(cells.values, number_style(cells.values))
        problems = []
        faults = {"not a number": np.isnan(found), "negative": found < 0, "too large": found > LARGEST_WEIGHT}
        for fault, bad in faults.items():
            if bad.any():
                texts = [text for text, wrong in zip(cells.texts, bad, strict=True) if wrong]
                rows = counted(int(cells.counts[bad].sum()), "row")
                message = f"the weight {texts[0]!r} is {fault} ({rows} in all): weights are numbers of 0 or above"
                problems.append(self.table.problem(message, cells.first_row(bad), column, option="weight"))
        return problems

    def _bad_times(self) -> list[Problem]:
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
        return [self.table.problem(message, cells.first_row(bad), column, option="time")]

    def _weight(self) -> tuple[np.ndarray | None, list[str]]:
        column = self.schema.weight
        if column is None:
            return None, []
        x = self._numbers(column)
        missing = np.isnan(x)
        if not missing.any() or missing.all():
            return (None if missing.all() else x), []
        median = float(np.median(x[~missing]))
        note = f"{self.table.file}: {counted(int(missing.sum()), 'row')} without {column!r} got its median {median:g}"
        return np.where(missing, median, x), [note]

    def _time(self) -> np.ndarray:
        rows = self.cells[self.schema.source].rows
        if self.schema.time is None:
            return np.arange(rows, dtype=np.float64)
        cells = self.cells[self.schema.time]
        return cells.spread(np.nan_to_num(self._times(cells), nan=-np.inf), -np.inf)

    def _numbers(self, column: str) -> np.ndarray:
        cells = self.cells[column]
        return cells.spread(numbers(cells.values, number_style(cells.values)), np.nan)

    @staticmethod
    def _times(cells: Cells) -> np.ndarray:
        """Days or numbers, (V,); NaN where a text is neither."""
        found = numbers(cells.values)
        if cells.share(np.isfinite(found)) >= 0.5:
            return found
        formats = date_formats(cells.values, 0.5)
        return dates(cells.values, formats[0]) if formats else np.full(len(cells.values), np.nan)


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


def merged_adjacency(
    relations: Sequence[Relation], how: Aggregate, nodes: int, units: Mapping[str, float]
) -> tuple[sp.csr_array, list[str]]:
    """A_uv = A_vu = Σ_r w_r(u, v) / unit_r from the rows between u and v, both ways, (N, N), and the changes."""
    total = sp.csr_array((nodes, nodes), dtype=np.float32)
    zeros = rows = 0
    for relation in relations:
        upper = _upper(relation, how, nodes)
        zeros += int((upper.data == 0).sum())
        rows += relation.source.size - upper.nnz
        upper.eliminate_zeros()
        total = total + upper / np.float32(units[relation.name])
    notes = [f"{counted(rows, 'repeated or returning edge')} merged ({how})"] if rows else []
    if zeros:
        notes.append(f"{counted(zeros, 'edge')} of weight 0 dropped")
    return sp.csr_array(total + total.T), notes


def mean_weight(relation: Relation, how: Aggregate, nodes: int) -> float:
    """The mean weight of the pairs of a relation; 1 without edges or weights above 0."""
    weights = _upper(relation, how, nodes).data
    return float(weights.mean()) if weights.size and weights.max() > 0 else 1.0


def _upper(relation: Relation, how: Aggregate, nodes: int) -> sp.csr_array:
    """The aggregated rows of each unordered pair, (N, N), above the diagonal."""
    low, high = np.minimum(relation.source, relation.target), np.maximum(relation.source, relation.target)
    return aggregate(relation, low, high, how, nodes)


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
