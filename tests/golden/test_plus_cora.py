"""drgst-plus on the embedded Cora, 3 labels per class, draw 0, with and without validation labels.

Nothing in it is random, so the bands are narrow: 0.015 is a sixth of what self-training adds and a quarter of what the
validation labels add.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import drgst
from drgst.graph.core import Graph
from drgst.graph.split import per_class_split
from drgst.runs.metrics import stage_rows

BAND = 0.015


@pytest.mark.parametrize(
    ("validation", "accuracies", "sizes"),
    [
        (True, (0.784, 0.836, 0.852, 0.846), (0, 505, 742, 845)),
        (False, (0.681, 0.748, 0.763, 0.769), (0, 733, 1027, 1180)),
    ],
    ids=["validation labels", "training labels only"],
)
def test_drgst_plus(cora: Graph, validation: bool, accuracies: tuple[float, ...], sizes: tuple[int, ...]) -> None:
    """Test accuracy and number of pseudo-labels of each stage, as recorded."""
    split = per_class_split(cora, 3, seed=0)
    if not validation:
        unlabelled = np.union1d(split.pool, split.val)
        split = replace(split, val=np.empty(0, dtype=np.int64), pool=unlabelled)
    model = drgst.SelfTraining("drgst-plus").fit(cora, split)
    rows = stage_rows(model.history_, cora, split)
    assert model.stop_reason_ == "all 3 stages are done"
    assert [row["test_accuracy"] for row in rows] == pytest.approx(accuracies, abs=BAND)
    assert [row["pseudo_labelled"] for row in rows] == pytest.approx(sizes, abs=30)
