"""Cells as numbers, booleans and dates."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from drgst.tables.cells import ISO, booleans, date_formats, dates, number_style, numbers, read_cells

Texts = list[str]


def array(*texts: str) -> pa.Array:
    return pa.array(texts, pa.string())


def column(values: list[object], kind: pa.DataType | None = None) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(values, kind)])


def test_cells_of_every_type_are_texts() -> None:
    for values, texts in (
        ([1, None, 2], ["1", "2"]),
        ([1.0, 2.5, float("nan")], ["1", "2.5"]),
        ([True, False, None], ["true", "false"]),
        ([date(2024, 1, 2), None, None], ["2024-01-02"]),
        ([datetime(2024, 1, 2, 3), None, None], ["2024-01-02 03:00:00.000000"]),
        ([Decimal("1.50"), None, None], ["1.50"]),
        ([" a ", "N/A", ""], ["a"]),
        ([None, None, None], []),
    ):
        cells = read_cells(column(values))
        assert cells is not None
        assert cells.texts == texts
        assert cells.rows == 3
    assert read_cells(column([[1], [2]])) is None
    assert read_cells(column([b"x"])) is None


def test_several_chunks_and_dictionaries() -> None:
    chunks = pa.chunked_array([pa.array(["a", "b"]).dictionary_encode(), pa.array(["c", "a"]).dictionary_encode()])
    cells = read_cells(chunks)
    assert cells is not None
    assert [cells.texts[code] for code in cells.codes] == ["a", "b", "c", "a"]
    assert cells.counts.tolist() == [2, 1, 1]
    assert cells.first_row(np.array([False, False, True])) == 2


def test_words_for_missing_are_kept_in_ids() -> None:
    cells = read_cells(column(["na", "", "x"]), missing=False)
    assert cells is not None
    assert cells.texts == ["na", "x"]
    assert cells.missing.tolist() == [False, True, False]


def test_numbers_in_three_styles() -> None:
    plain = array("1", "-2.5", "+3", ".5", "4.", "1e3", "$ 7", "12 %", "1 000", "x", "1,5", "inf", "1e999", "0x10")
    expected = [1, -2.5, 3, 0.5, 4, 1000, 7, 12, 1000, *[np.nan] * 5]
    np.testing.assert_array_equal(numbers(plain), expected)
    thousands, comma = array("1,234.5", "2", "12,000"), array("1.234,5", "0,25", "3")
    assert (number_style(thousands), number_style(comma), number_style(plain)) == (
        *("thousands", "decimal comma"),
        "decimal comma",
    )
    np.testing.assert_array_equal(numbers(thousands, "thousands"), [1234.5, 2, 12000])
    np.testing.assert_array_equal(numbers(comma, "decimal comma"), [1234.5, 0.25, 3])


def test_booleans() -> None:
    np.testing.assert_array_equal(booleans(array("Yes", "F", "1", "maybe")), [1, 0, 1, np.nan])


@pytest.mark.parametrize(
    ("texts", "form"),
    [
        (["2024-01-31", "2024-02-01"], ISO),
        (["2024-01-31T10:00:00Z", "2024-02-01T00:00:00+02:00"], ISO),
        (["31/01/2024", "01/02/2024"], "%d/%m/%Y"),
        (["01/31/2024", "02/01/2024"], "%m/%d/%Y"),
        (["31.01.2024 10:00", "01.02.2024 11:30"], "%d.%m.%Y %H:%M"),
        (["Jan 31, 2024", "Feb 1, 2024"], "%b %d, %Y"),
    ],
)
def test_dates(texts: Texts, form: str) -> None:
    assert date_formats(array(*texts), 1.0)[0] == form
    days = dates(array(*texts, "2024-02-30", "soon"), form)
    assert np.floor(days[0]) == (date(2024, 1, 31) - date(1970, 1, 1)).days
    assert np.isnan(days[2:]).all()


def test_no_format_for_words() -> None:
    assert date_formats(array("a", "b"), 0.5) == []
    assert date_formats(array(), 0.5) == []
