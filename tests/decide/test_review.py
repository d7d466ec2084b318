"""Labels that look wrong: flipped ones are contradicted by predictions without them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

import drgst
from drgst.datasets.synthetic import block_model
from drgst.decide.review import review, review_labels
from drgst.errors import RunError
from drgst.graph.split import random_split


def test_the_order_is_that_of_the_margin() -> None:
    p = np.array([[0.9, 0.1], [0.4, 0.6], [0.02, 0.98], [0.3, 0.7]])
    found = review_labels(p, np.array([0, 0, 0, 1]), np.array([5, 6, 7, 8]))
    assert found.nodes.tolist() == [7, 6, 8, 5]
    assert found.contradicted == 2
    rows = found.rows(list("abcdefghi"), ("x", "y"))
    assert rows[0] == {"id": "h", "given": "x", "suggested": "y", "p_given": 0.02, "p_suggested": 0.98}
    assert len(rows) == 2
    assert len(found.rows(list("abcdefghi"), ("x", "y"), 1)) == 1


def test_flipped_labels_come_first() -> None:
    graph = block_model(600, 2400, seed=0, classes=3, features=60, homophily=0.9, signal=0.6)
    split = random_split(graph, per_class=20, val=0, test=0, seed=0)
    flipped = np.random.default_rng(0).choice(split.train, 6, replace=False)
    labels = graph.labels.copy()
    labels[flipped] = (labels[flipped] + 1) % 3
    model = drgst.SelfTraining("logistic-ppr", {"calibrate": "crossfit"}).fit(graph.with_(labels=labels), split)
    found = review(model.result_)
    wrong = np.isin(found.nodes, flipped)
    assert average_precision_score(wrong, -np.arange(wrong.size)) > 0.9
    plain = drgst.SelfTraining("logistic-ppr").fit(graph, split)
    with pytest.raises(RunError, match="calibrate=crossfit"):
        review(plain.result_)
