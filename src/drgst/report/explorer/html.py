"""From the dict of a page to one HTML file: nothing is fetched, and nothing of the user's is ever markup."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from functools import cache
from importlib.resources import files
from typing import Any

SCRIPTS = (
    "data",
    "dom",
    "colour",
    "pixels",
    "scatter",
    "hands",
    "charts",
    "heat",
    "panels",
    "story",
    "sections",
    "main",
)
_MARK = re.compile(r"\{\{(\w+)\}\}")


def render(data: dict[str, Any], template: str = "page.html", scripts: tuple[str, ...] = SCRIPTS) -> str:
    """The page. Its content security policy allows its own style and script, by hash, and no network at all."""
    style, script = asset("page.css"), _script(scripts)
    parts = {
        "policy": policy(style, script),
        "title": html.escape(str(data["title"])),
        "style": style,
        "cards": "".join(_card(*card) for card in data["cards"]),
        "sentences": "".join(f"<p>{html.escape(words)}</p>" for words in data["sentences"]),
        "data": embedded(data),
        "script": script,
    }
    page = _MARK.sub(lambda mark: parts[mark[1]], asset(template))  # one pass: what is put in is not read again
    return page.encode("utf-8", "replace").decode("utf-8")


def embedded(data: dict[str, Any]) -> str:
    """JSON that can stand in a script element: no character in it can end the element or a line of script."""
    text = json.dumps(data, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text.encode("utf-8", "backslashreplace").decode("utf-8")  # a lone surrogate becomes its JSON escape


def policy(style: str, script: str) -> str:
    """The content security policy: its own two elements by hash, all else refused."""
    rules = (
        "default-src 'none'",
        f"style-src {_hash(style)}",
        f"script-src {_hash(script)}",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    )
    return "; ".join(rules)


@cache
def asset(name: str) -> str:
    """A file of ``report/assets``."""
    return files("drgst.report").joinpath("assets", name).read_text(encoding="utf-8")


def _script(names: tuple[str, ...]) -> str:
    """All files as one function, called once the words above have been painted."""
    body = "\n".join(asset(f"{name}.js") for name in names)
    return f"requestAnimationFrame(() => setTimeout(() => {{\n'use strict';\n{body}\n}}));\n"


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode('ascii')}'"


def _card(title: str, figure: str, remark: str) -> str:
    title, figure, remark = (html.escape(part) for part in (title, figure, remark))
    return f'<div class="card"><dt>{title}</dt><dd><strong>{figure}</strong><span>{remark}</span></dd></div>'
