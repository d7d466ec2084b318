"""The explorer page as an object: a notebook shows it inline, ``save`` writes it to a file."""

from __future__ import annotations

import html
import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from drgst.datasets.load import open_graph
from drgst.files import write_text
from drgst.report.data import page_data
from drgst.report.html import render
from drgst.runs.folder import CONFIG
from drgst.runs.result import Result
from drgst.runs.run import load_result

HEIGHT = 900  # pixels in a notebook


@dataclass(frozen=True, eq=False)
class Page:
    """One self-contained HTML page."""

    data: dict[str, Any]
    html: str

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to ``path`` atomically."""
        write_text(path, self.html)
        return Path(path)

    def _repr_html_(self) -> str:
        """The page in a sandboxed frame."""
        inside = html.escape(self.html, quote=True)
        rights = "allow-scripts allow-downloads"
        return f'<iframe srcdoc="{inside}" sandbox="{rights}" width="100%" height="{HEIGHT}" frameborder="0"></iframe>'

    def __repr__(self) -> str:
        return f"Page({self.data['title']!r}: {len(self.html) / 1e6:.1f} MB; save it with .save('page.html'))"


def make_page(result: Result, command: str, explained: Sequence[str] = ()) -> Page:
    """The page of a finished run; ``command`` is the shell command or Python expression that repeats it.

    The cards of the nodes with the ids ``explained`` show the reasons of their predictions.
    """
    data = page_data(result, command, [result.explain(node) for node in explained])
    return Page(data, render(data))


def run_page(
    path: str | os.PathLike[str], root: str | None = None, data: str | None = None, explained: Sequence[str] = ()
) -> Page:
    """The page of the run in a folder; ``data`` is the new path of its graph, if it has moved.

    ``explained``: see :func:`make_page`.
    """
    result = load_result(Path(path), lambda source: open_graph(source, root), data)
    command = f"drgst run --config {shlex.quote(str(Path(path) / CONFIG))} --out ANOTHER-FOLDER"
    return make_page(result, command, explained)
