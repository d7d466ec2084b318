"""The data of the explorer page as one dict of plain values, without NaN and without markup."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drgst.files import plain
from drgst.report.explorer.evaluation import evaluation_nodes
from drgst.report.explorer.nodes import ROLES, node_data, sample_of
from drgst.report.explorer.stages import stage_data, threshold_of
from drgst.report.explorer.summary_text import cards, sentences
from drgst.runs.result import Result

FORMAT = 2


def page_data(result: Result, command: str) -> dict[str, Any]:
    """The input of :func:`drgst.report.explorer.html.render`; ``command`` repeats the run."""
    graph, sample = result.graph, sample_of(result)
    nodes = node_data(result, sample)
    return {
        "format": FORMAT,
        "title": f"{result.config.recipe} on {graph.name}",
        "classes": list(graph.class_names),
        "roles": list(ROLES),
        "evaluated_on": evaluation_nodes(graph, result.split)[0],
        "threshold": threshold_of(getattr(result.recipe, "select", None)),
        "cards": cards(result),
        "sentences": sentences(result),
        "notes": [*sample.notes, *(f"The graph: {note}." for note in graph.notes)],
        "nodes": nodes,
        "shown": sample.stages,
        "stages": plain(stage_data(result, sample.stages)),
        "suggested": _suggested(result, sample.nodes.tolist()),
        "facts": _facts(result, command),
    }


def _suggested(result: Result, shown: list[int]) -> dict[str, Any]:
    place = {node: at for at, node in enumerate(shown)}
    rows = [{**row, "node": place[row["node"]]} for row in result.suggestion_rows(result.suggested)]
    return {"measure": result.suggested.measure, "rows": rows}


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
