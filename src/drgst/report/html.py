"""From the dict of a page to one HTML file: nothing is fetched, and nothing of the user's is ever markup."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import posixpath
import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib.resources import files
from typing import Any

_MARK = re.compile(r"\{\{(\w+)\}\}")
_IMPORT = re.compile(r"^import \{([^}]*)\} from '([^']+)';\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:const|(?:async )?function|class) (\w+))", re.MULTILINE)
_OTHER_MODULE_SYNTAX = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


def render(data: dict[str, Any]) -> str:
    """Return the page of ``data``, which is complete, or ``live``: then the page asks its server.

    Its content security policy allows its own style and script, by hash, and no network, or that server alone.
    """
    style, script = stylesheet(asset("assets/page.css")), bundle("assets/workbench/main.js")
    model = data.get("model") or {}
    parts = {
        "policy": policy(style, script, connect="'self'" if data["live"] else "'none'"),
        "title": html.escape(str(data["title"])),
        "style": style,
        "summary": "".join(f"<p>{html.escape(words)}</p>" for words in model.get("sentences", ())),
        "data": embedded(data),
        "script": script,
    }
    page = _MARK.sub(
        lambda mark: parts[mark[1]], asset("assets/workbench.html")
    )  # one pass: insertions stay as they are
    return page.encode("utf-8", "replace").decode("utf-8")


def embedded(data: dict[str, Any]) -> str:
    """JSON for a script element: no character in it can end the element or a line of script."""
    text = json.dumps(data, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text.encode("utf-8", "backslashreplace").decode("utf-8")  # a lone surrogate becomes its JSON escape


def policy(style: str, script: str, connect: str = "'none'") -> str:
    """The content security policy: its own two elements by hash and connections to ``connect``, all else refused."""
    rules = (
        "default-src 'none'",
        f"style-src {_hash(style)}",
        f"script-src {_hash(script)}",
        "img-src data:",
        f"connect-src {connect}",
        "base-uri 'none'",
        "form-action 'none'",
    )
    return "; ".join(rules)


@cache
def asset(path: str) -> str:
    """Return a file below ``report``."""
    return files("drgst.report").joinpath(*path.split("/")).read_text(encoding="utf-8")


def stylesheet(text: str) -> str:
    """Return a style sheet after the palette that all pages share."""
    return asset("assets/palette.css") + text


def bundle(entry: str, read: Callable[[str], str] = asset) -> str:
    """Return the ES module ``entry`` and all that it imports as one classic script; ``read`` gives the text of a path.

    Each module becomes a function that returns its exports, and imports become destructuring. Modules come in the
    order of a depth-first search along the imports, so the same sources always give the same script. The script
    starts after the first paint, so that the summary is shown before the data is read.

    Supported are ``import { a, b } from './path.js';`` and ``export const | function | class``.
    """
    body = "".join(_modules(entry, read, (), {}))
    return f"requestAnimationFrame(() => setTimeout(() => {{\n'use strict';\n{body}}}));\n"


def _modules(
    path: str, read: Callable[[str], str], importers: tuple[str, ...], exports: dict[str, list[str]]
) -> Iterator[str]:
    """Yield the modules that ``path`` imports and then itself, each once; ``exports`` collects their exported names."""
    if path in importers:
        raise ValueError(f"the modules {' -> '.join([*importers[importers.index(path) :], path])} import each other")
    if path in exports:
        return
    source = read(path)
    for names, target in _imports(path, source):
        yield from _modules(target, read, (*importers, path), exports)
        if missing := sorted(set(names) - set(exports[target])):
            raise ValueError(f"{path} imports {', '.join(missing)}, which {target} does not export")
    exports[path] = _EXPORT.findall(source)
    code = _EXPORT.sub("", _IMPORT.sub(lambda found: _destructuring(path, found), source))
    if other := _OTHER_MODULE_SYNTAX.search(code):
        raise ValueError(f"{path} has a form of import or export that is not supported: {other[0]}")
    yield f"const {_variable(path)} = (() => {{\n{code}return {{ {', '.join(exports[path])} }};\n}})();\n"


def _imports(path: str, source: str) -> list[tuple[list[str], str]]:
    """Return the imported names and the path of each import."""
    return [(_names(names), _resolved(path, target)) for names, target in _IMPORT.findall(source)]


def _destructuring(path: str, found: re.Match[str]) -> str:
    return f"const {{ {', '.join(_names(found[1]))} }} = {_variable(_resolved(path, found[2]))};\n"


def _names(braces: str) -> list[str]:
    return [name.strip() for name in braces.split(",") if name.strip()]


def _resolved(path: str, target: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), target))


def _variable(path: str) -> str:
    """Return the variable that holds the exports of a module: ``lib/axes.js`` -> ``module_lib_axes``."""
    return f"module_{path.removesuffix('.js').replace('/', '_')}"


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode('ascii')}'"
