"""Pictures that are drawn while the site is built: what a method chooses, and the layers of the packages."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

HOME = Path(__file__).parents[2]
FOLDER = HOME / "docs" / "_made"
COLOURS = ("#0072b2", "#d55e00", "#009e73")  # classes, which colour-blind people can tell apart
SETTINGS = {"epochs": 100, "patience": 50, "samples": 50, "threshold": 0.6, "top": 8}


def chosen(*recipes: str) -> str:
    """A picture of the nodes that the first stage of each recipe pseudo-labels, on one small graph."""
    name = f"chosen-{'-'.join(recipes)}.png"
    if not (FOLDER / name).exists():
        FOLDER.mkdir(exist_ok=True)
        draw_chosen(recipes, FOLDER / name)
    words = (
        "*One stage on 90 nodes of three classes with two labels each (stars). Filled nodes are pseudo-labelled, "
        "larger ones weigh more; a black ring marks a wrong pseudo-label.*"
    )
    return f"![The nodes that {', '.join(recipes)} pseudo-label](../_made/{name})\n\n{words}"


@cache
def world() -> tuple[Any, Any, Any]:
    """The small graph, its split, and a place in the plane for every node."""
    import networkx as nx

    import drgst

    graph = drgst.block_model(90, 260, seed=2, classes=3, homophily=0.85, features=60, words=8, signal=0.4)
    split = drgst.random_split(graph, per_class=2, val=15, test=1, seed=1)
    places = nx.spring_layout(nx.from_scipy_sparse_array(graph.adjacency), seed=4, iterations=300, k=0.3)
    return graph, split, [places[node] for node in range(graph.num_nodes)]


def draw_chosen(recipes: tuple[str, ...], path: Path) -> None:
    """One panel per recipe."""
    import numpy as np
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure

    import drgst
    from drgst.recipes import find_recipe

    graph, split, places = world()
    at, edges = np.array(places), np.transpose(graph.adjacency.nonzero())
    rows, columns = (2, 2) if len(recipes) == 4 else (1, len(recipes))
    figure = Figure(figsize=(3.2 * columns, 3.3 * rows), dpi=150, layout="constrained")
    FigureCanvasAgg(figure)
    for recipe, axes in zip(recipes, figure.subplots(rows, columns, squeeze=False).flat, strict=True):
        changes = find_recipe(recipe).readable(SETTINGS)
        stages = drgst.SelfTraining(recipe, changes, seed=0).fit(graph, split, progress=False).history_
        stage = stages[min(1, len(stages) - 1)]
        nodes, labels, weights = stage.pseudo_labels.nodes, stage.pseudo_labels.labels, stage.weights
        axes.add_collection(LineCollection(at[edges], colors="#bbbbbb", linewidths=0.5, zorder=0))
        axes.scatter(*at.T, s=10, color="#999999", zorder=1)
        size = 18 + 42 * weights / max(weights.max(initial=1e-9), 1e-9)
        wrong = labels != graph.labels[nodes]
        rings = np.where(wrong, "black", "none")
        axes.scatter(*at[nodes].T, s=size, c=[COLOURS[c] for c in labels], edgecolors=rings, linewidths=1.4, zorder=2)
        stars = split.train
        colours = [COLOURS[c] for c in graph.labels[stars]]
        axes.scatter(*at[stars].T, s=130, marker="*", c=colours, edgecolors="black", linewidths=0.6, zorder=3)
        axes.set_title(f"{recipe}: {nodes.size} nodes, {int(wrong.sum())} wrong", fontsize=9)
        axes.set_axis_off()
        axes.set_aspect("equal")
    figure.savefig(path, metadata={"Software": None})


def layers(rows: list[list[str]], lines: dict[str, int]) -> str:
    """The packages as an SVG of text in the colours of the page: the highest layer above, each with its lines."""
    width, height, gap = 440, 28, 6
    parts = []
    for number, row in enumerate(reversed(rows)):
        box = (width - gap * (len(row) - 1)) / len(row)
        for place, name in enumerate(row):
            x, y = place * (box + gap), number * (height + gap)
            parts.append(
                f'<rect x="{x:.0f}" y="{y}" width="{box:.0f}" height="{height}" rx="6"/>'
                f'<text x="{x + box / 2:.0f}" y="{y + 18}" text-anchor="middle">{escape(name)} '
                f"<tspan>{lines[name]:,}</tspan></text>"
            )
    high = len(rows) * (height + gap)
    label = "The packages of drgst, one layer above the other, with their lines of code"
    svg = f'<svg class="layers" viewBox="0 0 {width} {high}" role="img" aria-label="{label}">{"".join(parts)}</svg>'
    return f"```{{raw}} html\n{svg}\n```"
