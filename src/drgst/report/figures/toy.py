"""The toy's population and self-trained distributions and their ratio, three panels (the paper's Figure 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from drgst.report.figures.density import grid
from drgst.report.figures.request import Request
from drgst.report.figures.style import BLUE, GREY, SHADES, bare, new_figure, note
from drgst.report.figures.toy_run import Toy, play

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HALF, STEPS = 1.25, 101
FAINT = 0.01  # of its highest: where P_st is below, there is nothing to weigh, and γ is not shown


def prepare(request: Request) -> Toy:
    """Play it."""
    return play(request.seed, request.toy, request.changes)


def ratio(toy: Toy, half: float = HALF, steps: int = STEPS) -> np.ndarray:
    """γ on a grid, (steps, steps), NaN where P_st is all but 0."""
    places = grid(half, steps)
    density = toy.self_trained(places)
    return np.where(density > FAINT * density.max(), toy.gamma(places), np.nan).reshape(steps, steps)


def draw(toy: Toy) -> Figure:
    """P_pop, P_st and γ side by side."""
    figure, axes = new_figure(1.5, 1, 3)
    before, after, weights = axes[0]
    _nodes(before, [toy.others], [toy.labelled], r"before: $P_{pop}$")
    _nodes(after, [toy.others, toy.other_picked], [toy.labelled, toy.picked], r"after: $P_{st}$")
    shown = weights.imshow(ratio(toy), origin="lower", extent=(-HALF, HALF, -HALF, HALF), cmap=f"{SHADES}_r", vmin=0)
    weights.set_title(r"$\gamma = P_{pop}\,/\,P_{st}$")
    bare(weights)
    bar = figure.colorbar(shown, ax=axes[0, :], orientation="vertical", shrink=0.62, pad=0.01)
    bar.outline.set_visible(False)
    note(
        figure,
        f"blue: {len(toy.labelled):,} labelled nodes of the Gaussian and {len(toy.picked):,} picked by confidence",
    )
    return figure


def _nodes(panel: Any, others: list[np.ndarray], ours: list[np.ndarray], title: str) -> None:
    common = {"linewidths": 0, "rasterized": True}
    panel.scatter(*np.concatenate(others).T, s=0.6, c=GREY, alpha=0.5, **common)
    panel.scatter(*np.concatenate(ours).T, s=1.2, c=BLUE, alpha=0.5, **common)
    panel.set(xlim=(-HALF, HALF), ylim=(-HALF, HALF), title=title)
    bare(panel)
