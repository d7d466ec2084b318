"""The data of the explorer page as one dict of plain values, without NaN and without markup."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from drgst.decide.explain import KINDS, Explanation
from drgst.decide.scores import RankScores
from drgst.files import plain
from drgst.report.evaluation import evaluation_nodes
from drgst.report.nodes import ROLES, node_data, sample_of
from drgst.report.stages import stage_data, threshold_of
from drgst.report.summary_text import cards, sentences
from drgst.runs.metrics import accuracy
from drgst.runs.result import Result

FORMAT = 2
REASONS = 6  # of each kind that the card of a node shows
RARE = 0.1  # share of the unlabelled nodes below which a class counts as rare
FEW_CLASSES = 5  # up to which rare classes have a card of their own


def page_data(result: Result, command: str, explained: Sequence[Explanation] = ()) -> dict[str, Any]:
    """The input of :func:`drgst.report.html.render`; ``command`` repeats the run."""
    places = [result.index_of(found.id) for found in explained]
    graph, sample = result.graph, sample_of(result, places)
    nodes = node_data(result, sample)
    return {
        "format": FORMAT,
        "title": f"{result.config.recipe} on {graph.name}",
        "classes": list(graph.class_names),
        "roles": list(ROLES),
        "evaluated_on": evaluation_nodes(graph, result.split)[0],
        "threshold": threshold_of(getattr(result.recipe, "select", None)),
        **_out_of_fold(result),
        "cards": cards(result),
        "sentences": sentences(result),
        "notes": [*sample.notes, *(f"The graph: {note}." for note in graph.notes)],
        "nodes": nodes,
        "shown": sample.stages,
        "stages": plain(stage_data(result, sample.stages)),
        "suggested": _suggested(result, sample.nodes.tolist()),
        "reasons": _reasons(explained, np.searchsorted(sample.nodes, np.array(places, dtype=np.int64))),
        "facts": _facts(result, command),
    }


def _out_of_fold(result: Result) -> dict[str, Any]:
    """The out-of-fold accuracy, and the average precision of each class that is rare among the unlabelled nodes.

    Empty for a run without out-of-fold probabilities.
    """
    p, rest = result.out_of_fold, result.unlabelled
    if p is None:
        return {}
    given, names = result.graph.labels[result.split.train], result.model.class_names
    shares = result.probabilities[rest].mean(axis=0) if rest.size else np.ones(len(names))
    ranks = {c: RankScores(p[:, c], given == c) for c in np.flatnonzero(shares < RARE) if len(names) <= FEW_CLASSES}
    precision = {names[c]: scores.average_precision(np.ones(given.size)) for c, scores in ranks.items()}
    return {"oof_accuracy": accuracy(p.argmax(axis=1), given), "average_precision": plain(precision)}


def _reasons(explained: Sequence[Explanation], places: np.ndarray) -> dict[str, Any]:
    """Place on the page -> the prediction of a node and its strongest reasons of each kind."""
    found = {}
    for place, each in zip(places.tolist(), explained, strict=True):
        rows = [vars(reason) for kind in KINDS for reason in each.of_kind(kind, REASONS)]
        found[str(place)] = {"label": each.label, "probability": each.probability, "rows": rows}
    return dict(plain(found))


def _suggested(result: Result, shown: list[int]) -> dict[str, Any]:
    place = {node: at for at, node in enumerate(shown)}
    rows = [{**row, "node": place[row["node"]]} for row in result.suggestion_rows(result.suggested)]
    return {"note": result.suggested.note, "rows": rows}


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
