"""Encoders: equations, unseen cells, and a state that is plain JSON."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter
from scipy.special import ndtri
from scipy.stats import rankdata

from drgst.tables.cells import Cells, read_cells
from drgst.tables.encoders import ENCODERS, Encoder, Scores


def cells(*values: object) -> Cells:
    found = read_cells(pa.chunked_array([pa.array([None if v is None else str(v) for v in values], pa.string())]))
    assert found is not None
    return found


def dense(block: object) -> np.ndarray:
    return block.toarray() if sp.issparse(block) else np.asarray(block)  # type: ignore[attr-defined]


def test_normal_scores_of_few_numbers_are_exact() -> None:
    x = np.array([3.0, 1.0, 1.0, 8.0, np.nan])
    scores = Scores.fit(x)
    np.testing.assert_allclose(scores.transform(x)[:4], ndtri((rankdata(x[:4]) - 0.5) / 4))
    assert scores.transform(np.array([np.nan]))[0] == scores.transform(np.array([2.0]))[0]  # the median
    assert scores.transform(np.array([99.0]))[0] == scores.transform(np.array([8.0]))[0]  # bounded


def test_normal_scores_of_many_numbers_are_close() -> None:
    x = np.random.default_rng(0).lognormal(size=5000)
    scores = Scores.fit(x)
    assert len(scores.knots) <= 200
    exact = ndtri((rankdata(x) - 0.5) / x.size)
    inner = np.abs(exact) < 2
    assert np.abs(scores.transform(x) - exact)[inner].max() < 0.02


def test_numbers_booleans_and_categories() -> None:
    number = ENCODERS["number"].fit("x", cells(1, 2, None, 3))
    assert number.features() == ["x", "x is missing"]
    block, notes = number.encode(cells(2, None, "old"))
    assert dense(block)[:, 1].tolist() == [0, 1, 1]
    assert dense(block)[1, 0] == dense(block)[0, 0] == pytest.approx(0, abs=1e-7)
    assert notes == ["column 'x': 1 cell not a number ('old')"]
    boolean = ENCODERS["boolean"].fit("b", cells("yes", "yes", "no"))
    assert dense(boolean.encode(cells("no", "YES", None))[0]).tolist() == [[0], [1], [1]]
    category = ENCODERS["category"].fit("c", cells(*"aaabbc", None))
    assert category.features() == ["c = a", "c = b", "c = other", "c is missing"]
    block, notes = category.encode(cells("b", "new", None))
    assert dense(block).tolist() == [[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    closed = ENCODERS["category"].fit("c", cells(*"aabb"))
    block, notes = closed.encode(cells("a", "new"))
    assert dense(block).tolist() == [[1, 0], [0, 0]]
    assert notes == ["column 'c': 1 cell not a known category ('new')"]


def test_dates_have_a_day_and_the_cycles_that_vary() -> None:
    day = ENCODERS["date"].fit("d", cells("2024-01-01", "2024-01-08", None))
    assert day.features() == ["d: day", "d: time of week, sine", "d: time of week, cosine", "d is missing"]
    block = dense(day.encode(cells("2024-01-01", "2024-01-15", None))[0])
    np.testing.assert_allclose(block[0, 1:3], block[1, 1:3], atol=1e-5)  # the same weekday
    assert block[2].tolist() == [0, 0, 0, 1]
    both = ENCODERS["date"].fit("d", cells("2024-01-01 06:00", "2025-01-01 18:00"))
    assert both.cycles == ("week", "year", "day")
    block = dense(both.encode(cells("2024-01-01 06:00", "2024-01-01 18:00"))[0])
    np.testing.assert_allclose(block[0, 5:], -block[1, 5:], atol=1e-6)


def test_text_is_tf_idf_with_unit_rows() -> None:
    text = ENCODERS["text"].fit("t", cells("red fox", "red dog dog", "dog", None))
    assert text.words == ("dog", "red")
    block = dense(text.encode(cells("RED, dog dog!", "cat", None))[0])
    weights = np.array([2 * (1 + np.log(5 / 3)), 1 + np.log(5 / 3)])
    np.testing.assert_allclose(block[0], [*(weights / np.linalg.norm(weights)), 0], rtol=1e-6)
    assert block[1].tolist() == [0, 0, 0]
    assert block[2].tolist() == [0, 0, 1]


VALUES = st.one_of(st.none(), st.text(max_size=12), st.integers().map(str), st.floats().map(str), st.dates().map(str))


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(sorted(ENCODERS)),
    st.lists(VALUES, min_size=1, max_size=25),
    st.lists(VALUES, min_size=1, max_size=9),
)
def test_any_cells_give_finite_features_and_json_keeps_the_encoder(
    kind: str, fitted: list[str | None], later: list[str | None]
) -> None:
    encoder = ENCODERS[kind].fit("c", cells(*fitted))  # type: ignore[index]
    again = TypeAdapter(Encoder).validate_json(encoder.model_dump_json())
    assert again == encoder
    for values in (fitted, later):
        block = dense(again.encode(cells(*values))[0])
        assert block.shape == (len(values), len(encoder.features()))
        assert np.isfinite(block).all()
