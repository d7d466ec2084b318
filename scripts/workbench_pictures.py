"""The pictures of docs/guides/workbench.md: a walk on generated accounts in Chromium.

    python scripts/workbench_pictures.py [FOLDER]

It labels 24 suggested accounts as they truly are, by keyboard, asks why, decides, reviews, saves the run and compares.
"""

from __future__ import annotations

import csv
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

import drgst

IMAGES = Path(__file__).parents[1] / "docs" / "images"
SERVE = ("-m", "drgst", "serve", "accounts.csv", "--edges", "transactions.csv", "--label", "label", "--no-open")
LABELS = 24
PATIENCE = 600_000  # milliseconds


def walk(page: Any, truth: dict[str, str], folder: Path) -> None:
    """Every view in turn."""

    def picture(name: str) -> None:
        page.wait_for_timeout(500)
        page.screenshot(path=folder / f"workbench-{name}.png")

    def view(name: str) -> None:
        page.click(f"nav a[data-view={name}]")

    def rest() -> None:
        page.wait_for_function("() => document.getElementById('status').textContent.includes('up to date')")

    page.set_default_timeout(PATIENCE)
    page.wait_for_selector("html[data-ready=yes]")
    rest()
    view("label")
    names = page.locator("#class-buttons .name").all_text_contents()
    for number in range(1, LABELS + 1):
        page.keyboard.press(str(names.index(truth[page.text_content("#asked-name")]) + 1))
        page.wait_for_selector(f"#label-count:has-text('{number} label')")
        if number % 6 == 0:
            rest()
    page.keyboard.press("w")
    page.wait_for_selector("#node-reasons")
    picture("label")
    view("map")
    picture("map")
    view("decide")
    page.fill("#threshold", "0.3")
    picture("decide")
    view("review")
    picture("review")
    view("label")
    page.click("text=Save the run")
    page.wait_for_selector("text=Saved in")
    for _ in range(3):
        page.keyboard.press("1")
        page.wait_for_timeout(300)
    rest()
    view("run")
    page.select_option("#compare", f"after-{LABELS}-labels")
    page.wait_for_selector("#differing")
    page.locator("#comparison").scroll_into_view_if_needed()
    page.evaluate("scrollTo(0, document.getElementById('comparison').offsetTop - 60)")
    picture("compare")


def main() -> None:
    """The pictures in docs/images, or in the folder that is named."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES
    with tempfile.TemporaryDirectory() as work, sync_playwright() as started:
        drgst.fraud_tables(7, accounts=5_000, labelled=60).write(work)
        with open(Path(work, "truth.csv"), newline="") as file:
            truth = {row["account_id"]: "fraud" if row["fraud"] == "true" else "ok" for row in csv.DictReader(file)}
        server = subprocess.Popen([sys.executable, *SERVE], cwd=work, stdout=subprocess.PIPE, text=True, env=os.environ)
        try:
            assert server.stdout is not None
            address = next(found[0] for line in server.stdout if (found := re.search(r"http://127\S+", line)))
            browser = started.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
            )
            page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
            page.goto(address)
            walk(page, truth, folder)
            browser.close()
        finally:
            server.send_signal(signal.SIGINT)
            server.wait()


if __name__ == "__main__":
    main()
