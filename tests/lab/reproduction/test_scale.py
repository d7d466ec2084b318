"""The grids of a scale."""

from __future__ import annotations

from drgst.lab.reproduction.scale import FULL


def test_the_full_scale_covers_the_paper() -> None:
    grids = [grid for found in FULL.grids().values() for grid in found]
    recipes = {recipe for grid in grids for recipe in grid.recipes}
    assert {"gcn", "gat", "appnp", "sts", "m3s", "abn", "drgst-do", "drgst-de-wo"} <= recipes
    assert {grid.changes["threshold"] for grid in grids if "threshold" in grid.changes} >= {0.4, 0.7}
    assert grids[0].draws == 10
    assert all(grid.per_class == (3, 5, 10, 20) for grid in grids)
