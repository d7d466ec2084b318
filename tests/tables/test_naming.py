"""Node ids and labels as text, numbers and missing values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from drgst.errors import GraphError
from drgst.tables.naming import as_integer, as_text, clean_ids, encode_labels, relabel


@pytest.mark.parametrize(
    ("value", "text"),
    [(" a ", "a"), (3, "3"), (3.0, "3"), (np.float32(2), "2"), (2.5, "2.5"), (None, ""), (float("nan"), "")],
)
def test_cells_as_text(value: Any, text: str) -> None:
    assert as_text(value) == text


@pytest.mark.parametrize(
    ("text", "number"),
    [("7", 7), ("-7", -7), ("007", None), ("-0", None), ("1e3", None), ("", None), ("²", None), (str(2**63), None)],
)
def test_only_canonical_integers_are_numbers(text: str, number: int | None) -> None:
    assert as_integer(text) == number


def test_ids_are_numbers_if_all_are() -> None:
    assert clean_ids([3, "1", 2.0]).tolist() == [3, 1, 2]
    assert clean_ids([3, "x"]).tolist() == ["3", "x"]


@pytest.mark.parametrize(
    ("ids", "message"),
    [(["a", None], "node 2 has no id"), (["a" * 256], "256 characters; 255 are allowed"), ([4, -3], "-3 is negative")],
)
def test_bad_ids(ids: list[Any], message: str) -> None:
    with pytest.raises(GraphError, match=message):
        clean_ids(ids)


@pytest.mark.parametrize(
    ("values", "labels", "names"),
    [
        ([10, 2, -1, None], [1, 0, -1, -1], ("2", "10")),
        (["10.0", "2", ""], [1, 0, -1], ("2", "10")),
        (["b", "10", "-1", float("nan")], [2, 1, 0, -1], ("-1", "10", "b")),
        ([None, ""], [-1, -1], ()),
    ],
)
def test_labels(values: list[Any], labels: list[int], names: tuple[str, ...]) -> None:
    y, classes = encode_labels(values)
    assert (y.tolist(), classes) == (labels, names)


def test_a_label_below_minus_one() -> None:
    with pytest.raises(GraphError, match="label -2 is not allowed"):
        encode_labels([-2, 1])


def test_labels_by_the_classes_of_a_model() -> None:
    assert relabel(np.array([0, 1, 2, -1]), ("a", "b", "c"), ("c", "a")).tolist() == [1, -1, 0, -1]
