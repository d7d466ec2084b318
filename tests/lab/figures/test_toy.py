"""The ratio γ on the grid of the figure."""

from __future__ import annotations

import numpy as np

from drgst.lab.figures.toy import grid, ratio
from drgst.lab.figures.toy_run import Toy


def test_the_grid_covers_the_square() -> None:
    assert grid(1, 2).tolist() == [[-1, -1], [1, -1], [-1, 1], [1, 1]]


def test_the_ratio_is_not_shown_where_the_density_is_negligible(toy: Toy) -> None:
    shown = ratio(toy, half=2, steps=21)
    assert np.isnan(shown[0, 0])
    assert shown[10, 10] < 1
