"""Which runs a table shows."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from drgst.errors import StoreError
from drgst.lab.store.cells import RunFilter, check_any, runs_by_cell

CELL = ("cora", 3, "gcn")


Runs = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def runs(make_row: Callable[..., dict[str, Any]]) -> Runs:
    """``n`` draws with one variant, threshold and validation accuracy."""

    def make(variant: str, threshold: float, val: float, created: str = "2026-01-01", n: int = 3) -> Any:
        changes = {"variant": variant, "settings": json.dumps({"threshold": threshold}), "created": created}
        return [make_row(f"{variant}{threshold}{d}", draw=d, val_accuracy=val, **changes) for d in range(n)]

    return make


def test_default_takes_the_recipes_own_settings(runs: Runs) -> None:
    rows = runs("", 0.6, 0.5) + runs("threshold=0.4", 0.4, 0.9)
    assert runs_by_cell(rows, RunFilter())[CELL].rows[0]["variant"] == ""
    assert runs_by_cell(rows, RunFilter("threshold=0.4"))[CELL].rows[0]["variant"] == "threshold=0.4"


def test_validation_takes_the_best_by_validation_among_those_with_most_draws(runs: Runs) -> None:
    rows = runs("", 0.6, 0.5) + runs("threshold=0.4", 0.4, 0.7) + runs("threshold=0.3", 0.3, 0.9, n=1)
    assert runs_by_cell(rows, RunFilter("validation"))[CELL].rows[0]["variant"] == "threshold=0.4"


def test_a_cell_never_mixes_settings(runs: Runs) -> None:
    """The recipe's own settings have changed since: the newer ones are shown, even where fewer draws have them."""
    rows = runs("", 0.6, 0.5, "2026-01-01", 3) + runs("", 0.7, 0.5, "2026-02-01", 2)
    found = runs_by_cell(rows, RunFilter())[CELL]
    assert len(found.rows) == 2
    assert {json.loads(r["settings"])["threshold"] for r in found.rows} == {0.7}


def test_pool_and_validation_are_not_mixed(runs: Runs) -> None:
    rows = runs("", 0.6, 0.5)
    assert runs_by_cell(rows, RunFilter(pool="all-but-validation")) == {}
    with pytest.raises(StoreError, match="the store has default / unlabelled / public"):
        check_any({}, rows, RunFilter(pool="all-but-validation"))


def test_a_recipe_that_does_not_read_a_setting_has_the_runs_of_the_others(make_row: Any) -> None:
    """A baseline without a threshold is compared with runs at threshold 0.4; a name that no run knows finds none."""
    read, unread = '{"epochs": 5, "threshold": 0.4}', '{"epochs": 5}'
    rows = [
        make_row("a", recipe="drgst-de", variant="epochs=5,threshold=0.4", settings=read),
        make_row("b", recipe="gcn", variant="epochs=5", settings=unread),
        make_row("c", recipe="gcn", variant="", settings='{"epochs": 9}'),
    ]
    for text, found in (("epochs=5,threshold=0.4", "ab"), ("epochs=5", "b"), ("epochs=5,treshold=0.4", ""), ("", "c")):
        cells = runs_by_cell(rows, RunFilter(text))
        assert "".join(sorted(runs.rows[0]["key"] for runs in cells.values())) == found
