"""All that a page shows as one plain dict: JSON without NaN, everything of the user's own as bare text."""

from __future__ import annotations

import math
from typing import Any

from drgst.report.explorer.nodes import ROLES, node_data, sample_of
from drgst.report.explorer.stages import stage_data, threshold_of
from drgst.report.explorer.verdict import judges
from drgst.report.explorer.words import cards, sentences
from drgst.runs.result import Result

FORMAT = 1


def page_data(result: Result, again: str) -> dict[str, Any]:
    """The dict that :func:`drgst.report.explorer.html.render` makes a page of; ``again`` makes the run again."""
    graph, sample = result.graph, sample_of(result)
    nodes = node_data(result, sample)
    return {
        "format": FORMAT,
        "title": f"{result.config.recipe} on {graph.name}",
        "classes": list(graph.class_names),
        "roles": list(ROLES),
        "judges": judges(graph, result.split)[0],
        "threshold": threshold_of(result.recipe.select),
        "cards": cards(result),
        "sentences": sentences(result),
        "notes": [*sample.notes, *(f"The graph: {note}." for note in graph.notes)],
        "nodes": nodes,
        "shown": sample.stages,
        "stages": plain(stage_data(result, sample.stages)),
        "suggested": _suggested(result, sample.nodes.tolist()),
        "facts": _facts(result, again),
    }


def plain(value: Any) -> Any:
    """The same with None for NaN and infinity, which JSON does not have."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _suggested(result: Result, shown: list[int]) -> dict[str, Any]:
    found, p = result.suggested, result.probabilities
    place = {node: at for at, node in enumerate(shown)}
    rows = [
        {
            "node": place[int(u)],
            "worth": float(worth),
            "predicted": int(p[u].argmax()),
            "confidence": float(p[u].max()),
            "stands_for": int(alike),
        }
        for u, worth, alike in zip(found.nodes, found.score, found.cluster_size, strict=True)
    ]
    return {"measure": found.measure, "rows": rows}


def _facts(result: Result, again: str) -> dict[str, Any]:
    config, split = result.config, result.split
    sizes = {part: f"{getattr(split, part).size:,} nodes" for part in ("train", "val", "test")}
    run = {k: v for k, v in config.keys().items() if v is not None and k != "split"}
    memory = {} if result.peak_memory_mb is None else {"most memory": f"{result.peak_memory_mb:,.0f} MB"}
    where = {"files": result.folder} if result.folder else {}
    return {
        "again": again,
        "tables": [
            [
                "Run",
                _rows(
                    {
                        **run,
                        "split": split.name,
                        **sizes,
                        "in the pool": f"{split.pool.size:,} nodes",
                        **memory,
                        **where,
                    }
                ),
            ],
            ["Parts", _rows(result.recipe.parts())],
            ["Settings", _rows(dict(config.settings))],
            ["Versions", _rows(dict(config.versions))],
        ],
    }


def _rows(table: dict[str, Any]) -> list[list[str]]:
    return [[str(key), "none" if value is None else _word(value)] for key, value in table.items()]


def _word(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
