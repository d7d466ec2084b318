"""Nothing overlaps or is cut off, wide and narrow, light and dark; 20,000 points stay fast and readable."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drgst.report.html import render
from drgst.report.nodes import pack, pack_shares
from drgst.report.page import Page as Explorer

LAYOUT_PROBLEMS = (Path(__file__).parent / "layout_problems.js").read_text(encoding="utf-8")
CONTRAST_PROBLEMS = (Path(__file__).parent / "contrast_problems.js").read_text(encoding="utf-8")
BELOW_THE_PAGE = "document.documentElement.scrollHeight - Math.max(innerHeight, document.body.offsetHeight)"
GROUNDS = {"light": "rgb(246, 246, 243)", "dark": "rgb(20, 23, 27)"}
# Colours with their numbers of pixels, most frequent first, of the canvas with the points.
PIXELS = """(() => {
    const canvas = document.querySelector('#map canvas.points');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const opaque = {}, faint = {};
    for (let at = 0; at < data.length; at += 4) {
        const colour = data.slice(at, at + 3).join(), counts = data[at + 3] === 255 ? opaque : faint;
        if (data[at + 3]) counts[colour] = (counts[colour] || 0) + 1;
    }
    const most = counts => Object.entries(counts).sort((a, b) => b[1] - a[1]).slice(0, 3);
    return { opaque: most(opaque), faint: most(faint) };
})()"""


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_overlaps(show: Any, explorer: Explorer, width: int, scheme: str) -> None:
    """In every view, and with the card of a node open; nothing is hard to read, and no empty space is below."""
    page = show(explorer.html, width, scheme)
    for view in ("map", "card", "decide", "review", "run"):
        if view == "card":
            page.fill("#find", "n7")
            page.press("#find", "Enter")
        else:
            page.click(f"nav a[data-view={view}]")
        page.wait_for_timeout(60)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, view
        assert page.evaluate(LAYOUT_PROBLEMS) == [], view
        assert page.evaluate(CONTRAST_PROBLEMS) == [], view
        assert page.evaluate(BELOW_THE_PAGE) <= 8, view
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == GROUNDS[scheme]


def test_the_button_changes_the_theme(show: Any, explorer: Explorer) -> None:
    """Background, points and diagrams change, against the choice of the system."""
    page = show(explorer.html, 1440, "dark")
    before = page.evaluate(PIXELS)
    page.click("#theme")
    page.wait_for_timeout(100)
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == GROUNDS["light"]
    assert page.evaluate(PIXELS)["opaque"][0] != before["opaque"][0]


@pytest.mark.parametrize("width", [1440, 390])
def test_long_notes_and_names_are_not_cut_off(show: Any, explorer: Explorer, width: int) -> None:
    """A note of a stage takes the width of the page; long class names wrap in the card."""
    note = "mean probability of labels left out: topology 0.40, knn 0.25, topology+knn+hops+structure 0.36; " * 5
    model = explorer.data["model"]
    stages = [{**stage, "note": note} for stage in model["stages"]]
    names = [f"Reinforcementlearningwithfunctionapproximation{k}" for k in range(3)]
    page = show(render({**explorer.data, "model": {**model, "stages": stages, "classes": names}}), width)
    page.fill("#find", "n7")
    page.press("#find", "Enter")
    assert page.evaluate(LAYOUT_PROBLEMS) == []
    page.click("nav a[data-view=run]")
    page.click(".stage-notes summary")
    assert page.evaluate(LAYOUT_PROBLEMS) == []
    assert page.locator(".stage-notes dd").all_text_contents() == [note] * len(stages)
    assert page.inner_text(".stage-notes dd").strip() == note.strip()


def large(data: dict[str, Any], count: int, rare: float | None = None) -> dict[str, Any]:
    """The same page with ``count`` random nodes; the share ``rare`` is predicted class 0, the rest class 1."""
    model = data["model"]
    rng, stages, classes = np.random.default_rng(0), len(model["shown"]), len(model["classes"])
    top = rng.permuted(np.tile(np.arange(classes), (stages, count, 1)), axis=2)
    if rare is not None:
        top[:] = np.where(np.arange(count)[:, None] < rare * count, np.arange(classes), [1, 0, *range(2, classes)])
    p = np.sort(rng.dirichlet(np.ones(classes), (stages, count)), axis=2)[:, :, ::-1]
    far = rng.integers(0, count, 4 * count)
    pseudo_labels = {"node": pack(np.arange(0, count, 2), "u4"), "label": pack(np.zeros(count // 2), "u2")}
    nodes = {
        "count": count,
        "total": count,
        "ids": [f"node {i}" for i in range(count)],
        "degree": pack(np.full(count, 4), "u4"),
        "x": pack_shares(rng.random(count)),
        "y": pack_shares(rng.random(count)),
        "indptr": pack(np.arange(0, 4 * count + 1, 4), "u4"),
        "neighbours": pack(far, "u4"),
    }
    predictions = {
        "given": pack(np.full(count, -1), "i2"),
        "truth": pack(rng.integers(0, classes, count), "i2"),
        "role": pack(rng.integers(2, 5, count), "u1"),
        "entered": pack(rng.integers(-1, stages, count), "i2"),
        "top": pack(top, "u1"),
        "share": pack_shares(p),
        "gain": pack(rng.exponential(0.01, (stages, count)), "f4"),
        "pseudo_labels": [{**pseudo_labels, "weight": pack(rng.random(count // 2), "f4")} for _ in range(stages)],
    }
    nothing = {"suggested": {**model["suggested"], "rows": []}, "review": None}
    return {**data, "nodes": nodes, "columns": [], "model": {**model, **nothing, "nodes": predictions}}


def test_twenty_thousand_nodes(show: Any, explorer: Explorer, tmp_path: Path) -> None:
    """The page paints, the stage moves and a selection is made; the file is far below 12 MB."""
    page = show(html := render(large(explorer.data, 20_000)), 1280)
    assert len(html.encode()) < 12_000_000
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    assert paint > 0
    page.focus("#stage")
    page.keyboard.press("Home")
    page.click("#legend button")
    page.wait_for_selector("#filter-bar:not([hidden])")
    page.click("nav a[data-view=decide]")
    page.wait_for_selector(".node-table td.name")


@pytest.mark.parametrize(("scheme", "muted"), [("light", (146, 156, 166)), ("dark", (109, 120, 131))])
def test_a_rare_class_stands_out(show: Any, explorer: Explorer, scheme: str, muted: tuple[int, ...]) -> None:
    """2% of 20,000 nodes are opaque and on top; the majority is muted and translucent."""
    found = show(render(large(explorer.data, 20_000, rare=0.02)), 1440, scheme).evaluate(PIXELS)
    colour, count = found["opaque"][0]
    rare = tuple(map(int, colour.split(",")))
    assert count > 200
    assert max(rare) - min(rare) > 100  # a saturated colour
    majority = tuple(map(int, found["faint"][0][0].split(",")))
    assert max(abs(a - b) for a, b in zip(majority, muted, strict=True)) <= 4  # rounding of translucent pixels
