"""The options of :func:`drgst.from_tables`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal, get_args

from drgst.errors import SettingError, unknown

Aggregate = Literal["sum", "count", "max", "last"]
Endpoints = Literal["refuse", "add", "drop"]
Duplicates = Literal["refuse", "first"]
Columns = str | Iterable[str]
_CHOICES = {"aggregate": Aggregate, "unknown_endpoints": Endpoints, "duplicates": Duplicates}
EVERY = "*"  # the target of a table whose other columns describe its source
KIND_OPTIONS = {"numeric": "number", "category": "category", "text": "text", "date": "date"}


@dataclass(frozen=True, eq=False)
class Link:
    """A table of links from rows to entities that they share, such as one of logins from accounts to devices.

    ``source`` is its column of row ids, or of entities of an earlier link; ``target`` its column of entities. Both are
    found by their contents where they are not given. ``name`` is that of the relation, by default ``target``. A table
    with one row per entity of an earlier link describes these entities: its other columns become features of the rows
    that use them. ``target="*"`` states that.
    """

    table: Any
    source: str | None = None
    target: str | None = None
    name: str | None = None

    def check(self) -> None:
        """Refuse names that are not texts."""
        for field in ("source", "target", "name"):
            value = getattr(self, field)
            if not (value is None or (isinstance(value, str) and value)):
                raise SettingError(f"{field} of a Link is {value!r}, but must be a text")


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
    unknown_endpoints: Endpoints = "refuse"  # ends of edges that are not nodes
    duplicates: Duplicates = "refuse"  # further rows of a node
    links: Any = ()  # columns of the node table, and tables of links
    as_of: str | None = None  # the moment up to which edges and links count
    half_life: str | None = None  # after which an edge or link counts half, such as 30d
    label_time: str | None = None  # column of the times of the labels: those after as_of are left out, too
    edge_columns: bool = True  # whether degrees, partners and amounts become node columns
    raw: bool = False  # whether numbers stay as they are where all columns are numbers and no cell is missing
    classes: tuple[str, ...] | None = None  # of the model that will predict the graph: labels may then be missing

    @classmethod
    def of(cls, **given: Any) -> TableOptions:
        """The options, checked; a single column name stands for a list of one."""
        names = [field.name for field in fields(cls)]
        for name in given:
            if name not in names:
                raise SettingError(unknown("option", name, names))
        lists: dict[str, Any] = {name: _tuple(given[name]) for name in ("drop", *KIND_OPTIONS) if name in given}
        if "links" in given:
            links = given["links"]
            lists["links"] = (links,) if isinstance(links, str | Link) else tuple(links or ())
            bad = [link for link in lists["links"] if not isinstance(link, str | Link)]
            if bad:
                raise SettingError(f"links has {bad[0]!r}, but takes names of columns and drgst.Link(table)")
            for link in lists["links"]:
                if isinstance(link, Link):
                    link.check()
        options = cls(**{**given, **lists})
        for name, choices in _CHOICES.items():
            value, allowed = getattr(options, name), get_args(choices)
            if value not in allowed:
                raise SettingError(f"{name} is {value!r}, but must be one of {', '.join(allowed)}")
        return options

    def named(self) -> list[tuple[str, str]]:
        """(column, option) for each column of the node table that an option names."""
        lists = {name: _tuple(getattr(self, name) or ()) for name in ("label", "id", *KIND_OPTIONS, "drop")}
        lists["label_time"] = () if self.label_time is None else (self.label_time,)
        lists["link"] = tuple(link for link in self.links if isinstance(link, str))
        return [(column, option) for option, columns in lists.items() for column in columns]

    @cached_property
    def _given(self) -> dict[str, str]:
        return {column: KIND_OPTIONS.get(option, option) for column, option in reversed(self.named())}

    def role(self, column: str) -> str:
        """The role of a node column by option or name: id, label, drop, a kind, split, or empty for a feature."""
        head = column.partition(":")[0]
        return self._given.get(column) or (head if head in ("split", "features") else "")

    def is_feature(self, column: str) -> bool:
        """Whether neither an option nor its name gives a node column a role."""
        return not self.role(column)


def _tuple(columns: Columns) -> tuple[str, ...]:
    return (columns,) if isinstance(columns, str) else tuple(columns)
