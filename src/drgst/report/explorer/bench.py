"""The page of a bench: all recipes of a store on the same draws."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from drgst.bench.statistics.paired import mean_interval
from drgst.bench.statistics.results import CellName, RunFilter, Runs, check_any, check_recipe, read_runs, runs_by_cell
from drgst.files import plain
from drgst.report.explorer.html import render
from drgst.report.explorer.page import Page
from drgst.report.paper import dataset_order, recipe_order
from drgst.report.tables.accuracy import Cells, main, ranks
from drgst.report.tables.table import Table

Place = tuple[str, int]  # data set and labels per class


def bench_page(store: str | Path, against: str = "gcn", wanted: RunFilter | None = None) -> Page:
    """The page of the runs in ``store`` (or its export); differences are to the recipe ``against``."""
    rows, wanted = read_runs(Path(store)), wanted or RunFilter()
    cells = runs_by_cell(rows, wanted)
    check_any(cells, rows, wanted)
    if against != "gcn":
        check_recipe(against, cells)
    data = bench_data(cells, against, Path(store).name)
    return Page(data, render(data, "bench"))


def bench_data(cells: Cells, against: str, name: str) -> dict[str, Any]:
    """The data of the page as plain values; the first recipe is compared with where ``against`` was not run."""
    cells = {cell: runs for cell, runs in cells.items() if runs.figure("test_accuracy")}
    recipes = sorted({recipe for _, _, recipe in cells}, key=recipe_order)
    places = sorted({cell[:2] for cell in cells}, key=lambda p: (dataset_order(p[0]), p[1]))
    against = against if against in recipes or not recipes else recipes[0]
    data = {
        "format": 2,
        "title": f"Bench {name}",
        "classes": recipes,
        "against": against,
        "places": places,
        "cells": [_cell(cell, runs, recipes) for cell, runs in cells.items()],
        "wins": [{"place": None, **_wins(cells, recipes, places)}]
        + [{"place": at, **_wins(cells, recipes, [place])} for at, place in enumerate(places)],
        "table": table_data(main(cells, against)),
        "best": [best for place in places if (best := _best(cells, place)) is not None],
        "cards": _cards(cells, recipes, places),
        "sentences": _sentences(cells, places, against),
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


def _cell(cell: CellName, runs: Runs, recipes: Sequence[str]) -> dict[str, Any]:
    values = runs.figure("test_accuracy")
    return {
        "dataset": cell[0],
        "labels": cell[1],
        "recipe": recipes.index(cell[2]),
        "mean": runs.mean("test_accuracy")[0],
        "interval": mean_interval(list(values.values())),
        "draws": list(values),
        "values": list(values.values()),
    }


def _wins(cells: Cells, recipes: Sequence[str], places: Sequence[Place]) -> dict[str, Any]:
    """w_ab: the share of shared draws on which a is better than b, a tie counting half; and the number of draws."""
    wins = [[[w for p in places for w in _compare(cells, p, a, b)] for b in recipes] for a in recipes]
    return {
        "share": [[sum(w) / len(w) if w and i != j else None for j, w in enumerate(row)] for i, row in enumerate(wins)],
        "count": [[len(w) for w in row] for row in wins],
    }


def _compare(cells: Cells, place: Place, a: str, b: str) -> list[float]:
    """Per shared draw: 1 where a is better, 0.5 for a tie, else 0."""
    x, y = (cells[*place, r].figure("test_accuracy") if (*place, r) in cells else {} for r in (a, b))
    return [1.0 if x[d] > y[d] else 0.5 if x[d] == y[d] else 0.0 for d in sorted(x.keys() & y.keys())]


def _best(cells: Cells, place: Place) -> dict[str, Any] | None:
    """The run of highest validation accuracy, since test accuracy must not be used to choose."""
    rows = [row for cell, runs in cells.items() if cell[:2] == place for row in runs.rows]
    validated = [row for row in rows if row["val_accuracy"] is not None]
    if not validated:
        return None
    row = max(validated, key=lambda row: row["val_accuracy"])
    keys = ("dataset", "per_class", "recipe", "draw", "val_accuracy", "test_accuracy")
    return {**{key: row[key] for key in keys}, "command": _command(row)}


def _command(row: Mapping[str, Any]) -> str:
    """The command that repeats a run of the store."""
    words = ["drgst", "run", row["dataset"], "--recipe", row["recipe"], "--per-class", str(row["per_class"])]
    words += ["--seed", str(row["seed"])]
    words += [] if row["pool"] == "unlabelled" else ["--pool", row["pool"]]
    words += ["--set", row["variant"]] if row["variant"] else []
    return shlex.join(words)


def _cards(cells: Cells, recipes: Sequence[str], places: Sequence[Place]) -> list[list[str]]:
    rows = [row for runs in cells.values() for row in runs.rows]
    hours = sum(row["seconds"] or 0 for row in rows) / 3600
    return [
        ["Runs", f"{len(rows):,}", f"{hours:.1f} hours on one core"],
        ["Recipes", str(len(recipes)), "on the same draws"],
        ["Data sets", str(len({dataset for dataset, _ in places})), f"{len(places)} with their label counts"],
    ]


def _sentences(cells: Cells, places: Sequence[Place], against: str) -> list[str]:
    best = {cell[:2]: cell[2] for cell, rank in ranks(cells, "test_accuracy").items() if rank == 1}

    def accuracy(place: Place, recipe: str) -> str:
        return f"{cells[*place, recipe].mean('test_accuracy')[0]:.1%}"

    found = []
    for place in places:
        recipe = best[place]
        base = f"; {against} {accuracy(place, against)}" if recipe != against and (*place, against) in cells else ""
        text = f"{place[0]} with {place[1]} labels per class: {recipe} has the highest mean"
        found.append(f"{text}, {accuracy(place, recipe)}{base}.")
    return found
