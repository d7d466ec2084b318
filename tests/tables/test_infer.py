"""Types of columns."""

from __future__ import annotations

import pyarrow as pa
import pytest

from drgst.tables.cells import Cells, read_cells
from drgst.tables.infer import infer, is_id_name


def cells(values: list[object]) -> Cells:
    found = read_cells(pa.chunked_array([pa.array([None if v is None else str(v) for v in values], pa.string())]))
    assert found is not None
    return found


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
        ("note", SENTENCES, "text"),
        ("only", ["yes", None, "yes"], "boolean"),
    ],
)
def test_types(name: str, values: list[object], kind: str) -> None:
    assert infer(name, cells(values)).kind == kind


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
    found = infer(name, cells(values))
    assert found.kind is None
    assert reason in found.reason


def test_ages_that_all_differ_are_numbers() -> None:
    assert infer("age", cells(list(range(20, 60)))).kind == "number"


def test_ambiguous_dates_are_noted() -> None:
    assert "%d/%m/%Y and %m/%d/%Y" in infer("d", cells(["01/02/2024", "03/04/2024"])).note
    assert infer("d", cells(["01/02/2024", "13/04/2024"])).note == ""


def test_names_of_ids() -> None:
    for name in ("id", "account_id", "accountId", "Row", "phone", "column 1"):
        assert is_id_name(name), name
    for name in ("valid", "paid", "age", "idea", "grid"):
        assert not is_id_name(name), name
