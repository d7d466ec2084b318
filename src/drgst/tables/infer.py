"""The type of a column: number, boolean, category, date or text, or a reason to drop it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow.compute as pc

from drgst.tables.cells import Cells, booleans, date_formats, number_style, numbers

Kind = Literal["number", "boolean", "category", "date", "text"]
KINDS: tuple[Kind, ...] = ("number", "boolean", "category", "date", "text")

LEAST_SHARE = 0.95  # of the cells that must be numbers (dates) for a column of numbers (dates); the others are missing
MOST_CATEGORIES = 40  # categories with a column of their own
COVERED = 0.6  # share of the cells that those must cover where there are more distinct texts
ID_SHARE = 0.95  # of the texts that are distinct in a column of ids
ID_ROWS = 20  # rows from which such a column counts as ids
WORDS = 3.0  # mean number of words from which texts are free text rather than names
_ID_NAME = re.compile(
    r"(^|[^a-z])(id|ids|uuid|guid|key|no|nr|num|number|index|idx|row|iban|email|e-mail|phone)$"
    r"|[a-z]I[dD]$|^column \d+$"  # accountId; a column without name, as data frames write their row numbers
)


@dataclass(frozen=True)
class Inferred:
    """The type of a column, or why it is dropped; ``note`` says what a reader may want to overrule."""

    kind: Kind | None
    reason: str = ""
    note: str = ""


def infer(name: str, cells: Cells) -> Inferred:
    """The type of a column by its texts."""
    if not cells.counts.any():
        return Inferred(None, "all cells are empty")
    if len(cells.values) == 1 and not cells.missing.any():
        return Inferred(None, "all cells are the same")
    if np.isfinite(booleans(cells.values)).all():
        return Inferred("boolean")
    found = numbers(cells.values, number_style(cells.values))
    if cells.share(np.isfinite(found)) >= LEAST_SHARE and not _codes(cells):
        return _number(name, found, cells)
    formats = date_formats(cells.values, LEAST_SHARE) if _with_digits(cells) else []
    if formats:
        return Inferred("date", note=_ambiguous(formats))
    return _words(cells)


def is_id_name(name: str) -> bool:
    """Whether a column is called like an id: ``id``, ``account_id``, ``rowId``, ``phone number``."""
    return _ID_NAME.search(name) is not None or _ID_NAME.search(name.lower()) is not None


def _number(name: str, found: np.ndarray, cells: Cells) -> Inferred:
    distinct = np.isfinite(found).all() and (cells.counts == 1).all() and len(found) > 1
    if distinct and (found % 1 == 0).all():
        counter = found.min() in (0, 1) and np.ptp(found) == len(found) - 1 and len(found) >= ID_ROWS
        if is_id_name(name) or counter:
            return Inferred(None, "its whole numbers are all different, like ids")
    return Inferred("number")


def _words(cells: Cells) -> Inferred:
    counts = cells.counts
    filled = int(counts.sum())
    words = float(np.dot(pc.count_substring_regex(cells.values, r"\w+").to_numpy(), counts) / filled)
    if words < WORDS and filled >= ID_ROWS and len(counts) >= ID_SHARE * filled:
        return Inferred(None, "its texts are all different, like ids")
    frequent = np.sort(counts)[::-1][:MOST_CATEGORIES].sum()
    if len(counts) <= MOST_CATEGORIES or (words < WORDS and frequent >= COVERED * filled):
        return Inferred("category")
    return Inferred("text")


def _codes(cells: Cells) -> bool:
    """Whether numbers are codes with leading zeros, such as ``00123``."""
    return bool(pc.any(pc.match_substring_regex(cells.values, r"^0\d")).as_py())


def _with_digits(cells: Cells) -> bool:
    with_digits = pc.match_substring_regex(cells.values, r"\d").to_numpy(zero_copy_only=False)
    return cells.share(with_digits) >= LEAST_SHARE


def _ambiguous(formats: list[str]) -> str:
    day_first = {form.replace("%m", "%x").replace("%d", "%m").replace("%x", "%d") for form in formats}
    other = [form for form in formats[1:] if form in day_first and "%d" in form and "%m" in form]
    return f"its dates fit {formats[0]} and {other[0]}; the first was taken" if other else ""
