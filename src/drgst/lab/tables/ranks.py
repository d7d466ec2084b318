"""Recipes over many graphs: mean figures, and mean ranks with the critical difference of Friedman and Nemenyi."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from drgst.errors import StoreError
from drgst.lab.paper import dataset_order, recipe_order
from drgst.lab.store.cells import Cells
from drgst.lab.tables.layout import Column, Entry, ResultTable

Place = tuple[str, int]  # data set and labels per class


def by_graph(title: str, cells: Cells, notes: list[str]) -> ResultTable:
    """Mean test accuracy in percent: one row per data set and label count, one column per recipe."""
    recipes = sorted({recipe for *_, recipe in cells}, key=recipe_order)
    body = []
    for place in places(cells):
        means = {r: cells[*place, r].mean("test_accuracy")[0] or 0.0 for r in recipes if (*place, r) in cells}
        best = max(means.values())
        fields = [
            Entry(f"{100 * means[r]:.1f}", int(means[r] == best and len(means) > 1)) if r in means else Entry("–")
            for r in recipes
        ]
        body.append([Entry(place[0]), Entry(str(place[1])), *fields])
    columns = [Column("data set", True), Column("labels per class"), *map(Column, recipes)]
    return ResultTable(title, columns, body, 1, [*notes, draws_note(cells)])


def places(cells: Cells) -> list[Place]:
    """Every data set and label count."""
    return sorted({cell[:2] for cell in cells}, key=lambda place: (dataset_order(place[0]), place[1]))


def comparable(cells: Cells) -> tuple[list[str], list[Place]]:
    """Recipes that were run on half of the places or more, and the places where all of these were run."""
    every = places(cells)
    counts = {r: sum((*place, r) in cells for place in every) for r in {recipe for *_, recipe in cells}}
    recipes = sorted((r for r, count in counts.items() if 2 * count >= len(every)), key=recipe_order)
    return recipes, [place for place in every if all((*place, r) in cells for r in recipes)]


def mean_ranks(accuracy: np.ndarray, graphs: Sequence[str]) -> tuple[np.ndarray, float, float]:
    """Mean rank of each column of ``accuracy`` (places, R), (R,), the critical difference, and Friedman's p.

    Ranks (1 best, ties shared) are averaged over the places of a graph, then over the N graphs: label counts of one
    graph are not independent. CD = q √(R (R + 1) / (6 N)), q the 95 % point of the studentised range of R means over
    √2 (Nemenyi; Demšar, JMLR 2006). Friedman's test is of the mean accuracies of the graphs.
    """
    from scipy.stats import friedmanchisquare, rankdata, studentized_range

    names = list(dict.fromkeys(graphs))
    of_graph = [np.array([graph == name for graph in graphs]) for name in names]
    ranks = rankdata(-accuracy, axis=1)
    recipes, n = accuracy.shape[1], len(names)
    mean = np.mean([ranks[part].mean(axis=0) for part in of_graph], axis=0)
    q = studentized_range.ppf(0.95, recipes, np.inf) / math.sqrt(2)
    p = math.nan
    if recipes > 2 and n > 2:
        p = float(friedmanchisquare(*np.array([accuracy[part].mean(axis=0) for part in of_graph]).T).pvalue)
    return mean, float(q * math.sqrt(recipes * (recipes + 1) / (6 * n))), p


def ranking(title: str, cells: Cells, notes: list[str]) -> ResultTable:
    """One row per recipe, by mean rank: mean accuracy, macro-F1, ECE and seconds over the places that all have."""
    recipes, shared = comparable(cells)
    if len(recipes) < 2 or len({dataset for dataset, _ in shared}) < 2:
        raise StoreError("mean ranks need two recipes or more that were run on the same two data sets or more")
    accuracy = _figures(cells, recipes, shared, "test_accuracy")
    ranks, difference, p = mean_ranks(accuracy, [dataset for dataset, _ in shared])
    scales = {"test_accuracy": (100, 1), "macro_f1": (100, 1), "ece": (100, 1), "seconds": (1, 1)}
    columns = {name: _figures(cells, recipes, shared, name).mean(axis=0) for name in scales}
    best, body = ranks.min(), []
    for i in np.argsort(ranks, kind="stable"):
        shown = [
            "–" if np.isnan(columns[n][i]) else f"{scale * columns[n][i]:.{digits}f}"
            for n, (scale, digits) in scales.items()
        ]
        near = "yes" if ranks[i] <= best + difference else ""
        body.append(
            [Entry(recipes[i]), Entry(f"{ranks[i]:.2f}", int(ranks[i] == best)), Entry(near), *map(Entry, shown)]
        )
    titles = ("mean rank", "within the critical difference", "accuracy", "macro-F1", "ECE", "seconds")
    left_out = sorted({recipe for *_, recipe in cells} - set(recipes), key=recipe_order)
    notes = [
        *notes,
        f"Means over {len(shared)} cells of {len({d for d, _ in shared})} data sets where all of these were run; "
        f"critical difference of the mean rank {difference:.2f} (Nemenyi, 95 %); Friedman's p {_p(p)}.",
        *([f"Run on fewer than half of the cells and left out: {', '.join(left_out)}."] if left_out else []),
        draws_note(cells),
    ]
    return ResultTable(title, [Column("recipe", True), *map(Column, titles)], body, 0, notes)


def _figures(cells: Cells, recipes: Sequence[str], shared: Sequence[Place], name: str) -> np.ndarray:
    """The mean of a figure, (places, recipes); NaN where it does not exist."""
    return np.array([[cells[*place, r].mean(name)[0] for r in recipes] for place in shared], dtype=np.float64)


def _p(value: float) -> str:
    return "–" if math.isnan(value) else "< 0.001" if value < 0.001 else f"{value:.3f}"


def draws_note(cells: Cells) -> str:
    """``Draws per cell: drgst-plus 3, gcn 2 to 3.``"""
    found: dict[str, list[int]] = {}
    for (*_, recipe), runs in cells.items():
        found.setdefault(recipe, []).append(len(runs.rows))
    parts = [
        f"{recipe} {min(n)}" + (f" to {max(n)}" if max(n) > min(n) else "")
        for recipe, n in sorted(found.items(), key=lambda item: recipe_order(item[0]))
    ]
    return f"Draws per cell: {', '.join(parts)}."
