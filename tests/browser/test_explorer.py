"""What a person does with the page: move the stage, open a node, find one, select and download."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np

from drgst.estimator import SelfTraining


def rows(look: Any, button: str) -> list[dict[str, str]]:
    """The rows of the CSV that ``button`` downloads."""
    with look.page.expect_download() as waiting:
        look.page.click(button)
    return list(csv.DictReader(io.StringIO(Path(waiting.value.path()).read_text(encoding="utf-8"), newline="")))


def points(look: Any, host: str) -> tuple[float, float]:
    """A place on the canvas in ``host`` where there is a point, found by moving the mouse as a person would."""
    box = look.page.locator(f"{host} canvas.over").bounding_box()
    for step in range(400):
        x, y = box["x"] + 30 + (step * 37) % (box["width"] - 60), box["y"] + 30 + (step * 23) % (box["height"] - 60)
        look.page.mouse.move(x, y)
        if look.page.is_visible("#tip"):
            return x, y
    raise AssertionError(f"there is no point in {host}")


def tool(look: Any, name: str) -> tuple[float, float, float, float]:
    """Choose a tool, bring the map into view and say where its edges are."""
    look.page.click(f"#tool label:has(input[value={name}])")
    look.page.evaluate("document.querySelector('#map').scrollIntoView({block: 'center'})")
    box = look.page.locator("#map canvas.over").bounding_box()
    return box["x"] + 1, box["y"] + 1, box["x"] + box["width"] - 1, box["y"] + box["height"] - 1


def test_the_slider_moves_the_stage(look: Any, hostile: SelfTraining) -> None:
    """By key and by button; the name, the table and the story follow."""
    look.page.fill("#find", "n17")
    look.page.press("#find", "Enter")
    look.page.focus("#stage")
    look.page.keyboard.press("Home")
    assert look.page.text_content("#stage-name").startswith("teacher")
    assert look.page.text_content("#stage-table tr.now td") == "teacher"
    teacher = hostile.history_[0].predictions[17]
    assert look.page.text_content("#story tr.now td:nth-child(2)").endswith(hostile.graph_.class_names[teacher])
    look.page.click("#forth")
    assert look.page.text_content("#stage-name").startswith("stage 1")
    trusted = hostile.history_[1].pseudo.nodes.size
    assert look.page.text_content("#stage-table tr.now td:nth-child(2)") == f"{trusted:,}"
    look.page.wait_for_selector("#transition svg")


def test_a_click_opens_the_story(look: Any) -> None:
    """On the map and on the diagram: the node under the mouse, its stages and its neighbours."""
    for host in ("#map", "#gain"):
        look.page.locator(host).scroll_into_view_if_needed()
        x, y = points(look, host)
        name = look.page.text_content("#tip strong")
        look.page.mouse.click(x, y)
        assert look.story() == name
        assert look.page.locator("#story-stages tbody tr").count() == 3
        assert "Neighbours" in look.page.text_content("#story")


def test_a_neighbour_is_a_step_away(look: Any, hostile: SelfTraining) -> None:
    """The neighbours listed are those of the graph, and a click on one tells its story."""
    look.page.fill("#find", "n5")
    look.page.press("#find", "Enter")
    near = hostile.graph_.adjacency.indices[hostile.graph_.adjacency.indptr[5] : hostile.graph_.adjacency.indptr[6]]
    links = look.page.locator("#story div.scroll:not(#story-stages) button.link")
    assert links.all_text_contents() == [str(hostile.graph_.node_ids[v]) for v in near]
    links.first.click()
    assert look.story() == str(hostile.graph_.node_ids[near[0]])


def test_search(look: Any) -> None:
    """Whole names first, then parts; a name that is not there is said."""
    look.page.fill("#find", "n23")
    assert look.page.locator("#found button").all_text_contents()[0] == "n23"
    look.page.press("#find", "Enter")
    assert look.story() == "n23"
    look.page.fill("#find", "n231")
    look.page.click("#found button")
    assert look.story() == "n231"
    look.page.fill("#find", "nobody")
    assert "no node is called that" in look.page.text_content("#found")


def test_csv_of_the_wrong_ones(look: Any, hostile: SelfTraining) -> None:
    """As many rows as nodes are wrong, with the right ids, however they are spelt."""
    look.page.select_option("#choose", "wrong")
    found = rows(look, "#csv")
    wrong = np.flatnonzero(hostile.predict() != hostile.graph_.labels)
    assert [row["id"] for row in found] == [str(i) for i in hostile.graph_.node_ids[wrong]]
    assert [row["predicted"] for row in found] == [hostile.graph_.class_names[k] for k in hostile.predict()[wrong]]
    np.testing.assert_allclose([float(row["gain"]) for row in found], hostile.gain_[wrong], rtol=1e-5)


def test_box_and_lasso(look: Any, hostile: SelfTraining) -> None:
    """A box round everything selects every node, on the map and linked to the diagram; a lasso round half, fewer."""
    left, top, right, bottom = tool(look, "box")
    look.page.mouse.move(left, top)
    look.page.mouse.down()
    look.page.mouse.move(right, bottom, steps=4)
    look.page.mouse.up()
    found = rows(look, "#csv")
    assert [row["id"] for row in found] == [str(i) for i in hostile.graph_.node_ids]
    left, top, right, bottom = tool(look, "lasso")
    look.page.mouse.move(left, top)
    look.page.mouse.down()
    for x, y in ((right, top), ((left + right) / 2, (top + bottom) / 2), (left, bottom)):
        look.page.mouse.move(x, y, steps=5)
    look.page.mouse.up()
    assert 0 < len(rows(look, "#csv")) < len(found)
    look.page.focus("#map canvas.over")
    look.page.keyboard.press("Escape")
    assert "Nothing is selected" in look.page.text_content("#selection")


def test_every_colour_has_a_legend(look: Any) -> None:
    """Each way of colouring draws another map, and says what it means; a press on the legend selects."""
    seen = set()
    values = look.page.eval_on_selector_all("#colour option", "options => options.map(o => o.value)")
    assert {"prediction", "class", "right", "confidence", "gain", "weight", "entered", "role"} == set(values)
    for value in values:
        look.page.select_option("#colour", value)
        assert look.page.text_content("#legend")
        seen.add(look.page.evaluate("document.querySelector('#map canvas.base').toDataURL()"))
    assert len(seen) == len(values)
    look.page.locator("#legend button", has_text="training").click()
    assert "training" in look.page.text_content("#selection")


def test_keyboard_alone(look: Any) -> None:
    """From the address bar to a node's story without a mouse."""
    for _ in range(60):
        look.page.keyboard.press("Tab")
        if look.page.evaluate("document.activeElement.matches('#map canvas.over')"):
            break
    else:
        raise AssertionError("Tab does not reach the map")
    for key in ("ArrowRight", "ArrowDown", "Enter"):
        look.page.keyboard.press(key)
    assert look.story() == look.page.text_content("#tip strong")


def test_suggestions_download(look: Any, hostile: SelfTraining) -> None:
    """Twenty nodes of the pool, by rank."""
    found = rows(look, "#csv-next")
    assert [int(row["rank"]) for row in found] == list(range(1, 21))
    pool = {str(i) for i in hostile.graph_.node_ids[hostile.split_.pool]}
    assert {row["id"] for row in found} <= pool
