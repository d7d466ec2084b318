"""Edge tables: the columns of each, the faults of their cells, their rows as arrays, and which count by their time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
from pydantic import Field

from drgst.errors import SettingError
from drgst.tables.cells import Cells, empty_cells
from drgst.tables.faults import Fault, counted, some
from drgst.tables.kinds.base import Name, Strict
from drgst.tables.kinds.date import date_formats, dates
from drgst.tables.kinds.number import numbers
from drgst.tables.naming import without_decimals
from drgst.tables.options import Aggregate
from drgst.tables.source import Table
from drgst.transforms.edges import EdgeRows

LARGEST_WEIGHT = 1e30  # sums of such weights are still finite in float32
_LETTERS = re.compile(r"^[^\W\d]\D*(?=\d)")
_CAUSES: dict[str, Callable[[str], str]] = {  # why ends of edges are not ids -> the change that would make them ids
    "the ids of one table end in '.0', as whole numbers do that were saved as decimals": (
        lambda text: without_decimals([text])[0]
    ),
    "upper and lower case differ between the tables": str.casefold,
    "leading zeros differ between the tables": lambda text: text.lstrip("0") or "0",
    "quotes or blanks surround the ids of one table": lambda text: text.strip("'\" \t"),
    "letters before the number differ between the tables": lambda text: _LETTERS.sub("", text) or text,
}


class RelationSchema(Strict):
    """The columns of one edge table."""

    name: Name
    source: Name
    target: Name
    weight: Name | None = None
    time: Name | None = None
    amounts: tuple[Name, ...] = ()  # columns of numbers whose sums and means become node columns
    unit: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0  # divides its weights when relations are added

    @property
    def columns(self) -> list[str]:
        """All columns that are used."""
        named = (self.source, self.target, self.weight, self.time, *self.amounts)
        return [name for name in named if name is not None]


@dataclass(frozen=True)
class Period:
    """Which rows of a table with times count, and how much: those up to ``as_of``, 0.5^(age / half-life) each."""

    as_of: str | None = None
    half_life: str | None = None

    def __post_init__(self) -> None:
        if self.as_of is not None and np.isnan(self._moment):
            raise SettingError(f"as_of is {self.as_of!r}, but must be a date, such as 2026-06-01, or a number")
        if self.half_life is not None and not self._days > 0:
            raise SettingError(f"half_life is {self.half_life!r}, but must be a time above 0, such as 12h, 30d or 4w")

    @property
    def _moment(self) -> float:
        return float(times(Cells(pa.array([str(self.as_of)]), np.zeros(1, dtype=np.int64)))[0])

    @property
    def _days(self) -> float:
        found = re.fullmatch(r"(\d+\.?\d*)([hdw])", str(self.half_life))
        return float(found[1]) * {"h": 1 / 24, "d": 1, "w": 7}[found[2]] if found else np.nan

    def weights(self, time: np.ndarray) -> np.ndarray:
        """The weight of each row by its time, (E,), 0 where it does not count; rows without a time have -∞."""
        weight = np.ones(time.size)
        last = self._moment if self.as_of is not None else float(time.max(initial=-np.inf))
        if self.as_of is not None:
            weight[(time > last) | ~np.isfinite(time)] = 0
        if self.half_life is not None:
            weight *= 0.5 ** (np.maximum(last - time, 0) / self._days)
        return weight

    def faults(self, table: Table, column: str | None, time: np.ndarray | None) -> list[Fault]:
        """A table without times, or whose times are all later."""
        if self.as_of is None and self.half_life is None:
            return []
        if column is None or time is None:
            return [table.fault("no column of times was found, which as_of and half_life need", option="time")]
        if not time.size or self.weights(time).any():
            return []
        known = time[np.isfinite(time)]
        first = f": the first is of {shown(known.min())}" if known.size else ""
        return [table.fault(f"no row is of {self.as_of} or before{first}", column=column)]

    def notes(self, table: Table, column: str, time: np.ndarray) -> Iterator[str]:
        """Rows that do not count: later ones, and those whose time is missing or can't be read."""
        if self == Period():
            return
        untimed = np.isneginf(time)
        later = int((self.weights(time)[~untimed] == 0).sum())
        if later:
            yield f"{table.file}: {counted(later, 'row')} after {self.as_of} left out"
        cells = table.cells[column]
        bad = np.isnan(times(cells))
        if bad.any():
            message = f"{cells.chosen(bad)[0][0]!r} is neither a date nor a number"
            yield str(
                table.fault(
                    f"{message} ({counted(int(untimed.sum()), 'row')} without a time left out)",
                    cells.first_row(bad),
                    column,
                )
            )
        elif untimed.any():
            yield f"{table.file}, column {column!r}: {counted(int(untimed.sum()), 'row')} without a time left out"


