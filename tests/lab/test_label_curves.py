"""Label curves, and the choosers that only they use."""

import math

import numpy as np
import pytest

import drgst
from drgst.decide.labels.state import LabelState
from drgst.errors import SettingError
from drgst.lab.label_curves import CurveGroup, LearningCurve
from drgst.lab.simulate import Entropy
from drgst.lab.statistics import compare


@pytest.fixture(scope="module")
def curves() -> drgst.lab.LabelCurves:
    graph = drgst.block_model(150, 500, seed=0, classes=3, features=40, words=6)
    return drgst.lab.label_curve(graph, start=2, budget=4, batch=2, by=["variance", "random"], draws=2, jobs=1)


def test_results(curves: drgst.lab.LabelCurves) -> None:
    frame = curves.to_frame()
    assert frame.groupby("by").size().to_dict() == {"random": 6, "variance": 6}
    assert set(frame["labels"]) == {6, 8, 10}
    ours, theirs = curves.summary()
    assert (ours["by"], theirs["by"]) == ("variance", "random")
    assert ours["difference"] == pytest.approx(ours["area"] - theirs["area"])
    assert ours["start"] == theirs["start"]
    assert theirs["p"] is None


def test_table_and_figure(curves: drgst.lab.LabelCurves) -> None:
    assert "variance" in curves.table("md")
    with pytest.raises(SettingError, match="format"):
        curves.table("docx")
    (panel,) = curves.plot().axes
    assert panel.get_xlabel() == "labels"
    assert len(panel.get_lines()) == 4  # two curves, two entries of the legend


def curve(*values: float) -> LearningCurve:
    return LearningCurve.of(
        [{"labels": 10 * k, "accuracy": v, "macro_f1": v, "ece": 0.1} for k, v in enumerate(values, 1)]
    )


def test_area_and_interpolation() -> None:
    found = curve(0.5, 0.7, 0.8)
    assert found.area() == pytest.approx(0.675)
    assert found.at(5) == pytest.approx(0.6)
    assert found.at(100) == pytest.approx(0.8)
    assert found.needed(0.75) == pytest.approx(25)
    assert found.needed(0.5) == 10
    assert math.isinf(found.needed(0.9))
    assert curve(0.4).area() == pytest.approx(0.4)


def test_groups_are_compared_on_shared_draws() -> None:
    ours = CurveGroup("variance", {0: curve(0.5, 0.7), 1: curve(0.5, 0.9)})
    theirs = CurveGroup("random", {1: curve(0.5, 0.7), 2: curve(0.1, 0.1)})
    found = compare(ours.values(), theirs.values())
    assert found.pairs == 1
    assert found.mean == pytest.approx(0.1)
    assert ours.means() == {10: [0.5, 0.5], 20: [0.7, 0.9]}
    assert math.isnan(ours.seconds())
    assert ours.share_needed(CurveGroup("random", {0: curve(0.5, 0.65)})) == pytest.approx(0.5)
    assert math.isinf(ours.share_needed(CurveGroup("random", {0: curve(0.5, 0.95)})))


ANGLES = np.array([*(0.0, 0.01, 0.02, 0.3), *(2.0, 2.01, 2.02, 2.3), *(4.0, 4.01, 4.02, 4.3)])
BUNDLES = np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)  # three bundles of four nodes on the unit circle
P = np.stack([np.linspace(0.5, 1, 12), np.linspace(0.5, 0, 12)], axis=1)


def bundles(labelled: list[int] | None = None, **more: object) -> LabelState:
    known = np.array(labelled or [], dtype=np.int64)
    free = np.setdiff1d(np.arange(12), known)
    return LabelState(BUNDLES, free, known, np.random.default_rng(0), **more)  # type: ignore[arg-type]


def test_entropy_takes_the_least_certain() -> None:
    assert Entropy()(bundles(probabilities=P), 3).nodes.tolist() == [0, 1, 2]
