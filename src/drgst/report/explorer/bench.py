"""The page of a bench: every recipe on the same draws, from the runs of a store."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from drgst.bench.paired import mean_interval
from drgst.bench.results import CellName, Runs, Wanted, check_any, check_recipe, choose, read_runs
from drgst.report.explorer.data import plain
from drgst.report.explorer.html import render
from drgst.report.explorer.page import Page
from drgst.report.paper import dataset_order, recipe_order
from drgst.report.tables.accuracy import main
from drgst.report.tables.table import Table

Cells = Mapping[CellName, Runs]


def bench_page(store: str | Path, against: str = "gcn", wanted: Wanted | None = None) -> Page:
    """The page of the runs in ``store`` (or its export); differences are to the recipe ``against``."""
    rows, wanted = read_runs(Path(store)), wanted or Wanted()
    cells = choose(rows, wanted)
    check_any(cells, rows, wanted)
    recipes = sorted({recipe for _, _, recipe in cells}, key=recipe_order)
    if against != "gcn":
        check_recipe(against, cells)
    elif against not in recipes:
        against = recipes[0]
    data = bench_data(cells, against, Path(store).name)
    return Page(data, render(data, "bench"))


def bench_data(cells: Cells, against: str, name: str) -> dict[str, Any]:
    """All that the page shows, as one plain dict."""
    recipes = sorted({recipe for _, _, recipe in cells}, key=recipe_order)
    places = sorted({cell[:2] for cell in cells}, key=lambda p: (dataset_order(p[0]), p[1]))
    run = [(cell, runs) for cell, runs in cells.items() if runs.figure("test_accuracy")]
    data = {
        "format": 1,
        "title": f"Bench {name}",
        "classes": recipes,
        "against": against,
        "places": [list(place) for place in places],
        "cells": [_cell(cell, runs, recipes) for cell, runs in run],
        "wins": [{"place": None, **_wins(cells, recipes, places)}]
        + [{"place": at, **_wins(cells, recipes, [place])} for at, place in enumerate(places)],
        "table": table_data(main(cells, against)),
        "best": [best for place in places if (best := _best(cells, place)) is not None],
        "cards": _cards(run, recipes, places),
        "sentences": _sentences(cells, recipes, places, against),
        "notes": [],
    }
    return dict(plain(data))


def table_data(table: Table) -> dict[str, Any]:
    """A table as JSON."""
    return {
        "title": table.title,
        "columns": [[column.title, "name" if column.is_text else "number"] for column in table.columns],
        "rows": [[[entry.text, entry.rank == 1] for entry in row] for row in table.rows],
        "notes": list(table.notes),
    }


def _cell(cell: CellName, runs: Runs, recipes: list[str]) -> dict[str, Any]:
    values = runs.figure("test_accuracy")
    mean, _ = runs.mean("test_accuracy")
    return {
        "dataset": cell[0],
        "labels": cell[1],
        "recipe": recipes.index(cell[2]),
        "mean": mean,
        "interval": mean_interval(list(values.values())),
        "draws": list(values),
        "values": list(values.values()),
    }


def _wins(cells: Cells, recipes: list[str], places: list[tuple[str, int]]) -> dict[str, Any]:
    """w_ab = share of the draws that both have on which a is better than b, half for a tie; and how many there are."""
    share: list[list[float | None]] = [[None] * len(recipes) for _ in recipes]
    count = [[0] * len(recipes) for _ in recipes]
    for i, a in enumerate(recipes):
        for j, b in enumerate(recipes):
            points = [p for place in places for p in _points(cells.get((*place, a)), cells.get((*place, b)))]
            count[i][j] = len(points)
            share[i][j] = sum(points) / len(points) if points and i != j else None
    return {"share": share, "count": count}


def _points(a: Runs | None, b: Runs | None) -> list[float]:
    if a is None or b is None:
        return []
    x, y = a.figure("test_accuracy"), b.figure("test_accuracy")
    return [1.0 if x[d] > y[d] else 0.5 if x[d] == y[d] else 0.0 for d in sorted(x.keys() & y.keys())]


def _best(cells: Cells, place: tuple[str, int]) -> dict[str, Any] | None:
    """The run of highest validation accuracy: test accuracy is for judging, not for choosing."""
    rows = [row for cell, runs in cells.items() if cell[:2] == place for row in runs.rows]
    judged = [row for row in rows if row["val_accuracy"] is not None]
    if not judged:
        return None
    row = max(judged, key=lambda row: row["val_accuracy"])
    keys = ("dataset", "per_class", "recipe", "draw", "val_accuracy", "test_accuracy")
    return {**{key: row[key] for key in keys}, "again": _command(row)}


def _command(row: Mapping[str, Any]) -> str:
    """The command that makes a run of the store again, with a folder that ``drgst report`` reads."""
    words = ["drgst", "run", row["dataset"], "--recipe", row["recipe"], "--per-class", str(row["per_class"])]
    words += ["--seed", str(row["seed"])]
    words += [] if row["pool"] == "unlabelled" else ["--pool", row["pool"]]
    words += ["--set", row["variant"]] if row["variant"] else []
    return shlex.join(words)


def _cards(run: list[tuple[CellName, Runs]], recipes: list[str], places: list[tuple[str, int]]) -> list[list[str]]:
    runs = sum(len(r.rows) for _, r in run)
    seconds = sum(row["seconds"] or 0 for _, r in run for row in r.rows)
    datasets = {dataset for dataset, _ in places}
    return [
        ["Runs", f"{runs:,}", f"{seconds / 3600:.1f} hours on one core"],
        ["Recipes", str(len(recipes)), "on the same draws"],
        ["Data sets", str(len(datasets)), f"{len(places)} with their label counts"],
    ]


def _sentences(cells: Cells, recipes: list[str], places: list[tuple[str, int]], against: str) -> list[str]:
    said = []
    for dataset, labels in places:
        means = {
            r: cells[(dataset, labels, r)].mean("test_accuracy")[0] for r in recipes if (dataset, labels, r) in cells
        }
        known = {r: m for r, m in means.items() if m is not None}
        if not known:
            continue
        best = max(known, key=lambda r: known[r])
        base = f"; {against} {known[against]:.1%}" if against in known and against != best else ""
        said.append(f"{dataset} with {labels} labels a class: {best} has the highest mean, {known[best]:.1%}{base}.")
    return said
