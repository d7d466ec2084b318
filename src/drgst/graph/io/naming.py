"""Node ids and labels as people write them, turned into arrays."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from drgst.errors import GraphError

LONGEST_ID = 255
_INT64 = 2**63


def clean_ids(values: Iterable[Any]) -> np.ndarray:
    """Node ids as int64 where all are whole numbers, else as text; empty, overlong and negative ones are refused."""
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

    Missing is None, NaN or empty text, and -1 where all labels are whole numbers. Classes are ordered by number where
    all are whole numbers, else by name.
    """
    texts = [as_text(value) for value in values]
    names = sorted(set(texts) - {""})
    numbers = [as_integer(_without_decimals(name)) for name in names]
    if names and None not in numbers:
        return _encode_numbers(texts, dict(zip(names, numbers, strict=True)))
    index = {name: k for k, name in enumerate(names)} | {"": -1}
    return np.array([index[text] for text in texts], dtype=np.int64), tuple(names)


def relabel(labels: np.ndarray, names: Sequence[str], classes: Sequence[str]) -> np.ndarray:
    """Indices into ``names`` as indices into ``classes``, (N,); -1 where unknown or not one of ``classes``."""
    index = {name: k for k, name in enumerate(classes)}
    return np.array([*(index.get(name, -1) for name in names), -1], dtype=np.int64)[labels]


def _encode_numbers(texts: Sequence[str], number: dict[str, Any]) -> tuple[np.ndarray, tuple[str, ...]]:
    low = min(number.values())
    if low < -1:
        raise GraphError(f"label {low} is not allowed: labels are 0 or above, or -1 for unknown")
    classes = sorted(set(number.values()) - {-1})
    index = {value: k for k, value in enumerate(classes)} | {-1: -1}
    labels = [index[number[text]] if text else -1 for text in texts]
    return np.array(labels, dtype=np.int64), tuple(str(value) for value in classes)


def as_text(value: Any) -> str:
    """A cell as text without blanks around it; missing is empty, and 3.0 is ``3``."""
    if value is None or (isinstance(value, float | np.floating) and math.isnan(value)):
        return ""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value).strip()


def as_integer(text: str) -> int | None:
    """The whole number that ``text`` is the usual writing of, or None: ``007`` is a name."""
    digits = text[1:] if text.startswith("-") else text
    if not (digits.isascii() and digits.isdigit() and len(digits) < 20):
        return None
    number = int(text)
    return number if str(number) == text and -_INT64 <= number < _INT64 else None


def _without_decimals(text: str) -> str:
    """``3.0`` as ``3``: how spreadsheets and pandas write whole numbers in a column with gaps."""
    head, dot, tail = text.partition(".")
    return head if dot and tail and not tail.strip("0") else text
