"""The options of :func:`drgst.from_tables`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, Literal

from drgst.errors import SettingError, unknown

Aggregate = Literal["sum", "count", "max", "last"]
Endpoints = Literal["refuse", "add"]
Columns = str | Iterable[str]
_CHOICES = {"aggregate": ("sum", "count", "max", "last"), "unknown_endpoints": ("refuse", "add")}
KIND_OPTIONS = {"numeric": "number", "category": "category", "text": "text", "date": "date"}


@dataclass(frozen=True)
class TableOptions:
    """Which column is what, and how edges are aggregated. A column that is not named is found by name or content."""

    label: str | None = None  # None for tables that are only predicted
    id: str | None = None
    source: str | None = None
    target: str | None = None
    weight: str | None = None
    time: str | None = None
    drop: Columns = ()
    numeric: Columns = ()
    category: Columns = ()
    text: Columns = ()
    date: Columns = ()
    aggregate: Aggregate = "sum"
    unknown_endpoints: Endpoints = "refuse"
    edge_columns: bool = True  # whether degrees, partners and amounts become node columns
    raw: bool = False  # whether numbers stay as they are where all columns are numbers and no cell is missing
    predict: bool = False  # whether labels may be missing, since the graph is only predicted

    @classmethod
    def of(cls, **given: Any) -> TableOptions:
        """The options, checked; a single column name stands for a list of one."""
        names = [field.name for field in fields(cls)]
        for name in given:
            if name not in names:
                raise SettingError(unknown("option", name, names))
        lists = {name: _tuple(given[name]) for name in ("drop", *KIND_OPTIONS) if name in given}
        options = cls(**{**given, **lists})
        for name, allowed in _CHOICES.items():
            value = getattr(options, name)
            if value not in allowed:
                raise SettingError(f"{name} is {value!r}, but must be one of {', '.join(allowed)}")
        return options

    def kinds(self) -> dict[str, tuple[str, str]]:
        """Column -> (option, type) for the columns whose type is given; the first option that names a column counts."""
        named: dict[str, tuple[str, str]] = {}
        for option, kind in KIND_OPTIONS.items():
            for column in getattr(self, option):
                named.setdefault(column, (option, kind))
        return named

    def twice(self) -> list[tuple[str, str, str]]:
        """(column, option, other option) for each column that two options name."""
        lists = {name: _tuple(getattr(self, name) or ()) for name in ("id", "label", "drop", *KIND_OPTIONS)}
        named = [(column, option) for option, columns in lists.items() for column in columns]
        first = dict(reversed(named))
        return [(column, first[column], option) for column, option in named if first[column] != option]


def _tuple(columns: Columns) -> tuple[str, ...]:
    return (columns,) if isinstance(columns, str) else tuple(columns)
