"""All that a page shows as one plain dict: JSON without NaN, everything of the user's own as bare text."""

from __future__ import annotations

import math
from typing import Any

from drgst.report.explorer.nodes import ROLES, node_data, sample_of
from drgst.report.explorer.source import Told
from drgst.report.explorer.stages import stage_data, threshold_of
from drgst.report.explorer.verdict import judges
from drgst.report.explorer.words import cards, sentences

FORMAT = 1


def page_data(told: Told) -> dict[str, Any]:
    """From a run to the dict that :func:`drgst.report.explorer.html.render` makes a page of."""
    plan, graph, sample = told.outcome.plan, told.graph, sample_of(told)
    nodes = node_data(told, sample)
    return {
        "format": FORMAT,
        "title": f"{plan.config.recipe} on {graph.name}",
        "classes": list(graph.class_names),
        "roles": list(ROLES),
        "judges": judges(graph, plan.split)[0],
        "threshold": threshold_of(plan.recipe.select),
        "cards": cards(told),
        "sentences": sentences(told),
        "notes": [*sample.notes, *(f"The graph: {note}." for note in graph.notes)],
        "nodes": nodes,
        "shown": sample.stages,
        "stages": plain(stage_data(told, sample.stages)),
        "suggested": _suggested(told, sample.nodes.tolist()),
        "facts": _facts(told),
    }


def plain(value: Any) -> Any:
    """The same with None for NaN and infinity, which JSON does not have."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _suggested(told: Told, shown: list[int]) -> dict[str, Any]:
    found, p = told.suggested, told.result.probabilities
    place = {node: at for at, node in enumerate(shown)}
    rows = [
        {
            "node": place[int(u)],
            "worth": float(worth),
            "predicted": int(p[u].argmax()),
            "confidence": float(p[u].max()),
            "stands_for": int(alike),
        }
        for u, worth, alike in zip(found.nodes, found.worth, found.stands_for, strict=True)
    ]
    return {"measure": found.measure, "rows": rows}


def _facts(told: Told) -> dict[str, Any]:
    plan = told.outcome.plan
    config, split = plan.config, plan.split
    sizes = {part: f"{getattr(split, part).size:,} nodes" for part in ("train", "val", "test")}
    run = {k: v for k, v in config.keys().items() if v is not None and k != "split"}
    memory = {} if told.memory_mb is None else {"most memory": f"{told.memory_mb:,.0f} MB"}
    where = {"files": told.where} if told.where else {}
    return {
        "again": told.again,
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
            ["Parts", _rows(plan.recipe.parts())],
            ["Settings", _rows(dict(config.settings))],
            ["Versions", _rows(dict(config.versions))],
        ],
    }


def _rows(table: dict[str, Any]) -> list[list[str]]:
    return [[str(key), "none" if value is None else _word(value)] for key, value in table.items()]


def _word(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
