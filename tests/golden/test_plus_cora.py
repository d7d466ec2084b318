"""drgst-plus on the embedded Cora, 3 labels per class, draw 0, with and without the 500 further labels.

Nothing in it is random, so the bands are narrow: 0.015 is less than what self-training adds from 3 labels per class.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import drgst
from drgst.graph.core import Graph
from drgst.graph.split import per_class_split

BAND = 0.015


@pytest.mark.parametrize(
    ("validation", "accuracies", "sizes"),
    [
        (True, (0.877, 0.873, 0.875, 0.871, 0.871, 0.872), (0, 514, 744, 846, 842, 842)),
        (False, (0.752, 0.768, 0.769, 0.773, 0.778, 0.776), (0, 763, 1059, 1180, 1180, 1180)),
    ],
    ids=["500 further labels", "3 labels per class"],
)
def test_drgst_plus(cora: Graph, validation: bool, accuracies: tuple[float, ...], sizes: tuple[int, ...]) -> None:
    """Test accuracy and number of pseudo-labels of each stage, as recorded."""
    split = per_class_split(cora, 3, seed=0)
    if not validation:
        unlabelled = np.union1d(split.pool, split.val)
        split = replace(split, val=np.empty(0, dtype=np.int64), pool=unlabelled)
    model = drgst.SelfTraining("drgst-plus").fit(cora, split)
    rows = model.result_.rows()
    assert model.stop_reason_ == "all 5 stages are done"
    assert [row["test_accuracy"] for row in rows] == pytest.approx(accuracies, abs=BAND)
    assert [row["pseudo_labelled"] for row in rows] == pytest.approx(sizes, abs=30)
