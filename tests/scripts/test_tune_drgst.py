"""scripts/tune_drgst.py: settings are compared by validation nodes that did not choose the stage."""

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest

CELL = {"dataset": "cora", "labels_per_class": 3, "information_gain": "dropout"}
PUBLISHED = {"threshold": 0.7, "beta": 0.5, "drop_rate": 0.3, "teacher_scale": "1", "floor": "none"}


def run(*stages: tuple[float, float, float, float], draw: int = 100, **changes: Any) -> pd.DataFrame:
    """The stages of a run: loss and accuracy on the even, then on the odd validation nodes."""
    names = ("loss_even", "accuracy_even", "loss_odd", "accuracy_odd")
    head = {**CELL, **PUBLISHED, **changes, "draw": draw, "max_stages": len(stages) - 1}
    return pd.DataFrame(
        [{**head, "stage": k, **dict(zip(names, stage, strict=True))} for k, stage in enumerate(stages)]
    )


def test_the_stage_is_chosen_on_one_half_and_measured_on_the_other(script: ModuleType) -> None:
    """Even nodes choose stage 1 and odd ones stage 2 by loss: 0.5 on the odd and 0.8 on the even nodes."""
    rows = run((1.0, 0.6, 1.0, 0.6), (0.5, 0.9, 1.1, 0.5), (0.7, 0.8, 0.4, 0.7))
    assert script.cross_fitted(rows, 2, "best") == pytest.approx((0.5 + 0.8) / 2)
    assert script.cross_fitted(rows, 2, "last") == pytest.approx((0.7 + 0.8) / 2)
    assert script.cross_fitted(rows, 0, "best") == pytest.approx(0.6)
    assert script.cross_fitted(rows, 1, "best") == pytest.approx((0.5 + 0.6) / 2)
    assert script.cross_fitted(rows, 2, "best-student") == pytest.approx((0.5 + 0.8) / 2)


def test_settings_are_compared_in_pairs_with_the_published_ones(script: ModuleType) -> None:
    """The published settings have two students; a floor is 10 points higher on both draws."""
    flat = [(1.0, 0.6, 1.0, 0.6), (0.9, 0.6, 0.9, 0.6), (0.8, 0.6, 0.8, 0.6)]
    better = [(1.0, 0.6, 1.0, 0.6), (0.9, 0.7, 0.9, 0.7), (0.8, 0.7, 0.8, 0.7)]
    trials = [run(*flat, draw=d) for d in (100, 101)] + [run(*better, draw=d, floor="top") for d in (100, 101)]
    table = script.compared(script.scores(pd.concat(trials)), [*script.SETTINGS, "stages", "keep"])
    best = script.chosen(table)
    assert (best["floor"], best["stages"], best["pairs"]) == ("top", 1, 2)
    assert best["gain"] == pytest.approx(10)
    usual = table[table["floor"].eq("none") & table["stages"].eq(2) & table["keep"].eq("best")]
    assert usual["gain"].tolist() == pytest.approx([0])


def test_a_run_hides_the_labels_of_test_nodes(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """A graph whose test labels are wrong gives the same rows."""
    changes = {"epochs": 40, "lr": 0.05, "samples": 3, "hidden": 16, "stages": 1, "threshold": 0.15}
    found = script.run_trial("cora", 3, "do", changes, 100)
    graph = script.open_graph("cora")
    labels = graph.labels.copy()
    labels[graph.splits[0].test] = 0
    monkeypatch.setattr(script, "open_graph", lambda _: graph.with_(labels=labels))
    again = script.run_trial("cora", 3, "do", changes, 100)
    for mine, other in zip(found, again, strict=True):
        assert {k: v for k, v in mine.items() if k != "seconds"} == {k: v for k, v in other.items() if k != "seconds"}
    assert [row["stage"] for row in found] == [0, 1]


def test_the_shipped_settings_are_those_that_the_trials_choose(script: ModuleType, tmp_path: Path) -> None:
    trials = script.read_trials()
    assert trials["draw"].min() >= 100, "draws below 100 are those of the results"
    assert np.isfinite(trials["accuracy_even"]).all()
    shipped = script.CHOSEN.read_text(encoding="utf-8")
    assert script.chosen_text() == shipped, "python scripts/tune_drgst.py choose"
    pairs = pd.read_csv(script.GAINS_OF_CHOSEN)
    assert pairs.loc[pairs["labels_per_class"].eq(3), "pairs"].ge(20).all(), "3 labels per class need 20 draws"


def test_a_trial_has_at_least_the_published_students(script: ModuleType) -> None:
    """Else the published settings, with which every trial is compared, would have no accuracy."""
    assert script.most_stages({"stages": 8}) == 8
    assert script.most_stages({"stages": 0}) == script.STAGES
