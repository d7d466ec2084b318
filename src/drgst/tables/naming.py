"""Conversion of node ids and labels from text or Python objects to arrays."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from drgst.errors import GraphError

LONGEST_ID = 255
_INT64 = 2**63
_WHOLE = re.compile(r"-?\d+(\.0+)?")  # 3.0: spreadsheets write whole numbers of a column with missing cells in this way


def clean_ids(values: Iterable[Any]) -> np.ndarray:
    """Node ids as int64 if all are whole numbers, else as text; empty, overlong and negative ids are errors."""
    texts = [as_text(value) for value in values]
    for row, text in enumerate(texts, start=1):
        if not text:
            raise GraphError(f"node {row} has no id")
        if len(text) > LONGEST_ID:
            raise GraphError(f"node {row} has an id of {len(text)} characters; {LONGEST_ID} are allowed")
    numbers = [as_integer(text) for text in texts]
    if any(number is None for number in numbers):
        return np.array(texts, dtype=str)
    whole = np.array(numbers, dtype=np.int64)
    if whole.size and whole.min() < 0:
        raise GraphError(f"node id {whole.min()} is negative: ids are numbers of 0 or above, or names")
    return whole


def encode_labels(values: Iterable[Any]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Class indices with -1 for unknown, (N,), and the class names.

    None, NaN and empty text are unknown, and -1 if all labels are whole numbers. Classes are ordered by number if all
    labels are whole numbers, else by name.
    """
    texts = [as_text(value) for value in values]
    names = sorted(set(texts) - {""})
    numbers = dict(zip(names, map(as_integer, without_decimals(names)), strict=True))
    if None in numbers.values():
        index: dict[Any, int] = {name: k for k, name in enumerate(names)}
        return np.array([index.get(text, -1) for text in texts], dtype=np.int64), tuple(names)
    classes = sorted({number for number in numbers.values() if number is not None and number != -1})
    if classes and classes[0] < -1:
        raise GraphError(f"label {classes[0]} is not allowed: labels are 0 or above, or -1 for unknown")
    index = {number: k for k, number in enumerate(classes)}
    labels = np.array([index.get(numbers.get(text), -1) for text in texts], dtype=np.int64)
    return labels, tuple(str(number) for number in classes)


def are_whole(ids: Iterable[str]) -> bool:
    """Whether all ids are whole numbers, with or without ``.0``."""
    return all(_WHOLE.fullmatch(text) for text in ids)


def without_decimals(ids: Iterable[str]) -> list[str]:
    """``7.0`` as ``7``; other texts as they are."""
    return [text.partition(".")[0] if _WHOLE.fullmatch(text) else text for text in ids]


def spelt_alike(names: Sequence[str]) -> str:
    """What is wrong with two class names that differ in case or spaces only; empty if none do."""
    first: dict[str, str] = {}
    for name in names:
        other = first.setdefault("".join(name.casefold().split()), name)
        if other != name:
            return f"the classes {other!r} and {name!r} differ in case or spaces only: write them alike"
    return ""


def relabel(labels: np.ndarray, names: Sequence[str], classes: Sequence[str]) -> np.ndarray:
    """Indices into ``names`` as indices into ``classes``, (N,); -1 where unknown or not one of ``classes``."""
    index = {name: k for k, name in enumerate(classes)}
    return np.array([*(index.get(name, -1) for name in names), -1], dtype=np.int64)[labels]


def as_text(value: Any) -> str:
    """A cell as text without surrounding blanks; missing values are empty, and 3.0 is ``3``."""
    if value is None or (isinstance(value, float | np.floating) and math.isnan(value)):
        return ""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value).strip()


def as_integer(text: str) -> int | None:
    """The integer that ``text`` is the canonical form of, or None: ``007`` is a name."""
    digits = text[1:] if text.startswith("-") else text
    if not (digits.isascii() and digits.isdigit() and len(digits) < 20):
        return None
    number = int(text)
    return number if str(number) == text and -_INT64 <= number < _INT64 else None
