"""Faults of tables: where each one is, what it is and which option fixes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from drgst.errors import DataFileError

LONGEST_NAME = 1000  # characters of a column name
HOLDS_ANSWER = "tells the classes of all"  # in the note on a column that may be made of the classes


@dataclass(frozen=True)
class Fault:
    """One fault of a table. ``str(fault)`` is one sentence with file, line or row, column and remedy."""

    file: str  # name of the file; nodes, edges or the name of the relation for tables in memory
    message: str
    row: int | None = None  # 1-based: the line of a text file (the header is line 1), the row of any other table
    column: str | None = None
    option: str | None = None  # keyword argument of from_tables that fixes it
    value: str | None = None  # its value, if one can be given
    unit: str = "row"  # what ``row`` counts: line or row

    def __str__(self) -> str:
        return self.sentence()

    def sentence(self, shell: bool = False) -> str:
        """The fault as one sentence; with ``shell`` the remedy is a command-line option."""
        place = [self.file]
        if self.row is not None:
            place.append(f"{self.unit} {self.row}")
        if self.column is not None:
            place.append(f"column {self.column!r}")
        remedy = f" (option: {self._remedy(shell)})" if self.option else ""
        return f"{', '.join(place)}: {self.message}{remedy}"

    def to_dict(self) -> dict[str, str | int | None]:
        """The fields for JSON."""
        place = {"file": self.file, "row": self.row, "unit": self.unit, "column": self.column}
        return {**place, "message": self.message, "option": self._remedy(shell=True) if self.option else None}

    def _remedy(self, shell: bool) -> str:
        name = str(self.option)
        if shell and name in ("label", "edges", "link"):
            return f"--{name} {self.value or 'COLUMN'}"
        if shell and name in ("duplicates", "unknown_endpoints"):
            return f"--set {name}={self.value}"
        if shell:
            return f"--column {self.value or 'COLUMN'}={'number' if name == 'numeric' else name}"
        name = "links" if name == "link" else name
        return f"{name}={self.value!r}" if self.value else f"{name}=COLUMN"


class TableError(DataFileError):
    """Tables that can't be read as a graph; ``faults`` lists all reasons, ``report`` how each column would be read."""

    def __init__(self, faults: Sequence[Fault], report: str = "") -> None:
        self.faults, self.report = tuple(faults), report
        more = len(self.faults) - 1
        rest = f"; {counted(more, 'more fault')}, listed by drgst.check_tables" if more else ""
        super().__init__(f"{self.faults[0]}{rest}")


def some(values: Sequence[str], most: int = 3) -> str:
    """The first few values, quoted: ``'a', 'b', 'c' and 4 more``."""
    named = ", ".join(repr(value if len(value) <= 40 else value[:37] + "...") for value in values[:most])
    return f"{named} and {len(values) - most:,} more" if len(values) > most else named


def counted(number: int, noun: str) -> str:
    """``1 row``, ``1,200 rows``, ``2 classes``."""
    plural = f"{noun}es" if noun.endswith("s") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"


def named_columns(names: Sequence[str]) -> str:
    """``column 'a'``, ``columns 'a', 'b'``."""
    return f"column{'s' if len(names) > 1 else ''} {some(names)}"
