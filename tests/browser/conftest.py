"""Pages in a real Chromium: the one of the system, nothing downloaded."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from drgst.estimator import SelfTraining
from drgst.report.explorer.page import Page as Explorer

playwright = pytest.importorskip(
    "playwright.sync_api", reason="the browser tests need playwright (pip install -e .[dev])"
)

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A browser with a fresh profile; skipped with a clear word where there is none."""
    names = (os.environ.get("DRGST_CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome")
    found = next((path for path in map(shutil.which, names) if path), None)
    if found is None:
        pytest.skip("the page is not tested in a browser: no chromium here (apt-get install chromium)")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=found, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def explorer(hostile: SelfTraining) -> Explorer:
    """The page of the hostile run."""
    return hostile.report()


@pytest.fixture(scope="session")
def file(explorer: Explorer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """It as a file."""
    return explorer.save(tmp_path_factory.mktemp("page") / "page.html")


class Look:
    """An open page and all that it did behind the scenes."""

    def __init__(self, page: Any, file: Path) -> None:
        self.page, self.file = page, file
        self.complaints: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda message: self.complaints.append(message.text) if message.type != "log" else None)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", self._dialog)
        page.on("request", lambda request: self.requests.append(request.url))

    def _dialog(self, dialog: Any) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def open(self) -> Look:
        """Open the file and wait until everything is drawn."""
        self.page.goto(self.file.as_uri())
        self.page.wait_for_selector("html[data-ready=yes]")
        return self

    def story(self) -> str:
        """Whose story is told."""
        return str(self.page.text_content("#story-name"))


@pytest.fixture
def look(chromium: Any, file: Path) -> Iterator[Look]:
    """The page, open at 1280 pixels; at the end it must have neither complained nor asked for anything."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    looked = Look(context.new_page(), file).open()
    yield looked
    context.close()
    assert looked.complaints == []
    assert [url for url in looked.requests if not url.startswith(("data:", "blob:"))] == [file.as_uri()]
