"""Grids of experiments, and the commands that run them."""

from __future__ import annotations

from drgst.lab.experiments import ABLATED, Experiment, ablations, command, variant_name


def test_ablations() -> None:
    assert ablations("drgst-de") == ("drgst-de", "drgst-de-ig", "drgst-de-lc", "drgst-de-wo")
    assert len(ABLATED) == 6


def test_a_sweep_has_one_grid_per_value() -> None:
    grids = Experiment(("cora",), (3,), 2, {"epochs": 5}).sweep("beta", ("drgst-de",), (0.5, 1.0))
    assert [grid.changes for grid in grids] == [{"epochs": 5, "beta": 0.5}, {"epochs": 5, "beta": 1.0}]


def test_command() -> None:
    grid = Experiment(("cora", "flickr"), (3, 20), 2, {"epochs": 5}).grid(["gcn", "gat"])
    assert command(grid, "x.db") == (
        "drgst lab bench --datasets cora,flickr --per-class 3,20 --recipes gcn,gat --draws 2 "
        "--set epochs=5 --store x.db"
    )


def test_variant_name() -> None:
    assert variant_name({}) == "default"
    assert variant_name({"threshold": 0.4, "beta": 0.5}) == "beta=0.5,threshold=0.4"
