"""Pages of other recipes, of runs where little is known, and of a bench."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drgst.bench.store import Store
from drgst.estimator import SelfTraining
from drgst.report.explorer.bench import bench_page
from drgst.report.explorer.page import Page as Explorer


@pytest.fixture
def shown(chromium: Any, tmp_path: Path) -> Any:
    """Opens a page at 400 pixels; it must not complain or be wider."""

    def show(explorer: Explorer) -> Any:
        complaints: list[str] = []
        page = chromium.new_page(viewport={"width": 400, "height": 900})
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(explorer.save(tmp_path / "page.html").as_uri())
        page.wait_for_selector("html[data-ready=yes]")
        assert complaints == []
        assert page.evaluate("document.documentElement.scrollWidth") == 400
        return page

    return show


@pytest.mark.parametrize("recipe", ["label-propagation", "cagcn-st", "gcn"])
def test_other_recipes(shown: Any, hostile: SelfTraining, recipe: str) -> None:
    """Without a network, calibrated, and without any student: what there is is shown."""
    settings = {"epochs": 20, "lr": 0.05, "hidden": 8, "stages": 1, "normalise": "none"}
    made = SelfTraining(recipe, settings=settings).fit(hostile.graph_, hostile.split_)
    page = shown(made.report())
    page.fill("#find", "n9")
    page.press("#find", "Enter")
    assert page.text_content("#story-name") == "n9"
    words = page.text_content("#reliability")
    assert ("the run's own calibration" in words) == (recipe == "cagcn-st")
    assert page.locator("#stage").is_disabled() == (len(made.history_) == 1)
    page.close()


def test_nothing_but_training_labels(shown: Any, hostile: SelfTraining) -> None:
    """No test, no validation, no truth: the page says so and still shows the map."""
    labels = np.full(hostile.graph_.num_nodes, -1)
    labels[hostile.split_.train] = hostile.graph_.labels[hostile.split_.train]
    settings = {"fixed_epochs": 15, "lr": 0.05, "hidden": 8, "stages": 1, "samples": 5, "normalise": "none"}
    made = SelfTraining("drgst-do", settings=settings).fit(hostile.graph_.with_(labels=labels, splits=()))
    page = shown(made.report())
    assert "can't be said" in page.text_content("#summary")
    assert "nobody can say" in page.text_content("#honesty-words")
    assert page.locator("#confusion-figure").is_hidden()
    page.close()


def test_bench(shown: Any, tmp_path: Path, make_row: Callable[..., dict[str, Any]]) -> None:
    """Table, lines, boxes and wins are drawn; a data set named as markup stays text."""
    name = "<img src=x onerror=alert(1)>"
    with Store(tmp_path / "runs.db", create=True) as store:
        for draw in range(4):
            for at, recipe in enumerate(("gcn", "drgst-de", "<script>alert(2)</script>")):
                place = {"dataset": name, "recipe": recipe, "draw": draw, "test_accuracy": 0.5 + 0.01 * draw * at}
                store.add(make_row(f"{recipe}{draw}", **place, val_accuracy=0.5))
    page = shown(bench_page(tmp_path / "runs.db"))
    assert page.locator("#lines svg, #boxes svg, #wins svg").count() == 3
    assert name in page.text_content("#table")
    assert page.locator("img, main script").count() == 0
    page.select_option("#place", "0")
    assert "<script>alert(2)" in page.text_content("#wins")
    page.close()
