"""The page of a run as an object: a notebook shows it inline, ``save`` writes it to a file."""

from __future__ import annotations

import html
import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from drgst.decide.labels.suggest import Suggestions, suggest
from drgst.decide.reasons import KINDS, Explanation
from drgst.decide.review import review
from drgst.decide.threshold import expected_curve
from drgst.files import plain, write_text
from drgst.report.html import render
from drgst.report.nodes import ROLES, Sample, graph_data, node_predictions, place_data, run_columns, shown_stages
from drgst.report.stages import stage_data
from drgst.report.summary import cards, found_data, sentences
from drgst.report.tsne import positions
from drgst.runs.folder import CONFIG
from drgst.runs.metrics import evaluation_nodes
from drgst.runs.result import Result
from drgst.runs.run import load_result
from drgst.selftrain.recipe import find_setting
from drgst.threads import limit_threads

CLASSES = 12  # up to which each class has a curve; with more, the rarest ones
REVIEWED = 200  # contradicted labels that a page lists


def decision_curves(result: Result) -> dict[str, Any]:
    """Class index -> numbers of flagged nodes, and expected precision and recall with intervals, at these numbers."""
    rest = result.unlabelled
    if not rest.size:
        return {}
    p = result.probabilities[rest].astype(np.float64)
    held, oof = result.measured, result.out_of_fold
    found = {}
    for c in np.argsort(p.sum(axis=0), kind="stable")[:CLASSES].tolist():
        known = None if oof is None else (oof[held, c].astype(np.float64), result.train_labels[held] == c)
        sizes, precision, recall = expected_curve(p[:, c], known, result.model.seed)
        rows = np.column_stack([precision, recall]).round(4).tolist()
        found[str(c)] = {"sizes": sizes.tolist(), "rows": rows, "labels": int(held.sum())}
    return found


def review_rows(result: Result, sample: Sample) -> dict[str, Any] | None:
    """Given labels that predictions without them contradict, by place on the page; None where nothing was held out."""
    if result.out_of_fold is None or not result.held_out.any():
        return None
    found = review(result)
    shown = [k for k in range(min(found.contradicted, REVIEWED)) if found.nodes[k] in sample.nodes]
    places = sample.places(found.nodes[shown])
    rows = [
        {
            "node": place,
            "given": int(found.given[k]),
            "suggested": int(found.suggested[k]),
            "p_given": round(float(found.p_given[k]), 4),
            "p_suggested": round(float(found.p_suggested[k]), 4),
        }
        for k, place in zip(shown, places, strict=True)
    ]
    return {"rows": rows, "labels": int(found.nodes.size), "contradicted": found.contradicted}


HEIGHT = 900  # pixels in a notebook
FORMAT = 3
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
def make_page(result: Result, command: str) -> Page:
    """The page of a finished run; ``command`` is the shell command or Python expression that repeats it."""
    data = page_data(result, command)
    return Page(data, render(data))


def run_page(path: str | os.PathLike[str]) -> Page:
    """The page of the run in a folder."""
    return make_page(load_result(Path(path)), repeat_command(path))


def repeat_command(folder: str | os.PathLike[str]) -> str:
    """The command that repeats the run in ``folder``."""
    return f"drgst run --config {shlex.quote(str(Path(folder) / CONFIG))} --out ANOTHER-FOLDER"


def page_data(result: Result, command: str) -> dict[str, Any]:
    """The data of the page as plain values, without NaN and without markup; ``command`` repeats the run."""
    graph, suggested = result.graph, suggest(result, SUGGESTED)
    sample = Sample.of(graph.num_nodes, np.concatenate([suggested.nodes, result.train]), result.model.seed)
    nodes, edge_notes = graph_data(graph, sample)
    columns, column_notes = run_columns(graph, str(result.config.data), sample)
    shown = shown_stages(sample.nodes.size, len(result.history), result.history.stages.index(result.stage))
    place = place_data(positions(result.stage.embedding[sample.nodes], result.model.seed))
    return {
        "format": FORMAT,
        "live": False,
        "title": f"{graph.name}: {result.config.recipe}",
        "nodes": {**nodes, **place},
        "columns": columns,
        "notes": [*sample.notes, *edge_notes, *column_notes, *(f"The graph: {note}." for note in graph.notes)],
        "model": model_data(result, sample, suggested, shown),
        "reasons": {},  # which a server finds when they are asked for
        "facts": facts_data(result, command),
    }


def model_data(result: Result, sample: Sample, suggested: Suggestions | None, shown: list[int]) -> dict[str, Any]:
    """What a fit changes: predictions and figures; single nodes at the stages ``shown``."""
    found = {
        "classes": list(result.model.class_names),
        "roles": list(ROLES),
        "evaluated_on": evaluation_nodes(result.graph, result.split)[0],
        "threshold": find_setting(getattr(result.recipe, "select", None), "threshold"),
        "cards": cards(result),
        "found": found_data(result),
        "sentences": sentences(result, suggested),
        "nodes": node_predictions(result, sample, shown),
        "shown": shown,
        "stages": stage_data(result, shown),
        "decide": decision_curves(result),
        "review": review_rows(result, sample),
        "suggested": None if suggested is None else suggested_data(suggested, result.probabilities, sample),
    }
    return dict(plain(found))


def reasons_data(explained: Explanation) -> dict[str, Any]:
    """The prediction of a node and its strongest reasons of each kind."""
    rows = [vars(reason) for kind in KINDS for reason in explained.of_kind(kind, REASONS)]
    return dict(plain({"label": explained.label, "probability": explained.probability, "rows": rows}))


def suggested_data(found: Suggestions, probabilities: np.ndarray | None, sample: Sample) -> dict[str, Any]:
    """The note and one row per suggested node, by place on the page."""
    rows = found.rows(probabilities)
    places = sample.places([row["node"] for row in rows])
    return {"note": found.note, "rows": [{**row, "node": place} for row, place in zip(rows, places, strict=True)]}


def facts_data(result: Result, command: str) -> dict[str, Any]:
    """The settings of the run as tables, and the command that repeats it."""
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
