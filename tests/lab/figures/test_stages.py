"""Snapshots of the stages."""

from __future__ import annotations

import numpy as np

from drgst.lab.figures import stages
from drgst.lab.figures.registry import draw


def test_weights_are_those_of_the_pseudo_labelled_nodes() -> None:
    found = stages.spread(np.array([1, 3]), np.array([2.0, 0.5]), 5)
    assert np.isnan(found[[0, 2, 4]]).all()
    assert found[[1, 3]].tolist() == [2, 0.5]


def test_classes_have_a_legend_in_which_colours_repeat_after_the_eighth() -> None:
    rng = np.random.default_rng(0)
    shown = stages.Snapshot(1, rng.random((5, 2)), rng.random((9, 2)), np.array([1.0, 2, np.nan, np.nan, 3]), 0.5)
    names = tuple(f"class_{place}" for place in range(9))
    figure = draw("stages", stages.Data([shown], np.arange(9), names, "caption"))
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts == ["class 0, class 8", *(f"class {place}" for place in range(1, 8))]
