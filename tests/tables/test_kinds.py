"""Kinds of columns: how they are detected, their equations, unseen cells, and a state that is plain JSON."""

from datetime import date, timedelta

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
from drgst.tables.kinds import KINDS, AnyColumn, detect
from drgst.tables.kinds.base import Column
from drgst.tables.kinds.boolean import booleans
from drgst.tables.kinds.date import ISO, date_formats, dates
from drgst.tables.kinds.number import Scores, is_id_name, number_style, numbers


def cells(*values: object) -> Cells:
    found = read_cells(pa.chunked_array([pa.array([None if v is None else str(v) for v in values], pa.string())]))
    return found.known


def dense(block: object) -> np.ndarray:
    return block.toarray() if sp.issparse(block) else np.asarray(block)  # type: ignore[attr-defined]


def test_normal_scores_of_few_numbers_are_exact() -> None:
    x = np.array([3.0, -1.0, -1.0, 8.0, np.nan])
    scores = Scores.fit(x)
    np.testing.assert_allclose(scores.transform(x)[:4], ndtri((rankdata(x[:4]) - 0.5) / 4))
    assert scores.transform(np.array([np.nan]))[0] == scores.transform(np.array([1.0]))[0]  # the median
    assert scores.transform(np.array([99.0]))[0] == scores.transform(np.array([8.0]))[0]  # bounded


def test_normal_scores_of_many_numbers_are_close() -> None:
    x = np.random.default_rng(0).lognormal(size=5000)
    scores = Scores.fit(x)
    assert len(scores.knots) <= 512
    exact = ndtri((rankdata(x) - 0.5) / x.size)
    inner = np.abs(exact) < 2
    assert np.abs(scores.transform(x) - exact)[inner].max() < 0.02


def test_numbers_booleans_and_categories() -> None:
    number = KINDS["number"].fit("x", cells(1, 2, None, 3))
    assert number.features() == ["x", "x is missing"]
    block, notes = number.encode(cells(2, None, "old"))
    assert dense(block)[:, 1].tolist() == [0, 1, 1]
    assert dense(block)[1, 0] == dense(block)[0, 0] == pytest.approx(0, abs=1e-7)
    assert notes == ["column 'x': 1 cell not a number ('old')"]
    boolean = KINDS["boolean"].fit("b", cells("yes", "yes", "no"))
    assert dense(boolean.encode(cells("no", "YES", None))[0]).tolist() == [[0], [1], [1]]
    category = KINDS["category"].fit("c", cells(*"aaabbc", None))
    assert category.features() == ["c = a", "c = b", "c = other", "c is missing"]
    block, notes = category.encode(cells("b", "new", None))
    assert dense(block).tolist() == [[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    closed = KINDS["category"].fit("c", cells(*"aabb"))
    block, notes = closed.encode(cells("a", "new"))
    assert dense(block).tolist() == [[1, 0], [0, 0]]
    assert notes == ["column 'c': 1 cell not a known category ('new')"]


def test_dates_have_a_day_and_the_cycles_that_vary() -> None:
    day = KINDS["date"].fit("d", cells("2024-01-01", "2024-01-08", None))
    assert day.features() == ["d: day", "d: time of week, sine", "d: time of week, cosine", "d is missing"]
    block = dense(day.encode(cells("2024-01-01", "2024-01-15", None))[0])
    np.testing.assert_allclose(block[0, 1:3], block[1, 1:3], atol=1e-5)  # the same weekday
    assert block[2].tolist() == [0, 0, 0, 1]
    both = KINDS["date"].fit("d", cells("2024-01-01 06:00", "2025-01-01 18:00"))
    assert both.cycles == ("week", "year", "day")
    block = dense(both.encode(cells("2024-01-01 06:00", "2024-01-01 18:00"))[0])
    np.testing.assert_allclose(block[0, 5:], -block[1, 5:], atol=1e-6)
    years = dense(both.encode(cells("2004-03-01 06:00", "2024-03-01 06:00"))[0])
    np.testing.assert_allclose(years[0, 3:5], years[1, 3:5], atol=0.02)  # the same day of the year


def test_text_is_tf_idf_with_unit_rows() -> None:
    text = KINDS["text"].fit("t", cells("red fox", "red dog dog", "dog", None))
    assert text.words == ("dog", "red")
    block = dense(text.encode(cells("RED, dog dog!", "cat", None))[0])
    weights = np.array([2 * (1 + np.log(5 / 3)), 1 + np.log(5 / 3)])
    np.testing.assert_allclose(block[0], [*(weights / np.linalg.norm(weights)), 0], rtol=1e-6)
    assert block[1].tolist() == [0, 0, 0]
    assert block[2].tolist() == [0, 0, 1]


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)  # the reader refuses zero bytes
WHOLE = st.integers(-9999, 9999)  # of the kind ``features`` each is the index of a column
VALUES = st.one_of(st.none(), TEXTS, WHOLE.map(str), st.floats().map(str), st.dates().map(str))


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(sorted(KINDS)), st.lists(VALUES, min_size=1, max_size=25), st.lists(VALUES, min_size=1, max_size=9)
)
def test_any_cells_give_finite_features_and_json_keeps_the_encoder(
    kind: str, fitted: list[str | None], later: list[str | None]
) -> None:
    encoder = KINDS[kind].fit("c", cells(*fitted))
    again = TypeAdapter(AnyColumn).validate_json(encoder.model_dump_json())
    assert again == encoder
    for values in (fitted, later):
        block = dense(again.encode(cells(*values))[0])
        assert block.shape == (len(values), len(encoder.features()))
        assert np.isfinite(block).all()


