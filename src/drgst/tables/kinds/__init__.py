"""The kinds of columns: one file each, one line each in ``KINDS``."""

from __future__ import annotations

import operator
from functools import reduce
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from drgst.tables.cells import Cells
from drgst.tables.kinds.base import Column, Detected
from drgst.tables.kinds.boolean import BooleanColumn
from drgst.tables.kinds.category import CategoryColumn
from drgst.tables.kinds.date import DateColumn
from drgst.tables.kinds.features import FeaturesColumn
from drgst.tables.kinds.number import NumberColumn
from drgst.tables.kinds.text import TextColumn

_CLASSES: tuple[type[Column], ...] = (  # a column is of the first kind that detects it
    FeaturesColumn,
    BooleanColumn,
    NumberColumn,
    DateColumn,
    CategoryColumn,
    TextColumn,
)
KINDS: dict[str, type[Column]] = {kind.model_fields["kind"].default: kind for kind in _CLASSES}

if TYPE_CHECKING:
    AnyColumn = Any  # mypy can't follow a union that is made of a list
else:
    AnyColumn = Annotated[reduce(operator.or_, _CLASSES), Field(discriminator="kind")]


def detect(name: str, cells: Cells) -> tuple[str | None, Detected]:
    """The kind of a column by its name and cells; None if it is dropped."""
    kind, found = next((kind, d) for kind, cls in KINDS.items() if (d := cls.detect(name, cells)) is not None)
    if not KINDS[kind].by_name and len(cells.values) < 2 and (not len(cells.values) or not cells.missing.any()):
        return None, Detected("all cells are the same" if len(cells.values) else "all cells are empty")
    return (None if found.dropped else kind), found
