"""Pages in a real Chromium: the one of the system, nothing is downloaded."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from drgst.estimator import SelfTraining
from drgst.report.page import Page as Explorer

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
    """A browser with a fresh profile; skipped with a clear message where there is none."""
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
    """The page of the hostile run as a file."""
    return explorer.save(tmp_path_factory.mktemp("page") / "page.html")


class OpenPage:
    """An open page with its errors and requests."""

    def __init__(self, page: Any, file: Path) -> None:
        self.page, self.file = page, file
        self.errors: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda message: self.errors.append(message.text) if message.type != "log" else None)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("dialog", self._dialog)
        page.on("request", lambda request: self.requests.append(request.url))

    def _dialog(self, dialog: Any) -> None:
        self.errors.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def open(self) -> OpenPage:
        """Open the file and wait until everything is drawn."""
        self.page.goto(self.file.as_uri())
        self.page.wait_for_selector("html[data-ready=yes]")
        return self

    def find(self, node: str) -> None:
        """Open the card of a node by its id."""
        self.page.fill("#find", node)
        self.page.press("#find", "Enter")

    def node(self) -> str:
        """The node whose card is open."""
        return str(self.page.text_content("#node-name"))


@pytest.fixture
def opened(chromium: Any, file: Path) -> Iterator[OpenPage]:
    """The page, open at 1280 pixels; it must report no error and request nothing."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    opened = OpenPage(context.new_page(), file).open()
    yield opened
    context.close()
    assert opened.errors == []
    assert [url for url in opened.requests if not url.startswith(("data:", "blob:"))] == [file.as_uri()]


@pytest.fixture
def show(chromium: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """``show(html, width, scheme)`` opens a page; it must report no error and not be wider than the window."""
    contexts = []

    def shown(html: str, width: int = 390, scheme: str = "light") -> Any:
        context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        file = tmp_path / "page.html"
        file.write_text(html, encoding="utf-8")
        opened = OpenPage(context.new_page(), file).open()
        assert opened.errors == []
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
        return opened.page

    yield shown
    for context in contexts:
        context.close()
