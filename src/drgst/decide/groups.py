"""Figures per period or group of nodes: ``drgst evaluate --by month``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from drgst.decide.evaluate import Estimate, bootstrap
from drgst.decide.truth import id_column
from drgst.errors import SettingError, unknown
from drgst.files import plain
from drgst.runs.metrics import ClassScores, RankScores
from drgst.runs.result import Result
from drgst.tables.cells import Cells
from drgst.tables.kinds.date import date_formats, dates
from drgst.tables.source import Table, open_table

PERIODS = ("day", "week", "month", "year")
NO_GROUP = "(none)"  # nodes without a cell in the column
MOST_GROUPS = 200
MONDAY = 3  # 1970-01-01 was a Thursday


@dataclass(frozen=True)
class GroupRow:
    """The figures of the nodes of one period or group."""

    group: str
    nodes: int
    share: float | None  # of the positive class in the truth
    figures: dict[str, Estimate]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        figures = {name: vars(estimate) for name, estimate in self.figures.items()}
        return dict(plain({"group": self.group, "nodes": self.nodes, "share": self.share, "figures": figures}))


def read_groups(by: str, tables: Sequence[Any], ids: Sequence[Any]) -> tuple[str, np.ndarray]:
    """What groups the nodes, in words, and the group of each, (N,) texts: ``by`` is a column, a period or both.

    The column of ``COLUMN=PERIOD`` is looked up in the tables in their order; a period that is no column takes their
    one column of dates. A column of dates is grouped by month.
    """
    opened = [open_table(table, "nodes").checked() for table in tables]
    alone = by in PERIODS and not any(by in table.cells for table in opened)
    name, _, period = by.rpartition("=") if "=" in by else (None, "", by) if alone else (by, "", "")
    if period and period not in PERIODS:
        raise SettingError(unknown("period", period, PERIODS))
    place = {str(node): k for k, node in enumerate(ids)}
    dated = {
        column: table for table in opened[::-1] for column, cells in table.cells.items() if date_formats(cells, 0.95)
    }
    if name is None:
        if len(dated) != 1:
            found = ", ".join(dated) or "none"
            raise SettingError(f"--by {by} needs one column of dates (there are: {found}); write --by COLUMN={by}")
        name = next(iter(dated))
    table = next((table for table in opened if name in table.cells), None)
    if table is None:
        columns = [column for table in opened for column in table.cells]
        raise SettingError(f"{unknown('column', name, columns)}; --by reads the truth and the node table of the run")
    if period and name not in dated:
        raise SettingError(f"--by {by}: column {name!r} of {table.file} does not hold dates")
    period = period or ("month" if name in dated else "")
    return f"{name}, {period}" if period else name, _spread(table, name, period, place)


def _spread(table: Table, name: str, period: str, place: dict[str, int]) -> np.ndarray:
    cells = table.cells[name]
    texts = np.array(_periods(cells, period) if period else cells.texts, dtype=object)
    if np.unique(texts.astype(str)).size > MOST_GROUPS:
        raise SettingError(f"column {name!r} of {table.file} has more than {MOST_GROUPS} values: choose a coarser one")
    rows = cells.spread(np.arange(texts.size), -1)
    own = table.cells[id_column(table, place)]
    nodes = own.spread(np.array([place.get(text, -1) for text in own.texts]), -1)
    groups = np.full(len(place), NO_GROUP, dtype=object)
    known = (nodes >= 0) & (rows >= 0)
    groups[nodes[known]] = texts[rows[known]]
    return groups


def _periods(cells: Cells, period: str) -> list[str]:
    """``2026-06`` for each distinct date; a week is named by its Monday."""
    days = dates(cells, date_formats(cells, 0.95)[0])
    whole = np.floor(np.nan_to_num(days)).astype(np.int64)
    whole = whole - (whole + MONDAY) % 7 if period == "week" else whole
    unit = {"month": "M", "year": "Y"}.get(period, "D")
    names = whole.astype("datetime64[D]").astype(f"datetime64[{unit}]").astype(str)
    return np.where(np.isnan(days), NO_GROUP, names).tolist()


def evaluate_groups(result: Result, labels: np.ndarray, groups: np.ndarray, positive: str | None) -> list[GroupRow]:
    """Accuracy, ECE and, for a positive class, average precision of each group, in order of its name."""
    nodes = result.unlabelled[labels[result.unlabelled] >= 0]
    rows = []
    for group in sorted(set(groups[nodes].tolist())):
        inside = nodes[groups[nodes] == group]
        p, truth = result.probabilities[inside], labels[inside]
        scores = ClassScores(p, truth)
        figures: dict[str, Callable[[np.ndarray | None], float]] = {"accuracy": scores.accuracy, "ece": scores.ece}
        share = None
        if positive is not None:
            c = result.model.class_names.index(positive)
            share = float((truth == c).mean())
            figures["average_precision"] = partial(RankScores(p[:, c], truth == c).average_precision)
        rows.append(GroupRow(str(group), inside.size, share, bootstrap(figures, inside.size)))
    return rows