def shown(time: float) -> str:
    """A date, or a number that is no day of this or the last century."""
    return str(date(1970, 1, 1) + timedelta(days=time)) if abs(time) < 36_500 else f"{time:g}"


def times(cells: Cells) -> np.ndarray:
    """Days or numbers, (V,); NaN where a text is neither."""
    found = numbers(cells, "plain")
    if cells.share(np.isfinite(found)) >= 0.5:
        return found
    formats = date_formats(cells, 0.5)
    return dates(cells, formats[0]) if formats else np.full(len(cells.values), np.nan)


def row_times(cells: Cells) -> np.ndarray:
    """The time of each row, (rows,), -∞ without one."""
    return cells.spread(np.nan_to_num(times(cells), nan=-np.inf), -np.inf)


def bad_times(table: Table, column: str | None, option: str) -> list[Fault]:
    """A column of times of which most are not; a few count as missing."""
    if column is None or column not in table.cells:
        return []
    cells = table.cells[column]
    bad = np.isnan(times(cells))
    if not bad.any() or cells.share(~bad) >= 0.5:
        return []
    message = f"{cells.chosen(bad)[0][0]!r} is neither a date nor a number"
    return [table.fault(message, cells.first_row(bad), column, option=option)]


def label_notes(labels: np.ndarray, moments: Sequence[tuple[np.ndarray, np.ndarray]]) -> Iterator[str]:
    """Labels that are older than all edges and links of their row, and those newer than any edge or link.

    ``labels`` are the times of the labels, (N,), NaN elsewhere; ``moments`` nodes and times of edges and links.
    """
    first, last = np.full(labels.size, np.inf), -np.inf
    for nodes, time in moments:
        known = np.isfinite(time)
        np.minimum.at(first, nodes[known], time[known])
        last = max(last, time[known].max(initial=-np.inf))
    older = int((np.isfinite(first) & (labels < first)).sum())
    newer = int((labels > last).sum()) if np.isfinite(last) else 0
    if older:
        yield f"{counted(older, 'label')} older than all edges and links of the row, which may follow from the label"
    if newer:
        yield f"{counted(newer, 'label')} newer than the last edge or link, of {shown(last)}"


class RowTable:
    """A table of edges or links: ``schema`` names its columns; one that it lacks has missing cells."""

    def __init__(self, table: Table, schema: Any, whole_ids: bool, period: Period = Period()) -> None:  # noqa: B008
        self.table, self.schema, self.period = table, schema, period
        self.whole_ids = whole_ids  # whether node ids are whole numbers, so that 7.0 is 7

    def cells(self, column: str) -> Cells:
        """The cells of a column; in an end, a word for missing cells is an id."""
        found = self.table.texts if column in self.end_columns else self.table.cells
        return found.get(column) or empty_cells(self.table.data.num_rows)

    @property
    def end_columns(self) -> tuple[str, ...]:
        """The columns of node ids."""
        raise NotImplementedError

    @cached_property
    def ends(self) -> dict[str, list[str]]:
        """Column of ends -> its distinct ids."""
        texts = {name: self.cells(name).texts for name in self.end_columns}
        return {name: without_decimals(found) for name, found in texts.items()} if self.whole_ids else texts

    def nodes(self, column: str, index: Mapping[str, int]) -> np.ndarray:
        """The end of each row in ``index``, (rows,); -1 where it is not there."""
        places = np.array([index.get(text, -1) for text in self.ends[column]], dtype=np.int64)
        return self.cells(column).spread(places, -1)

    @cached_property
    def time(self) -> np.ndarray:
        """The time of each row, (rows,); -∞ where it is missing, the number of the row without a column of times."""
        if self.schema.time is None:
            return np.arange(self.table.data.num_rows, dtype=np.float64)
        return row_times(self.cells(self.schema.time))

    def time_faults(self) -> list[Fault]:
        """Times that can't be read, or of which none counts."""
        column = self.schema.time
        unread = bad_times(self.table, column, "time")
        return unread or self.period.faults(self.table, column, None if column is None else self.time)

    def bad_ends(self, ids: Set[str] | None, what: str) -> Iterator[Fault]:
        """Empty ends of the edge or link, and those that are not ``ids``, unless that is None."""
        for column, texts in self.ends.items():
            cells = self.cells(column)
            if cells.missing.any():
                row, rows = int(np.flatnonzero(cells.missing)[0]), counted(int(cells.missing.sum()), "row")
                yield self.table.fault(f"the end of the {what} is empty ({rows} in all)", row, column)
            bad = np.array([ids is not None and text not in ids for text in texts], dtype=bool)
            if ids is not None and bad.any():
                unknown = [text for text, is_bad in zip(texts, bad, strict=True) if is_bad]
                rows = counted(cells.chosen(bad)[1], "row")
                message = f"{unknown[0]!r} is not the id of a node; {rows} with {counted(len(unknown), 'such id')}"
                message += f" ({some(unknown)}){likely_cause(unknown, ids)}"
                remedy = {"option": "unknown_endpoints", "value": "add"}
                yield self.table.fault(message, cells.first_row(bad), column, **remedy)


