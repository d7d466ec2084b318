"""Names that try to be markup, and other pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drgst.estimator import SelfTraining
from drgst.recipes import find_recipe
from drgst.report.page import Page as Explorer

ATTEMPTS = (Path(__file__).parent / "network_attempts.js").read_text(encoding="utf-8")


def test_hostile_names_stay_text(opened: Any, hostile: SelfTraining) -> None:
    """Ids and classes that are markup are shown as they are spelt, in every part of the page."""
    assert opened.page.title() == hostile.report().data["title"]
    for node in range(4):
        opened.find(str(hostile.graph_.node_ids[node]))
        assert opened.node() == str(hostile.graph_.node_ids[node])
    for value in opened.page.eval_on_selector_all("#colour option", "options => options.map(o => o.value)"):
        opened.page.select_option("#colour", value)
    for view in ("decide", "review", "run"):
        opened.page.click(f"nav a[data-view={view}]")
    assert "<script>alert(4)</script>" in opened.page.inner_text("#per-class")
    assert opened.page.locator("body img, body b, main script, [onclick], [onerror]").count() == 0
    assert opened.page.locator("script").count() == 2


def test_the_network_is_forbidden(chromium: Any, file: Any) -> None:
    """Even a script of the page itself could fetch nothing, load nothing and send nothing."""
    page = chromium.new_page()
    page.goto(file.as_uri())
    answered: list[str] = []
    failed: list[str] = []
    page.on("response", lambda response: answered.append(response.url))
    page.on("requestfailed", lambda request: failed.append(request.failure))
    assert page.evaluate(ATTEMPTS) == ["refused", "refused", "refused", "undefined"]
    assert answered == []
    assert set(failed) <= {"csp"}  # stopped by the policy, not by the want of a network
    page.close()


def test_in_a_notebook(chromium: Any, explorer: Explorer) -> None:
    """In its frame the page is whole, and its links stay within it."""
    page = chromium.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.set_content(f"<body><p>a notebook</p>{explorer._repr_html_()}</body>")
    frame = page.frame_locator("iframe")
    frame.locator("html[data-ready=yes]").wait_for()
    frame.locator("nav a[data-view=run]").click()
    assert frame.locator("#next h2").text_content() == "What to label next"
    frame.locator("#theme").click()
    assert errors == []
    page.close()


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
    assert page.locator("#stage-bar").is_hidden() == (len(made.history_) == 1)
    page.click("nav a[data-view=run]")
    assert ("the run's own calibration" in page.text_content("#reliability")) == (recipe == "cagcn-st")


def test_nothing_but_training_labels(show: Any, hostile: SelfTraining) -> None:
    """No test, validation or other known labels: the map is shown, and no section is empty."""
    labels = np.full(hostile.graph_.num_nodes, -1)
    labels[hostile.split_.train] = hostile.graph_.labels[hostile.split_.train]
    settings = {"fixed_epochs": 15, "lr": 0.05, "hidden": 8, "stages": 1, "samples": 5, "normalise": "none"}
    made = SelfTraining("drgst-do", settings=settings).fit(hostile.graph_.with_(labels=labels, splits=()))
    page = show(made.report().html)
    assert "the accuracy is not known" in page.text_content("#side")
    colours = page.eval_on_selector_all("#colour option", "options => options.map(o => o.value)")
    assert not {"class", "right"} & set(colours)
    page.click("nav a[data-view=review]")
    assert "No label was held out" in page.text_content("#view-review")
    page.click("nav a[data-view=run]")
    assert page.locator("#calibration, #classes, #pseudo-labels").count() == 0
    assert page.locator("#transition").is_visible()
    heads = page.locator("#stage-table th").all_text_contents()
    assert not {"validation", "test", "of them right"} & set(heads)
