"""Draws docs/images/relations.png: rows, the entities that they share, and the weights of the pairs.

python scripts/relations_picture.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from drgst.report.style import BLUE, GREY, ORANGE, VERMILLION, styled

OUT = Path(__file__).parents[1] / "docs" / "images" / "relations.png"
ROWS = ("A1", "A2", "A3", "A4", "A5", "A6", "A7")
SHARED = {"device D17": (0, 1), "device D20": (2, 3, 4), "terminal T1": (1, 2, 4, 5, 6)}
FRAUD = (0,)


def main() -> None:
    """Write the picture."""
    from matplotlib.figure import Figure

    count = len(ROWS)
    b = np.array([[u in members for members in SHARED.values()] for u in range(count)], dtype=float)
    weight = 1 / (b.sum(axis=0) - 1)
    a = b * weight @ b.T
    np.fill_diagonal(a, 0)
    with styled():
        figure = Figure(figsize=(8.2, 2.9), layout="constrained")
        left, right = figure.subplots(1, 2)
        for entity, (name, members) in enumerate(SHARED.items()):
            place = 1.2 + 2.2 * entity
            for u in members:
                left.plot([u, place], [1, 0], color=GREY, linewidth=1, zorder=1)
            left.scatter([place], [0], s=340, marker="s", color=ORANGE, zorder=2)
            said = f"{name}\nn = {len(members)}, W = {'1' if len(members) == 2 else f'1/{len(members) - 1}'}"
            left.annotate(said, (place, -0.22), ha="center", va="top", fontsize=8)
        colours = [VERMILLION if u in FRAUD else BLUE for u in range(count)]
        left.scatter(range(count), np.ones(count), s=340, color=colours, zorder=2)
        angle = np.pi / 2 - 2 * np.pi * np.arange(count) / count
        x, y = np.cos(angle), np.sin(angle)
        for u, v in zip(*np.nonzero(np.triu(a)), strict=True):
            right.plot([x[u], x[v]], [y[u], y[v]], color=GREY, linewidth=4 * a[u, v], zorder=1, solid_capstyle="round")
        right.scatter(x, y, s=340, color=colours, zorder=2)
        for axes, places in ((left, [(u, 1) for u in range(count)]), (right, list(zip(x, y, strict=True)))):
            for text, place in zip(ROWS, places, strict=True):
                axes.annotate(text, place, ha="center", va="center", color="white", fontsize=8, zorder=3)
            axes.axis("off")
        left.set(xlim=(-0.6, 6.6), ylim=(-0.75, 1.3), title="B: rows and the entities that they use")
        right.set(xlim=(-2.2, 2.2), ylim=(-1.25, 1.25), title="A = B W B$^T$ without its diagonal: never formed")
        figure.savefig(OUT, dpi=130, metadata={"Software": None})


if __name__ == "__main__":
    main()
