"""Cells of columns of any type as texts."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from drgst.tables.cells import CellError, read_cells


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
        assert cells.known.texts == texts
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
    cells = read_cells(column(["na", "", "x"]))
    assert cells is not None
    assert cells.texts == ["na", "x"]
    assert cells.missing.tolist() == [False, True, False]
    assert cells.known.texts == ["x"]
    assert cells.known.missing.tolist() == [True, True, False]


def test_the_apostrophe_of_inert_cells_is_removed_in_text_files() -> None:
    given = column(["'=1+1", "=1+1", "'@x", "'quoted'", "''-a"])
    cells = read_cells(given, from_text_file=True)
    assert cells is not None
    assert [cells.texts[code] for code in cells.codes] == ["=1+1", "=1+1", "@x", "'quoted'", "'-a"]
    plain = read_cells(given)
    assert plain is not None
    assert plain.texts == given.to_pylist()


@pytest.mark.parametrize(
    ("values", "kind", "row"),
    [
        (["a", "b\0", "c"], pa.string(), 1),
        ([0, 1], pa.timestamp("us", "No/Such_Zone"), None),
    ],
)
def test_cells_that_can_not_be_read_are_one_sentence(values: list[object], kind: pa.DataType, row: int | None) -> None:
    with pytest.raises(CellError) as caught:
        read_cells(column(values, kind))
    assert caught.value.row == row
    assert "\n" not in str(caught.value)


def test_text_that_is_not_utf8_has_its_row() -> None:
    damaged = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0\2\0\0\0"), pa.py_buffer(b"a\xff")]
    )
    with pytest.raises(CellError) as caught:
        read_cells(pa.chunked_array([damaged]))
    assert caught.value.row == 1
