"""Every other recipe once on the embedded Cora, cut short, with a band around what was recorded (one thread).

The bands hold seeds 0 and 1 with room for another build of torch. They are not the paper's figures: 60 epochs, 32
hidden units, no setting chosen by validation. Those are in ``results/``.
"""

from typing import Any

import numpy as np
import pytest

import drgst
from drgst.graph.core import Graph
from drgst.graph.split import per_class_split
from drgst.recipes import find_recipe
from drgst.runs.metrics import ClassScores
from drgst.transforms.softmax import softmax

SHORT = {"epochs": 60, "patience": 30, "samples": 5, "hidden": 32}
RECORDED = {  # test accuracy at 20 labels a class, middle of seeds 0 and 1
    "gcn": 0.813,
    "appnp": 0.817,
    "label-propagation": 0.713,
    "logistic": 0.586,
    "logistic-ppr": 0.835,
    "self-training": 0.789,
    "co-training": 0.798,
    "union": 0.814,
    "intersection": 0.756,
    "margin-st": 0.787,
    "abn": 0.812,
}
SLOW = {"gat": 0.806, "sts": 0.800, "m3s": 0.793}


def fitted(cora: Graph, name: str, **changes: Any) -> drgst.SelfTraining:
    """The recipe at 20 labels a class, seed 0."""
    return drgst.SelfTraining(name, {**find_recipe(name).readable(SHORT), **changes}).fit(
        cora, per_class_split(cora, 20, seed=0)
    )


def accuracy(cora: Graph, model: drgst.SelfTraining) -> float:
    return model.score(cora, model.split_.test)


@pytest.mark.parametrize("name", RECORDED)
def test_recorded(cora: Graph, name: str) -> None:
    assert accuracy(cora, fitted(cora, name)) == pytest.approx(RECORDED[name], abs=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_recorded_slow(cora: Graph, name: str) -> None:
    assert accuracy(cora, fitted(cora, name, **({"stages": 1} if name == "m3s" else {}))) == pytest.approx(
        SLOW[name], abs=0.03
    )


@pytest.mark.slow
def test_cagcn_on_cora(cora: Graph) -> None:
    """Calibration halves the error of an under-confident GCN on validation nodes and lowers it on test nodes."""
    plain = fitted(cora, "gcn", epochs=150)
    calibrated = fitted(cora, "gcn", epochs=150, calibrate="cagcn")
    np.testing.assert_array_equal(plain.predict(), calibrated.predict())
    for nodes, factor in ((plain.split_.val, 0.5), (plain.split_.test, 0.7)):
        before, after = (ClassScores(m.probabilities_[nodes], cora.labels[nodes]).ece() for m in (plain, calibrated))
        assert after < factor * before


@pytest.mark.slow
def test_cagcn_st_trusts_more(cora: Graph) -> None:
    """The teacher says 0.8 of few nodes; calibrated, it says so of many, most of them rightly."""
    model = fitted(cora, "cagcn-st", epochs=150, stages=1)
    pseudo, teacher = model.history_[1].pseudo_labels, model.history_[0]
    pool = model.split_.pool
    uncalibrated = int((softmax(teacher.logits)[pool].max(axis=1) > 0.8).sum())
    assert pseudo.nodes.size > uncalibrated
    assert (cora.labels[pseudo.nodes] == pseudo.labels).mean() > 0.85


def test_at_three_labels_a_class_both_trainings_help(cora: Graph) -> None:
    """Recorded (full trainings): 64.2 alone, 71.4 self-training, 71.7 co-training over draws 0 to 2."""
    split = per_class_split(cora, 3, seed=0)
    alone, together = (
        drgst.SelfTraining(name, {"epochs": 60, "patience": 30, "hidden": 32}).fit(cora, split).score(cora, split.test)
        for name in ("gcn", "co-training")
    )
    assert together > alone + 0.04


@pytest.mark.slow
@pytest.mark.parametrize(("name", "recorded", "published"), [("drgst-de-tuned", 0.752, 0.713)])
def test_tuned_by_validation(name: str, recorded: float, published: float) -> None:
    """Draw 0 at 3 labels per class, with the settings that ship: as in results/, above the published settings."""
    (row,) = drgst.lab.bench("cora", name, 3, draws=1, jobs=1, progress=False).rows
    assert row["test_accuracy"] == pytest.approx(recorded, abs=0.015)
    assert row["test_accuracy"] > published + 0.01
