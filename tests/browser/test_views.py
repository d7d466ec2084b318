"""What a reader does with the page: open a node, find one, filter, set a threshold, review and download."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np

from drgst.estimator import SelfTraining
from drgst.files import original_cell


def rows(opened: Any, button: str) -> list[dict[str, str]]:
    """The rows of the CSV that ``button`` downloads."""
    with opened.page.expect_download() as waiting:
        opened.page.click(button)
    found = csv.DictReader(io.StringIO(Path(waiting.value.path()).read_bytes().decode(), newline=""))
    return [{name: original_cell(cell) for name, cell in row.items()} for row in found]


def points(opened: Any, host: str) -> tuple[float, float]:
    """A place on the canvas in ``host`` where there is a point, found by moving the mouse."""
    box = opened.page.locator(f"{host} canvas.top").bounding_box()
    for step in range(400):
        x, y = box["x"] + 30 + (step * 37) % (box["width"] - 60), box["y"] + 30 + (step * 23) % (box["height"] - 60)
        opened.page.mouse.move(x, y)
        if opened.page.is_visible("#tooltip"):
            return x, y
    raise AssertionError(f"there is no point in {host}")


def view(opened: Any, name: str) -> None:
    """Open one of the views."""
    opened.page.click(f"nav a[data-view={name}]")
    opened.page.wait_for_selector(f"#view-{name}:not([hidden])")


def tool(opened: Any, name: str) -> tuple[float, float, float, float]:
    """Choose a tool and return the edges of the map."""
    opened.page.click(f"#tool label:has(input[value={name}])")
    box = opened.page.locator("#map canvas.top").bounding_box()
    return box["x"] + 5, box["y"] + 5, box["x"] + box["width"] - 5, box["y"] + box["height"] - 5


def test_the_slider_moves_the_stage(opened: Any, hostile: SelfTraining) -> None:
    """The name and the card follow, and so do the sections of the run."""
    opened.find("n17")
    opened.page.focus("#stage")
    opened.page.keyboard.press("Home")
    assert opened.page.text_content("#stage-name").startswith("teacher")
    teacher = hostile.graph_.class_names[hostile.history_[0].predictions[17]]
    assert opened.page.text_content("#node-stages tr.current td:nth-child(2)").endswith(teacher)
    opened.page.focus("#stage")
    opened.page.keyboard.press("ArrowRight")
    assert opened.page.text_content("#stage-name").startswith("stage 1")
    view(opened, "run")
    pseudo_labelled = hostile.history_[1].pseudo_labels.nodes.size
    assert opened.page.text_content("#stage-table tr.current td:nth-child(2)") == f"{pseudo_labelled:,}"
    opened.page.wait_for_selector("#transition svg")


def test_a_click_opens_the_card(opened: Any, hostile: SelfTraining) -> None:
    """The node under the mouse with its stages; a click on a neighbour opens that one."""
    x, y = points(opened, "#map")
    name = opened.page.text_content("#tooltip strong")
    opened.page.mouse.click(x, y)
    assert opened.node() == name
    assert opened.page.locator("#node-stages tbody tr").count() == 3
    opened.find("n5")
    near = hostile.graph_.adjacency.indices[hostile.graph_.adjacency.indptr[5] : hostile.graph_.adjacency.indptr[6]]
    links = opened.page.locator("#node-neighbours button.link")
    assert links.all_text_contents() == [str(hostile.graph_.node_ids[v]) for v in near]
    links.first.click()
    assert opened.node() == str(hostile.graph_.node_ids[near[0]])


def test_search(opened: Any) -> None:
    """Whole ids first, then parts; an unknown id is reported; / begins a search."""
    opened.page.keyboard.press("/")
    assert opened.page.evaluate("document.activeElement.id") == "find"
    opened.page.fill("#find", "n23")
    assert opened.page.locator("#matches button").all_text_contents()[0] == "n23"
    opened.page.press("#find", "Enter")
    assert opened.node() == "n23"
    opened.page.fill("#find", "n231")
    opened.page.click("#matches button")
    assert opened.node() == "n231"
    opened.page.fill("#find", "nobody")
    assert "no node has this id" in opened.page.text_content("#matches")


def test_box_and_lasso_filter_the_other_views(opened: Any, hostile: SelfTraining) -> None:
    """A box round everything leaves every node; a lasso round half, fewer, in the table and in its CSV."""
    left, top, right, bottom = tool(opened, "box")
    opened.page.mouse.move(left, top)
    opened.page.mouse.down()
    opened.page.mouse.move(right, bottom, steps=4)
    opened.page.mouse.up()
    assert opened.page.text_content("#filter-text").startswith("240 nodes: in the box")
    left, top, right, bottom = tool(opened, "lasso")
    opened.page.mouse.move(left, top)
    opened.page.mouse.down()
    for x, y in ((right, top), ((left + right) / 2, (top + bottom) / 2), (left, bottom)):
        opened.page.mouse.move(x, y, steps=5)
    opened.page.mouse.up()
    view(opened, "decide")
    found = rows(opened, "#decide-csv")
    assert 0 < len(found) < 240
    assert opened.page.text_content("#decide-count") == f"{len(found)} nodes"
    opened.page.click("#filter-clear")
    assert opened.page.text_content("#decide-count") == "240 nodes"


def test_the_csv_of_the_table(opened: Any, hostile: SelfTraining) -> None:
    """A row per node with the ids as they are spelt; what a spreadsheet would execute begins with an apostrophe."""
    view(opened, "decide")
    opened.page.click("th button.sort:has-text('node')")
    found = rows(opened, "#decide-csv")
    assert {row["id"] for row in found} == set(map(str, hostile.graph_.node_ids))
    by_id = {row["id"]: row for row in found}
    names = hostile.graph_.class_names
    for node in (7, 100):
        row = by_id[f"n{node}"]
        assert row["predicted"] == hostile.predict()[node]
        given = [float(row[f"p:{name}"]) for name in names]
        np.testing.assert_allclose(given, hostile.predict_proba()[node], atol=2e-5)
    with opened.page.expect_download() as waiting:
        opened.page.click("#decide-csv")
    lines = Path(waiting.value.path()).read_text(encoding="utf-8").splitlines()
    assert not [line for line in lines if line.startswith(("=", "+", "-", "@"))]
    assert sorted(line.split(",")[0] for line in lines if line.startswith("'")) == ["''@SUM(1)", "'=HYPERLINK(0)"]


def test_the_threshold_counts_what_it_flags(opened: Any, hostile: SelfTraining) -> None:
    """Flagged nodes have no given label and at least that probability; the expected precision is their mean."""
    view(opened, "decide")
    opened.page.select_option("#decide-class", "0")
    opened.page.fill("#threshold", "0.6")
    free = np.ones(240, dtype=bool)
    free[np.concatenate([hostile.split_.train, hostile.split_.val])] = False
    p = hostile.predict_proba()[free, 0]
    flagged = p[p >= 0.6]
    assert opened.page.text_content("#flagged-count") == str(flagged.size)
    stated = float(opened.page.text_content("#expected-precision").removesuffix("%")) / 100
    assert abs(stated - flagged.mean()) < 0.02
    opened.page.check("#only-flagged")
    assert opened.page.text_content("#decide-count") == f"{flagged.size} nodes"
    opened.page.click("summary")
    opened.page.fill("#alarm", "1")
    opened.page.fill("#miss", "3")
    opened.page.click("text=Cheapest threshold")
    assert opened.page.text_content("#threshold-value") == "25%"


def test_the_table_holds_the_rows_in_view_alone(opened: Any) -> None:
    """Far fewer rows than nodes exist, and scrolling shows the last one."""
    view(opened, "decide")
    assert opened.page.locator(".node-table tbody tr").count() < 80
    opened.page.fill("#table-text", "n1")
    assert int(opened.page.text_content("#decide-count").split()[0]) == 110
    opened.page.fill("#table-text", "")
    opened.page.eval_on_selector(".node-table", "table => { table.scrollTop = 1e6; }")
    opened.page.wait_for_selector(".node-table tr[aria-rowindex='241']")


def test_every_colour_has_a_legend(opened: Any) -> None:
    """Each colouring draws another map and has a legend; a click on the legend filters."""
    seen = set()
    values = opened.page.eval_on_selector_all("#colour option", "options => options.map(o => o.value)")
    assert {
        "prediction",
        "confidence",
        "uncertainty",
        "label",
        "class",
        "right",
        "gain",
        "weight",
        "entered",
        "role",
    } <= {*values}
    for value in values:
        opened.page.select_option("#colour", value)
        assert opened.page.text_content("#legend")
        seen.add(opened.page.evaluate("document.querySelector('#map canvas.points').toDataURL()"))
    assert len(seen) == len(values)
    opened.page.locator("#legend button", has_text="training").click()
    assert "training" in opened.page.text_content("#filter-text")


def test_accuracy_is_said_of_hidden_labels_alone(opened: Any, hostile: SelfTraining) -> None:
    """Training nodes are right by construction, so their accuracy is no figure."""
    opened.page.select_option("#colour", "role")
    opened.page.locator("#legend button", has_text="training").click()
    assert "right" not in opened.page.text_content("#filter-text")
    opened.page.locator("#legend button", has_text="test").click()
    test = hostile.split_.test
    right = (hostile.probabilities_.argmax(axis=1)[test] == hostile.graph_.labels[test]).mean()
    assert f"{right:.1%} are right" in opened.page.text_content("#filter-text")


def test_keyboard_alone(opened: Any) -> None:
    """From the address bar to the card of a node without a mouse."""
    for _ in range(60):
        opened.page.keyboard.press("Tab")
        if opened.page.evaluate("document.activeElement.matches('#map canvas.top')"):
            break
    else:
        raise AssertionError("Tab does not reach the map")
    for key in ("ArrowRight", "ArrowDown", "Enter"):
        opened.page.keyboard.press(key)
    assert opened.node() == opened.page.text_content("#tooltip strong")


def test_addresses_name_views(opened: Any) -> None:
    for name in ("decide", "run", "map", "review"):
        opened.page.goto(f"{opened.file.as_uri()}#{name}")
        opened.page.wait_for_selector(f"#view-{name}:not([hidden])")
    opened.requests[:] = opened.requests[:1]


def test_suggestions_download(opened: Any, hostile: SelfTraining) -> None:
    """Twenty nodes of the pool with an empty column for their labels, as ``drgst suggest --out`` writes them."""
    view(opened, "run")
    found = rows(opened, "#suggestions-csv")
    assert len(found) == 20
    assert {row["label"] for row in found} == {""}
    assert all(row["reason"] and row["chosen_by"] for row in found)
    pool = {str(i) for i in hostile.graph_.node_ids[hostile.split_.pool]}
    assert {row["id"] for row in found} <= pool
