"""Which values a row may hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from drgst.lab.store.schema import invalid

Row = Callable[..., dict[str, Any]]


def test_a_row_as_the_bench_writes_it_is_valid(make_row: Row) -> None:
    assert invalid(make_row("a", stage_rows='[{"epochs": 3}, {"gain": NaN}]', settings='{"lr": 0.1}')) is None
    assert invalid({"test_accuracy": 1, "brier": 2.0, "seconds": 1e6}) is None


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("test_accuracy", 1e308, "test_accuracy is 1e+308, but must be a number from 0 to 1.0"),
        ("test_accuracy", float("nan"), "test_accuracy is nan"),
        ("val_accuracy", -0.1, "val_accuracy is -0.1"),
        ("ece", "high", "ece is 'high', but must be a number"),
        ("macro_f1", b"\x00\x01", "macro_f1 is b"),
        ("seconds", float("inf"), "seconds is inf"),
        ("draw", 10**30, "draw is 1000000000000000000000000000000, but must be a whole number from 0 to 9,223,372,"),
        ("draw", None, "draw is None"),
        ("per_class", 2.5, "per_class is 2.5, but must be a whole number"),
        ("recipe", b"gcn", "recipe is b'gcn', but must be text"),
        ("recipe", None, "recipe is None, but must be text"),
        ("settings", "{", "settings is '{', but must be a JSON object"),
        ("settings", "[]", "settings is '[]', but must be a JSON object"),
        ("settings", '{"lr": 1e999}', "but must be a JSON object"),
        ("settings", "[" * 100_000, "but must be a JSON object"),
        ("stage_rows", "[1]", "stage_rows is '[1]', but must be a JSON array of objects"),
    ],
)
def test_what_is_not_allowed_is_named_with_what_is(name: str, value: Any, message: str) -> None:
    assert message in str(invalid({name: value}))
