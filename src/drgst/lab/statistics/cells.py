"""Means over draws."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

CELL = ("dataset", "per_class", "recipe")


def mean_and_std(values: Iterable[float | None]) -> tuple[float | None, float | None]:
    """m = Σ x / n and s = √(Σ (x - m)² / (n - 1)); None where there is no value, or only one for s."""
    known = [v for v in values if v is not None]
    n = len(known)
    if not n:
        return None, None
    mean = math.fsum(known) / n
    return mean, math.sqrt(math.fsum((x - mean) ** 2 for x in known) / (n - 1)) if n > 1 else None


def summarise(rows: Iterable[dict[str, Any]]) -> dict[tuple[Any, ...], dict[str, Any]]:
    """(dataset, per_class, recipe) -> draws, mean and std of test accuracy as fractions, mean seconds."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in CELL), []).append(row)
    summary = {}
    for cell, members in groups.items():
        mean, std = mean_and_std(row["test_accuracy"] for row in members)
        seconds, _ = mean_and_std(row["seconds"] for row in members)
        figures = {"draws": len(members), "mean": mean, "std": std, "seconds": seconds}
        summary[cell] = {**dict(zip(CELL, cell, strict=True)), **figures}
    return summary
