"""What a reader does with the page: move the stage, open a node, find one, select and download."""

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


def tool(opened: Any, name: str) -> tuple[float, float, float, float]:
    """Choose a tool, bring the map into view and return its edges."""
    opened.page.click(f"#tool label:has(input[value={name}])")
    opened.page.evaluate("document.querySelector('#map').scrollIntoView({block: 'center'})")
    box = opened.page.locator("#map canvas.top").bounding_box()
    return box["x"] + 1, box["y"] + 1, box["x"] + box["width"] - 1, box["y"] + box["height"] - 1


def test_the_slider_moves_the_stage(opened: Any, hostile: SelfTraining) -> None:
    """By key and by button; the name, the table and the card follow."""
    opened.find("n17")
    opened.page.focus("#stage")
    opened.page.keyboard.press("Home")
    assert opened.page.text_content("#stage-name").startswith("teacher")
    assert opened.page.text_content("#stage-table tr.current td") == "teacher"
    teacher = hostile.graph_.class_names[hostile.history_[0].predictions[17]]
    assert opened.page.text_content("#node-stages tr.current td:nth-child(2)").endswith(teacher)
    opened.page.click("#stage-after")
    assert opened.page.text_content("#stage-name").startswith("stage 1")
    pseudo_labelled = hostile.history_[1].pseudo_labels.nodes.size
    assert opened.page.text_content("#stage-table tr.current td:nth-child(2)") == f"{pseudo_labelled:,}"
    opened.page.wait_for_selector("#transition svg")


def test_a_click_opens_the_card(opened: Any) -> None:
    """On the map and on the diagram: the node under the mouse, its stages and its neighbours."""
    for host in ("#map", "#gain"):
        opened.page.locator(host).scroll_into_view_if_needed()
        x, y = points(opened, host)
        name = opened.page.text_content("#tooltip strong")
        opened.page.mouse.click(x, y)
        assert opened.node() == name
        assert opened.page.locator("#node-stages tbody tr").count() == 3
        assert "Neighbours" in opened.page.text_content("#node-card")


def test_a_click_on_a_neighbour_opens_its_card(opened: Any, hostile: SelfTraining) -> None:
    """The neighbours listed are those of the graph, and a click on one opens its card."""
    opened.find("n5")
    near = hostile.graph_.adjacency.indices[hostile.graph_.adjacency.indptr[5] : hostile.graph_.adjacency.indptr[6]]
    links = opened.page.locator("#node-neighbours button.link")
    assert links.all_text_contents() == [str(hostile.graph_.node_ids[v]) for v in near]
    links.first.click()
    assert opened.node() == str(hostile.graph_.node_ids[near[0]])


def test_search(opened: Any) -> None:
    """Whole ids first, then parts; an unknown id is reported."""
    opened.page.fill("#find", "n23")
    assert opened.page.locator("#matches button").all_text_contents()[0] == "n23"
    opened.page.press("#find", "Enter")
    assert opened.node() == "n23"
    opened.page.fill("#find", "n231")
    opened.page.click("#matches button")
    assert opened.node() == "n231"
    opened.page.fill("#find", "nobody")
    assert "no node has this id" in opened.page.text_content("#matches")


def test_csv_of_the_wrong_ones(opened: Any, hostile: SelfTraining) -> None:
    """A row per wrong node, with the ids as they are spelt."""
    opened.page.select_option("#select", "wrong")
    found = rows(opened, "#selection-csv")
    wrong = np.flatnonzero(hostile.probabilities_.argmax(axis=1) != hostile.graph_.labels)
    assert [row["id"] for row in found] == [str(i) for i in hostile.graph_.node_ids[wrong]]
    assert [row["predicted"] for row in found] == hostile.predict()[wrong].tolist()
    np.testing.assert_allclose([float(row["gain"]) for row in found], hostile.gain_[wrong], rtol=1e-5)


def test_box_and_lasso(opened: Any, hostile: SelfTraining) -> None:
    """A box round everything selects every node, on the map and linked to the diagram; a lasso round half, fewer."""
    left, top, right, bottom = tool(opened, "box")
    opened.page.mouse.move(left, top)
    opened.page.mouse.down()
    opened.page.mouse.move(right, bottom, steps=4)
    opened.page.mouse.up()
    found = rows(opened, "#selection-csv")
    assert [row["id"] for row in found] == [str(i) for i in hostile.graph_.node_ids]
    with opened.page.expect_download() as waiting:
        opened.page.click("#selection-csv")
    lines = Path(waiting.value.path()).read_text(encoding="utf-8").splitlines()
    assert not [line for line in lines if line.startswith(("=", "+", "-", "@"))]  # formulas in a spreadsheet
    assert [line.split(",")[0] for line in lines if line.startswith("'")] == ["'=HYPERLINK(0)", "''@SUM(1)"]
    left, top, right, bottom = tool(opened, "lasso")
    opened.page.mouse.move(left, top)
    opened.page.mouse.down()
    for x, y in ((right, top), ((left + right) / 2, (top + bottom) / 2), (left, bottom)):
        opened.page.mouse.move(x, y, steps=5)
    opened.page.mouse.up()
    assert 0 < len(rows(opened, "#selection-csv")) < len(found)
    opened.page.focus("#map canvas.top")
    opened.page.keyboard.press("Escape")
    assert "Nothing is selected" in opened.page.text_content("#selection")


def test_every_colour_has_a_legend(opened: Any) -> None:
    """Each colouring draws another map and has a legend; a click on the legend selects."""
    seen = set()
    values = opened.page.eval_on_selector_all("#colour option", "options => options.map(o => o.value)")
    assert {"prediction", "class", "right", "confidence", "gain", "weight", "entered", "role"} == set(values)
    for value in values:
        opened.page.select_option("#colour", value)
        assert opened.page.text_content("#legend")
        seen.add(opened.page.evaluate("document.querySelector('#map canvas.points').toDataURL()"))
    assert len(seen) == len(values)
    opened.page.locator("#legend button", has_text="training").click()
    assert "training" in opened.page.text_content("#selection")


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


def test_suggestions_download(opened: Any, hostile: SelfTraining) -> None:
    """Twenty nodes of the pool with an empty column for their labels, as ``drgst suggest --out`` writes them."""
    found = rows(opened, "#suggestions-csv")
    assert len(found) == 20
    assert {row["label"] for row in found} == {""}
    assert all(row["reason"] and row["chosen_by"] for row in found)
    pool = {str(i) for i in hostile.graph_.node_ids[hostile.split_.pool]}
    assert {row["id"] for row in found} <= pool
