"""Speed of the page of a run in Chromium: first paint, a pan step, CPU seconds and size of a report.

    python benchmarks/page.py [--nodes 20000] [--repeat 100000] [--json FILE]

The first page is that of a ``drgst-plus`` run on generated accounts (:func:`drgst.fraud_tables`), the second one has
``--repeat`` nodes of random classes at random places. A pan step is the time from a pointer event to its frame, the
median of 50.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import drgst
from drgst.report.html import render
from drgst.report.nodes import pack, pack_shares
from drgst.report.page import page_data
from drgst.runs.config import RunConfig
from drgst.runs.run import Run

STEPS = 50
# milliseconds from a pointer event to the end of its frame, for a drag of 50 steps on the map
PAN = """async (steps) => {
    const canvas = document.querySelector('#map canvas.top'), box = canvas.getBoundingClientRect();
    canvas.setPointerCapture = () => {};
    const at = (kind, k) => canvas.dispatchEvent(new PointerEvent(kind, {
        clientX: box.left + 100 + 4 * k, clientY: box.top + 100 + 3 * k, button: 0, pointerId: 1, bubbles: true,
    }));
    const times = [];
    at('pointerdown', 0);
    for (let k = 3; k < steps + 3; k++) {
        const began = performance.now();
        at('pointermove', k);
        await new Promise((done) => requestAnimationFrame(() => { times.push(performance.now() - began); done(); }));
    }
    at('pointerup', steps + 3);
    return times;
}"""


def page_of(nodes: int) -> tuple[dict[str, Any], float, float]:
    """The data of the page of a run on ``nodes`` accounts, and CPU seconds of the data and of the HTML."""
    with tempfile.TemporaryDirectory() as folder:
        drgst.fraud_tables(7, accounts=nodes, labelled=60).write(folder)
        tables = drgst.from_tables(f"{folder}/accounts.csv", f"{folder}/transactions.csv", label="label")
    result = Run.of(tables.graph, RunConfig(recipe="drgst-plus", seed=0)).execute()
    began = time.process_time()
    data = page_data(result, "benchmark")
    made = time.process_time()
    render(data)
    return data, made - began, time.process_time() - made


def repeated(data: dict[str, Any], count: int) -> dict[str, Any]:
    """The same page with ``count`` nodes of random classes at random places."""
    rng, classes = np.random.default_rng(0), len(data["model"]["classes"])
    share = np.sort(rng.dirichlet(np.ones(classes), (1, count)), axis=2)[:, :, ::-1]
    nodes = {
        "count": count,
        "total": count,
        "ids": [f"node {k}" for k in range(count)],
        "degree": pack(np.full(count, 4), "u4"),
        "indptr": pack(np.arange(0, 4 * count + 1, 4), "u4"),
        "neighbours": pack(rng.integers(0, count, 4 * count), "u4"),
        "x": pack_shares(rng.random(count)),
        "y": pack_shares(rng.random(count)),
    }
    predictions = {
        **dict.fromkeys(("given", "truth", "entered"), pack(np.full(count, -1), "i2")),
        "role": pack(np.full(count, 4), "u1"),
        "top": pack(rng.permuted(np.tile(np.arange(classes), (1, count, 1)), axis=2), "u1"),
        "share": pack_shares(share),
        "gain": pack(np.zeros((1, count)), "f4"),
        "pseudo_labels": [{"node": pack([], "u4"), "label": pack([], "u2"), "weight": pack([], "f4")}],
    }
    at = next(k for k, stage in enumerate(data["model"]["stages"]) if stage["result"])
    nothing = {"shown": [at], "suggested": None, "review": None}
    return {**data, "nodes": nodes, "columns": [], "model": {**data["model"], **nothing, "nodes": predictions}}


def measure(html: str) -> dict[str, float]:
    """First paint, ready and a pan step of a page in Chromium, in milliseconds."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as started:
        file = Path(folder) / "page.html"
        file.write_text(html, encoding="utf-8")
        browser = started.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
        page.goto(file.as_uri())
        page.wait_for_selector("html[data-ready=yes]", timeout=120_000)
        ready = page.evaluate("performance.now()")
        paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        steps = page.evaluate(PAN, STEPS)
        browser.close()
    return {"first_paint_ms": paint, "ready_ms": ready, "pan_step_ms": statistics.median(steps), "worst_ms": max(steps)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=20_000, help="accounts of the real page")
    parser.add_argument("--repeat", type=int, default=100_000, help="nodes of the page with random ones")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    data, made, rendered = page_of(given.nodes)
    html = render(data)
    found = [{"nodes": given.nodes, "cpu_s": made + rendered, "megabytes": len(html) / 1e6, **measure(html)}]
    html = render(repeated(data, given.repeat))
    found.append({"nodes": given.repeat, "megabytes": len(html) / 1e6, **measure(html)})
    for row in found:
        print(
            ", ".join(
                f"{key} {value:,.1f}" if isinstance(value, float) else f"{key} {value:,}" for key, value in row.items()
            )
        )
    if given.json:
        given.json.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
