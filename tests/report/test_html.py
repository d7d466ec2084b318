"""No name ever becomes markup, and the page forbids the network."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import drgst
from drgst.report.html import bundle, embedded, render, stylesheet


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
    """Style and script by their own hash, nothing else, and no keyword that allows more."""
    said = next(attrs["content"] for tag, attrs in page.elements if attrs.get("http-equiv"))
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


def test_the_summary_is_in_the_page_and_escaped(data: dict[str, Any]) -> None:
    page = render({**data, "model": {**data["model"], "sentences": ["<fraud> & more"]}})
    assert "<p>&lt;fraud&gt; &amp; more</p>" in page


def test_a_page_of_a_server_may_ask_that_server_alone() -> None:
    assert "connect-src 'self';" in render({"live": True, "title": "x", "runs": []})
    assert "connect-src 'none';" in render({"live": False, "title": "x"})


def test_the_palette_is_written_once() -> None:
    """Each colour variable has one definition with a light and a dark value, in all style sheets together."""
    for sheet in ("report/assets/page.css", "lab/data/reproduction.css"):
        style = stylesheet((Path(drgst.__file__).parent / sheet).read_text(encoding="utf-8"))
        defined = re.findall(r"(--[\w-]+):", style)
        assert len(defined) == len(set(defined))
        assert set(re.findall(r"var\((--[\w-]+)\)", style)) <= set(defined)


def test_a_bundle_has_each_module_once_after_its_imports() -> None:
    """Imports become destructuring, exports become the value of a function."""
    modules = {
        "page/a.js": "import { one } from '../one.js';\nimport {\n  two,\n} from './two.js';\nuse(one, two);\n",
        "page/two.js": "import { one } from '../one.js';\nexport const two = one + one;\n",
        "one.js": "export const one = 1;\nconst hidden = 2;\nexport async function more() {}\n",
    }
    functions = (
        "const module_one = (() => {\nconst one = 1;\nconst hidden = 2;\nasync function more() {}\n",
        "return { one, more };\n})();\n",
        "const module_page_two = (() => {\nconst { one } = module_one;\nconst two = one + one;\n",
        "return { two };\n})();\n",
        "const module_page_a = (() => {\nconst { one } = module_one;\nconst { two } = module_page_two;\n",
        "use(one, two);\nreturn {  };\n})();\n",
    )
    start, end = "requestAnimationFrame(() => setTimeout(() => {\n'use strict';\n", "}));\n"
    assert bundle("page/a.js", modules.__getitem__) == start + "".join(functions) + end


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import { two } from './b.js';\n", "a.js imports two, which b.js does not export"),
        ("import { loop } from './loop.js';\n", "the modules a.js -> loop.js -> a.js import each other"),
        ("import * as all from './b.js';\n", "a.js has a form of import or export that is not supported: import \\*"),
        ("export default 1;\n", "a.js has a form of import or export that is not supported: export default 1;"),
        ("export let count = 1;\n", "a.js has a form of import or export that is not supported: export let"),
    ],
)
def test_a_bundle_refuses_what_it_does_not_support(source: str, message: str) -> None:
    """A missing export, a cycle and other forms of import and export."""
    modules = {"a.js": source, "b.js": "export const one = 1;\n", "loop.js": "import { a } from './a.js';\n"}
    with pytest.raises(ValueError, match=message):
        bundle("a.js", modules.__getitem__)
