"""``drgst.lab.label_curve`` and its results."""

from __future__ import annotations

import pytest

import drgst
from drgst.errors import SettingError


@pytest.fixture(scope="module")
def curves() -> drgst.LabelCurves:
    graph = drgst.block_model(150, 500, seed=0, classes=3, features=40, words=6)
    return drgst.lab.label_curve(graph, start=2, budget=4, batch=2, by=["variance", "random"], draws=2, jobs=1)


def test_results(curves: drgst.LabelCurves) -> None:
    frame = curves.to_frame()
    assert frame.groupby("by").size().to_dict() == {"random": 6, "variance": 6}
    assert set(frame["labels"]) == {6, 8, 10}
    ours, theirs = curves.summary()
    assert (ours["by"], theirs["by"]) == ("variance", "random")
    assert ours["difference"] == pytest.approx(ours["area"] - theirs["area"])
    assert ours["start"] == theirs["start"]
    assert theirs["p"] is None


def test_table_and_figure(curves: drgst.LabelCurves) -> None:
    assert "variance" in curves.table("md")
    with pytest.raises(SettingError, match="format"):
        curves.table("docx")
    (panel,) = curves.plot().axes
    assert panel.get_xlabel() == "labels"
    assert len(panel.get_lines()) == 4  # two curves, two entries of the legend
