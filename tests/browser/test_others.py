"""Pages of other recipes, of runs where little is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from drgst.estimator import SelfTraining
from drgst.recipes import find_recipe


@pytest.mark.parametrize("recipe", ["label-propagation", "cagcn-st", "gcn"])
def test_other_recipes(show: Any, hostile: SelfTraining, recipe: str) -> None:
    """Without a network, calibrated, and without any student: what there is is shown."""
    quick = {"epochs": 20, "lr": 0.05, "hidden": 8, "stages": 1, "normalise": "none"}
    settings = find_recipe(recipe).readable(quick)
    made = SelfTraining(recipe, settings=settings).fit(hostile.graph_, hostile.split_)
    page = show(made.report().html)
    page.fill("#find", "n9")
    page.press("#find", "Enter")
    assert page.text_content("#node-name") == "n9"
    words = page.text_content("#reliability")
    assert ("the run's own calibration" in words) == (recipe == "cagcn-st")
    assert page.locator("#stage").is_disabled() == (len(made.history_) == 1)


def test_nothing_but_training_labels(show: Any, hostile: SelfTraining) -> None:
    """No test, validation or other known labels: the map is shown, and no section is empty."""
    labels = np.full(hostile.graph_.num_nodes, -1)
    labels[hostile.split_.train] = hostile.graph_.labels[hostile.split_.train]
    settings = {"fixed_epochs": 15, "lr": 0.05, "hidden": 8, "stages": 1, "samples": 5, "normalise": "none"}
    made = SelfTraining("drgst-do", settings=settings).fit(hostile.graph_.with_(labels=labels, splits=()))
    page = show(made.report().html)
    assert "accuracy is not known" in page.text_content("#summary")
    for section in ("calibration", "classes"):
        assert page.locator(f"#{section}, nav a[href='#{section}']").count() == 2
        assert page.locator(f"#{section}:visible, nav a[href='#{section}']:visible").count() == 0
    assert page.locator("#transition-figure").is_visible()
    assert page.locator("#pseudo-labels-figure").is_hidden()
    heads = page.locator("#stage-table th").all_text_contents()
    assert not {"validation", "test", "of them right"} & set(heads)
