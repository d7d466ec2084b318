"""Nothing overlaps or sticks out, wide and narrow, light and dark; twenty thousand points stay quick."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drgst.report.explorer.html import render
from drgst.report.explorer.packing import pack, pack_shares
from drgst.report.explorer.page import Page as Explorer

OVERLAPS = (Path(__file__).parent / "overlaps.js").read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_overlaps(chromium: Any, file: Path, width: int, scheme: str) -> None:
    """Also with a story open and nodes selected; the page is never wider than the window."""
    context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    page.goto(file.as_uri())
    page.wait_for_selector("html[data-ready=yes]")
    for step in ("as it opens", "in use"):
        assert page.evaluate("document.documentElement.scrollWidth") <= width, step
        assert page.evaluate(OVERLAPS) == [], step
        page.fill("#find", "n7")
        page.press("#find", "Enter")
        page.select_option("#choose", "class-0")
        page.wait_for_timeout(100)
    light = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(246, 246, 243)"
    assert light == (scheme == "light")
    context.close()


def large(data: dict[str, Any], count: int) -> dict[str, Any]:
    """The same page with ``count`` nodes, drawn anew at random."""
    rng, stages, classes = np.random.default_rng(0), len(data["shown"]), len(data["classes"])
    p = np.sort(rng.dirichlet(np.ones(classes), (stages, count)), axis=2)[:, :, ::-1]
    far = rng.integers(0, count, 4 * count)
    trusted = {"node": pack(np.arange(0, count, 2), "u4"), "label": pack(np.zeros(count // 2), "u2")}
    nodes = {
        "count": count,
        "total": count,
        "ids": [f"node {i}" for i in range(count)],
        "truth": pack(rng.integers(0, classes, count), "i2"),
        "role": pack(rng.integers(1, 5, count), "u1"),
        "entered": pack(rng.integers(-1, stages, count), "i2"),
        "degree": pack(np.full(count, 4), "u4"),
        "x": pack_shares(rng.random(count)),
        "y": pack_shares(rng.random(count)),
        "indptr": pack(np.arange(0, 4 * count + 1, 4), "u4"),
        "neighbours": pack(far, "u4"),
        "top": pack(rng.permuted(np.tile(np.arange(classes), (stages, count, 1)), axis=2), "u1"),
        "share": pack_shares(p),
        "gain": pack(rng.exponential(0.01, (stages, count)), "f4"),
        "trusted": [{**trusted, "weight": pack(rng.random(count // 2), "f4")} for _ in range(stages)],
    }
    return {**data, "nodes": nodes, "suggested": {**data["suggested"], "rows": []}}


def test_twenty_thousand_nodes(chromium: Any, explorer: Explorer, tmp_path: Path) -> None:
    """The page paints, the stage moves and a selection is made; the file is far below 12 MB."""
    file = tmp_path / "large.html"
    file.write_text(render(large(explorer.data, 20_000)), encoding="utf-8")
    assert file.stat().st_size < 12_000_000
    page = chromium.new_page(viewport={"width": 1280, "height": 900})
    page.goto(file.as_uri())
    page.wait_for_selector("html[data-ready=yes]")
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    assert paint > 0
    page.focus("#stage")
    page.keyboard.press("Home")
    page.select_option("#choose", "wrong")
    page.wait_for_selector("#csv")
    page.close()