def test_the_frequency_of_many_categories_is_a_feature() -> None:
    towns = [f"city {k % 100}" for k in range(200)]
    column = KINDS["category"].fit("city", cells(*towns, *["Rome"] * 60, *["Oslo"] * 30, None))
    assert column.features()[-3:] == ["city = other", "city: rows", "city is missing"]
    again = TypeAdapter(AnyColumn).validate_json(column.model_dump_json())
    x = dense(again.encode(cells("Rome", "Oslo", "city 3", "Bonn", None))[0])[:, -2]
    assert x[0] > x[1] > x[2] == x[3]  # 2 rows are the least
    lone = KINDS["category"].fit("city", cells(*towns, "Lima"))
    x = dense(lone.encode(cells("city 3", "Lima", "Bonn"))[0])[:, -1]
    assert x[0] > x[1] == x[2]  # a category that was not fitted has one row
    assert "Rome" in again.show(dense(again.encode(cells("Rome"))[0])[0], np.full(column.num_features, 0.5))
    few = KINDS["category"].fit("city", cells("Rome", "Rome", "Oslo", "Oslo"))
    assert few.features() == ["city = Oslo", "city = Rome"]


SENTENCES = [f"the customer {k} asked about word{k % 7} and fees" for k in range(60)]


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("age", [31, 45.5, None, 60], "number"),
        ("price", ["1,5", "2,25", "3"], "number"),
        ("almost", [*range(2, 99), "n/a", "old"], "number"),
        ("verified", ["yes", "no", None], "boolean"),
        ("flag", [0, 1, 0], "boolean"),
        ("opened", ["2024-01-02", "2024-05-06", None], "date"),
        ("city", ["Rome", "Oslo", "Rome"], "category"),
        ("zip", ["00123", "12345", "00123"], "category"),
        ("merchant", [f"m{k % 30 if k % 10 else k}" for k in range(900)], "category"),
        ("city", [f"town {k % 200}" for k in range(900)], "category"),
        ("note", SENTENCES, "text"),
        ("only", ["yes", None, "yes"], "boolean"),
    ],
)
def test_types(name: str, values: list[object], kind: str) -> None:
    assert detect(name, cells(*values))[0] == kind


