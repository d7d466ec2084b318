"""The toy: population and self-trained distributions and their ratio (the paper's Figure 2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from drgst.lab.figures.request import Request
from drgst.lab.figures.toy_run import Toy, run_toy
from drgst.report import style

HALF, STEPS = 1.25, 101
NEGLIGIBLE = 0.01  # of the highest density: γ is not shown where P_st is lower


def prepare(request: Request) -> Toy:
    """Run the toy."""
    return run_toy(request.seed, request.toy, request.changes)


def grid(half: float, steps: int) -> np.ndarray:
    """``steps``² places over [-half, half]², (steps², 2), rows from below."""
    line = np.linspace(-half, half, steps)
    return np.stack([axis.ravel() for axis in np.meshgrid(line, line)], axis=1)


def ratio(toy: Toy, half: float = HALF, steps: int = STEPS) -> np.ndarray:
    """γ on a grid, (steps, steps), NaN where P_st is negligible."""
    places = grid(half, steps)
    density = toy.self_trained(places)
    return np.where(density > NEGLIGIBLE * density.max(), toy.gamma(places), np.nan).reshape(steps, steps)


def draw(toy: Toy) -> style.Figure:
    """P_pop, P_st and γ side by side."""
    figure, axes = style.new_figure(1.5, 1, 3)
    before, after, weights = axes[0]
    _nodes(before, [toy.others], [toy.labelled], r"before: $P_{pop}$")
    _nodes(after, [toy.others, toy.other_pseudo_labelled], [toy.labelled, toy.pseudo_labelled], r"after: $P_{st}$")
    extent = (-HALF, HALF, -HALF, HALF)
    shown = weights.imshow(ratio(toy), origin="lower", extent=extent, cmap=f"{style.SHADES}_r", vmin=0)
    weights.set_title(r"$\gamma = P_{pop}\,/\,P_{st}$")
    style.frame_map(weights)
    bar = figure.colorbar(shown, ax=axes[0, :], orientation="vertical", shrink=0.62, pad=0.01)
    bar.outline.set_visible(False)
    counts = f"{len(toy.labelled):,} labelled and {len(toy.pseudo_labelled):,} pseudo-labelled nodes"
    style.caption(figure, f"blue: {counts} of the Gaussian class; grey: other classes; white: P_st near 0")
    return figure


def _nodes(panel: Any, others: list[np.ndarray], ours: list[np.ndarray], title: str) -> None:
    for places, size, colour in ((others, 0.6, style.GREY), (ours, 1.2, style.BLUE)):
        panel.scatter(*np.concatenate(places).T, s=size, c=colour, alpha=0.5, linewidths=0, rasterized=True)
    panel.set(xlim=(-HALF, HALF), ylim=(-HALF, HALF), title=title)
    style.frame_map(panel)