class EdgeTable(RowTable):
    """The rows of an edge table; its schema is a :class:`RelationSchema`."""

    @property
    def end_columns(self) -> tuple[str, ...]:
        return self.schema.source, self.schema.target

    def faults(self, ids: Set[str] | None) -> list[Fault]:
        """The faults of the cells; ends are compared with ``ids`` unless it is None."""
        return [*self._bad_weights(), *self.time_faults(), *self.bad_ends(ids, "edge")]

    def rows(self, index: Mapping[str, int]) -> tuple[EdgeRows, list[str]]:
        """The rows as arrays, and one sentence for each thing that was changed."""
        file, notes = self.table.file, []
        source, target = (self.nodes(column, index) for column in self.end_columns)
        known = (source >= 0) & (target >= 0)
        keep = known & (source != target)
        if not known.all():
            notes.append(f"{file}: {counted(int((~known).sum()), 'row')} with ends that are not nodes dropped")
        if keep.sum() < known.sum():
            notes.append(f"{file}: {counted(int((known & ~keep).sum()), 'self-loop')} dropped")
        weight = None if self.schema.weight is None else self._numbers(self.schema.weight)
        missing = np.zeros(0, dtype=bool) if weight is None else np.isnan(weight)
        if weight is not None and missing.all():
            weight = None
        elif weight is not None and missing.any():
            median = float(np.median(weight[~missing]))
            weight = np.where(missing, median, weight)
            rows = counted(int(missing.sum()), "row")
            notes.append(f"{file}: {rows} without {self.schema.weight!r} got its median {median:g}")
        if self.period != Period():
            counts = self.period.weights(self.time)
            notes += self.period.notes(self.table, str(self.schema.time), self.time)
            keep &= counts > 0
            weight = counts if weight is None else weight * counts
        weight = None if weight is None else weight[keep]
        amounts = {name: self._numbers(name)[keep] for name in self.schema.amounts}
        return EdgeRows(self.schema.name, source[keep], target[keep], weight, self.time[keep], amounts), notes

    def _bad_weights(self) -> Iterator[Fault]:
        column = self.schema.weight
        if column is None:
            return
        cells = self.cells(column)
        found = numbers(cells)
        kinds = {"not a number": np.isnan(found), "negative": found < 0, "too large": found > LARGEST_WEIGHT}
        for fault, bad in kinds.items():
            if bad.any():
                texts, rows = cells.chosen(bad)
                message = f"the weight {texts[0]!r} is {fault} ({counted(rows, 'row')} in all)"
                message += ": weights are numbers of 0 or above"
                yield self.table.fault(message, cells.first_row(bad), column, option="weight")

    def _numbers(self, column: str) -> np.ndarray:
        cells = self.cells(column)
        return cells.spread(numbers(cells), np.nan)


def likely_cause(unknown_ids: list[str], ids: Set[str]) -> str:
    """``: `` and why ends of edges are not ids, if a simple change makes most of them ids; else empty."""
    sample = unknown_ids[:1000]
    for cause, change in _CAUSES.items():
        changed = {change(text) for text in ids}
        if sum(change(text) in changed for text in sample) > len(sample) / 2:
            return f": {cause}"
    return ""


def edge_notes(rows: int, edges: int, both_ways: bool, how: Aggregate, file: str) -> list[str]:
    """What was merged when ``rows`` rows became ``edges`` edges."""
    if both_ways:
        return [f"{file} lists every edge in both directions with equal weights: one direction counts"]
    merged = rows - edges
    return [f"{counted(merged, 'repeated or returning edge')} merged ({how})"] if merged else []
