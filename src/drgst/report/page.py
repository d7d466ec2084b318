"""The explorer page as an object: a notebook shows it inline, ``save`` writes it to a file."""

from __future__ import annotations

import html
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from drgst.datasets.load import open_graph
from drgst.decide.explain import KINDS, Explanation, explain
from drgst.decide.labels.suggest import Suggestions, suggest
from drgst.files import plain, write_text
from drgst.report.html import render
from drgst.report.nodes import ROLES, node_data, sample_of
from drgst.report.stages import stage_data
from drgst.report.summary import cards, sentences
from drgst.runs.folder import CONFIG
from drgst.runs.metrics import evaluation_nodes
from drgst.runs.result import Result, find_setting
from drgst.runs.run import load_result
from drgst.threads import limit_threads

HEIGHT = 900  # pixels in a notebook
FORMAT = 2
REASONS = 6  # of each kind that the card of a node shows
SUGGESTED = 20  # nodes to label next


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


@limit_threads(1)
def make_page(result: Result, command: str, explained: Sequence[str] = ()) -> Page:
    """The page of a finished run; ``command`` is the shell command or Python expression that repeats it.

    The cards of the nodes with the ids ``explained`` show the reasons of their predictions.
    """
    data = page_data(result, command, [explain(result, node) for node in explained])
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


def page_data(result: Result, command: str, explained: Sequence[Explanation] = ()) -> dict[str, Any]:
    """The data of the page as plain values, without NaN and without markup; ``command`` repeats the run."""
    places = [result.index_of(found.id) for found in explained]
    suggested = suggest(result, SUGGESTED)
    graph, sample = result.graph, sample_of(result, [*places, *suggested.nodes.tolist()])
    nodes = node_data(result, sample)
    return {
        "format": FORMAT,
        "title": f"{result.config.recipe} on {graph.name}",
        "classes": list(graph.class_names),
        "roles": list(ROLES),
        "evaluated_on": evaluation_nodes(graph, result.split)[0],
        "threshold": find_setting(getattr(result.recipe, "select", None), "threshold"),
        "cards": cards(result),
        "sentences": sentences(result, suggested),
        "notes": [*sample.notes, *(f"The graph: {note}." for note in graph.notes)],
        "nodes": nodes,
        "shown": sample.stages,
        "stages": plain(stage_data(result, sample.stages)),
        "suggested": _suggested(result, suggested, sample.nodes.tolist()),
        "reasons": _reasons(explained, np.searchsorted(sample.nodes, np.array(places, dtype=np.int64))),
        "facts": _facts(result, command),
    }


def _reasons(explained: Sequence[Explanation], places: np.ndarray) -> dict[str, Any]:
    """Place on the page -> the prediction of a node and its strongest reasons of each kind."""
    found = {}
    for place, each in zip(places.tolist(), explained, strict=True):
        rows = [vars(reason) for kind in KINDS for reason in each.of_kind(kind, REASONS)]
        found[str(place)] = {"label": each.label, "probability": each.probability, "rows": rows}
    return dict(plain(found))


def _suggested(result: Result, found: Suggestions, shown: list[int]) -> dict[str, Any]:
    place = {node: at for at, node in enumerate(shown)}
    rows = [{**row, "node": place[row["node"]]} for row in found.rows(result.probabilities)]
    return {"note": found.note, "rows": rows}


def _facts(result: Result, command: str) -> dict[str, Any]:
    config, split = result.config, result.split
    run = {key: value for key, value in config.keys().items() if value is not None}
    run |= {"split": split.name}
    run |= {part: f"{getattr(split, part).size:,} nodes" for part in ("train", "val", "test", "pool")}
    run |= {} if result.peak_memory_mb is None else {"peak memory": f"{result.peak_memory_mb:,.0f} MB"}
    run |= {"files": result.folder} if result.folder else {}
    tables = {"Run": run, "Parts": result.recipe.parts(), "Settings": config.settings, "Versions": config.versions}
    return {"command": command, "tables": [[title, _rows(table)] for title, table in tables.items()]}


def _rows(table: Mapping[str, Any]) -> list[list[str]]:
    return [[key, f"{v:.6g}" if isinstance(v, float) else "none" if v is None else str(v)] for key, v in table.items()]
