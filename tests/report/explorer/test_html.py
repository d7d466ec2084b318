"""No name ever becomes markup, and the page forbids the network."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from drgst.report.explorer.html import embedded, policy, render


class Reader(HTMLParser):
    """Elements with their attributes, and the text of each script and style."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.open = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

        self.open = tag

    def handle_endtag(self, tag: str) -> None:
        self.open = ""

    def handle_data(self, data: str) -> None:
        if self.open in ("script", "style", "title"):
            self.texts.append((self.open, data))


@pytest.fixture(scope="module")
def page(data: dict[str, Any]) -> Reader:
    """The page, parsed."""
    reader = Reader()
    reader.feed(render(data))
    return reader


def test_only_the_elements_of_the_template(page: Reader) -> None:
    """Two scripts, one of them data; no image, no event handler, no address but within the page."""
    scripts = [attrs for tag, attrs in page.elements if tag == "script"]
    assert scripts == [{"id": "data", "type": "application/json"}, {}]
    assert not [tag for tag, _ in page.elements if tag in ("img", "b", "iframe", "object", "embed", "base")]
    for tag, attrs in page.elements:
        assert not [name for name in attrs if name.startswith("on") or name in ("style", "src")], (tag, attrs)
        assert re.match(r"#|data:,$|$", attrs.get("href") or ""), attrs


def test_data_comes_back_whole(page: Reader, data: dict[str, Any]) -> None:
    """What the script element holds is the data, hostile names and all."""
    text = "".join(text for tag, text in page.texts if tag == "script" and text.startswith("{"))
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == json.loads(json.dumps(data))
    assert ("title", data["title"]) in page.texts


def test_the_policy_has_the_hashes_of_what_is_there(page: Reader) -> None:
    """Style and script by their own hash, nothing else, and no word that would open the door."""
    said = next(attrs["content"] for tag, attrs in page.elements if attrs.get("http-equiv"))
    assert said is not None
    for tag in ("style", "script"):
        text = [text for kind, text in page.texts if kind == tag][-1]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in said
    assert said.startswith("default-src 'none'")
    assert "unsafe" not in said
    assert "http" not in said


def test_embedded_keeps_lone_surrogates_and_refuses_nan() -> None:
    """A lone surrogate is a JSON escape; NaN is no JSON."""
    assert json.loads(embedded({"a": "\ud800"})) == {"a": "\ud800"}
    with pytest.raises(ValueError, match="Out of range"):
        embedded({"a": float("nan")})


def test_policies_differ_with_the_script() -> None:
    """A changed script would not run under the old policy."""
    assert policy("a", "b") != policy("a", "c")
