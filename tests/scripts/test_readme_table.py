"""scripts/readme_table.py: the tables of the pages are those of results/runs.csv."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from drgst.decide.labels.registry import CHOOSER_OF

Row = Callable[..., dict[str, Any]]


def test_the_pages_hold_the_tables_of_the_exported_runs(script: ModuleType) -> None:
    runs = script.read_runs(script.RUNS)
    for page in script.PAGES:
        text = page.read_text(encoding="utf-8")
        assert script.MARKED.search(text), f"{page} has no marked table"
        assert script.filled(text, runs) == text, f"{page} is out of date: python scripts/readme_table.py"


def test_a_version_that_was_not_measured_yet_leaves_gaps(script: ModuleType) -> None:
    runs = script.read_runs(script.RUNS)
    without = runs[runs["recipe"] != "drgst-plus"]
    assert "| Cora, only these labels | – | – | – | – |" in script.plus_table(without)
    assert "16 cells are still to be run" in script.plus_table(without)
    assert "no validation labels | 3 / 5 / 10 / 20 | – / – / – / – |" in script.newer_table(without)


def test_only_the_latest_version_with_default_settings_counts(
    script: ModuleType, tmp_path: Path, make_row: Row
) -> None:
    rows = [
        make_row("a", draw=0, recipe_version=1, test_accuracy=0.1),
        make_row("b", draw=0, recipe_version=2, test_accuracy=0.6),
        make_row("c", draw=1, recipe_version=2, test_accuracy=0.7),
        make_row("d", draw=2, recipe_version=2, test_accuracy=0.2, variant="top=10"),
        make_row("e", draw=3, recipe_version=2, test_accuracy=None, error="no memory"),
        make_row("f", draw=0, recipe="margin-st"),
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "runs.csv", index=False)
    page = "before\n<!-- table cora -->\nold\n<!-- end -->\nafter\n"
    table = "| Cora | 3 | 5 | 10 | 20 | draws |\n|:--|--:|--:|--:|--:|--:|\n| `gcn` | 65.0 ± 7.1 (64.5) |  |  |  | 2 |"
    expected = f"before\n<!-- table cora -->\n\n{table}\n\n<!-- end -->\nafter\n"
    assert script.filled(page, script.read_runs(tmp_path / "runs.csv")) == expected


def test_a_suggestion_claims_what_the_stored_curves_say(script: ModuleType) -> None:
    """``drgst suggest`` says how its rule did; of a version that is not measured yet nothing is known."""
    for recipe in CHOOSER_OF:
        found = [summary[0]["difference"] for _, summary in script.curve_summaries(recipe, 3)]
        assert not found or np.mean(found) > 0
    from_nothing = np.array([summary[0]["difference"] for _, summary in script.curve_summaries("drgst-plus", 0)])
    assert not from_nothing.size or ((from_nothing > 0).mean() > 0.5 and from_nothing.mean() > 0 > from_nothing.min())


def test_costs_are_those_of_the_version_that_ships(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    costs = ("scale", "workers", "relations-cost")

    def shown(version: int) -> list[str]:
        monkeypatch.setattr(script, "find_recipe", lambda _: SimpleNamespace(version=version))
        return [script.TABLES[name](None) for name in costs]

    measured = int(pd.read_csv(script.RESULTS / "scale.csv")["version"].max())
    assert all(table.startswith("|") for table in shown(measured))
    assert shown(measured + 1) == [script.NOT_MEASURED] * len(costs)