@pytest.mark.parametrize(
    ("name", "values", "reason"),
    [
        ("gone", [None, None, "n/a"], "all cells are empty"),
        ("same", ["EUR"] * 3, "all cells are the same"),
        ("account_id", [5, 3, 9], "like ids"),
        ("counter", list(range(1, 31)), "like ids"),
        ("iban", [f"DE{k}" for k in range(30)], "like ids"),
    ],
)
def test_columns_without_information_are_dropped(name: str, values: list[object], reason: str) -> None:
    kind, detected = detect(name, cells(*values))
    assert kind is None
    assert reason in detected.dropped


def test_ages_that_all_differ_are_numbers() -> None:
    assert detect("age", cells(*range(20, 60)))[0] == "number"


def test_ambiguous_dates_are_noted() -> None:
    assert "%d/%m/%Y and %m/%d/%Y" in detect("d", cells("01/02/2024", "03/04/2024"))[1].note
    assert detect("d", cells("01/02/2024", "13/04/2024"))[1].note == ""


def test_names_of_ids() -> None:
    for name in ("id", "account_id", "accountId", "Row", "phone", "column 1"):
        assert is_id_name(name), name
    for name in ("valid", "paid", "age", "idea", "grid"):
        assert not is_id_name(name), name


def test_numbers_in_three_styles() -> None:
    plain = cells("1", "-2.5", "+3", ".5", "4.", "1e3", "$ 7", "12 %", "1 000", "x", "1,5", "inf", "1e999", "0x10")
    expected = [1, -2.5, 3, 0.5, 4, 1000, 7, 12, 1000, *[np.nan] * 5]
    np.testing.assert_array_equal(numbers(plain, "plain"), expected)
    thousands, comma = cells("1,234.5", "2", "12,000"), cells("1.234,5", "0,25", "3")
    assert (number_style(thousands), number_style(comma), number_style(plain)) == (
        *("thousands", "decimal comma"),
        "decimal comma",
    )
    np.testing.assert_array_equal(numbers(thousands, "thousands"), [1234.5, 2, 12000])
    np.testing.assert_array_equal(numbers(comma, "decimal comma"), [1234.5, 0.25, 3])


def test_booleans() -> None:
    np.testing.assert_array_equal(booleans(cells("Yes", "F", "1", "maybe")), [1, 0, 1, np.nan])


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
def test_dates(texts: list[str], form: str) -> None:
    assert date_formats(cells(*texts), 1.0)[0] == form
    days = dates(cells(*texts, "2024-02-30", "soon"), form)
    assert np.floor(days[0]) == (date(2024, 1, 31) - date(1970, 1, 1)).days
    assert np.isnan(days[2:]).all()


def test_no_format_for_words() -> None:
    assert date_formats(cells("a", "b"), 0.5) == []
    assert date_formats(cells(), 0.5) == []


def test_each_kind_has_its_name_and_features() -> None:
    for kind, column in KINDS.items():
        assert issubclass(column, Column)
        fitted = column.fit("c", cells("1:2 3", "4", None))
        assert fitted.kind == kind
        assert len(fitted.features()) == fitted.num_features
        assert fitted.describe()


def test_formats_of_dates_are_found_by_their_pattern_first() -> None:
    """10,000 columns of codes such as A7-18 were tried in 79 formats of dates each."""
    assert date_formats(cells(*(f"A{k}-{k % 31}" for k in range(300))), 0.5) == []
    with pytest.raises(ValueError, match="format of dates is unknown"):
        KINDS["date"](column="d", form="%d%d", scale=Scores.fit(np.zeros(1)), cycles=())  # type: ignore[call-arg]


def test_dates_are_shown_as_they_were_written() -> None:
    """Scores are float32, so a day must not become the one before."""
    days = [str(date(2023, 1, 1) + timedelta(days=3 * k + k % 7)) for k in range(700)]
    column = KINDS["date"].fit("d", cells(*days))
    features = column.encode(cells(*days))[0]
    shown = [column.show_features(row, row).split(" ")[0] for row in features]
    assert shown == days
