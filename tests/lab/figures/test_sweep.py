"""The lines of a sweep."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drgst.errors import StoreError
from drgst.lab.figures import sweep
from drgst.lab.figures.registry import Request, draw, prepare
from drgst.lab.store import Store

Row = Callable[..., dict[str, Any]]


def test_a_line_has_runs_that_differ_in_the_setting_alone(make_row: Row) -> None:
    def row(key: str, **settings: float) -> dict[str, Any]:
        return make_row(key, recipe="drgst-de", settings=json.dumps(settings), test_accuracy=settings["threshold"])

    rows = [row("a", threshold=0.4, beta=0.5), row("b", threshold=0.5, beta=0.5)]
    rows += [row("c", threshold=0.7, beta=1.0), make_row("d", recipe="gcn", settings='{"threshold": 0.9}')]
    (line,) = sweep.lines(rows, "threshold")
    assert (line.recipe, line.per_class) == ("drgst-de", 3)
    assert dict(line.values) == {0.4: {0: 0.4}, 0.5: {0: 0.5}}
    assert line.means() == ([0.4, 0.5], pytest.approx([40, 50]))
    assert line.slopes() == pytest.approx({0: 1.0})
    assert sweep.lines(rows, "beta") == []  # no two runs differ in β alone


def test_means_are_over_the_draws_that_all_values_have() -> None:
    line = sweep.Line("drgst-do", 5, {0.4: {0: 0.6, 1: 0.2}, 0.5: {0: 0.7}})
    assert line.means()[1] == pytest.approx([60, 70])
    assert line.slopes() == pytest.approx({0: 1.0})
    assert np.isnan(line.halves()).all()  # no interval from one draw
    assert sweep.Line("drgst-do", 5, {0.4: {0: 0.6}, 0.5: {1: 0.7}}).halves() == []  # no draw in common


def test_one_panel_per_label_count_with_gaps_marked_as_not_run() -> None:
    whole = sweep.Line("drgst-do", 3, {0.4: {0: 0.6}, 0.5: {0: 0.7}, 0.6: {0: 0.8}})
    part = sweep.Line("drgst-de", 3, {0.4: {0: 0.5}, 0.6: {0: 0.6}})
    other = sweep.Line("drgst-de", 20, {0.4: {0: 0.5}, 0.5: {0: 0.6}, 0.6: {0: 0.6}})
    figure = draw("threshold", sweep.Data("threshold", "cora", [whole, part, other]))
    first, second = figure.axes[:2]
    assert first.get_title() == "3 labels per class"
    assert second.get_title() == "20 labels per class"
    assert any("mean over 1 draw and" in text.get_text() for text in figure.texts)
    lines = {line.get_color(): np.asarray(line.get_ydata()) for line in first.lines if len(line.get_xdata()) == 3}
    assert list(lines.values()) == [pytest.approx([60, 70, 80]), pytest.approx([50, np.nan, 60], nan_ok=True)]
    crosses = [line.get_xdata()[0] for line in first.lines if line.get_marker() == "x" and len(line.get_xdata())]
    assert crosses == [0.5]
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["DR-GST (dropout)", "DR-GST (dropedge)", "not run"]


def test_panels_name_their_draws_where_these_differ() -> None:
    one = sweep.Line("drgst-do", 3, {0.4: {0: 0.6}, 0.5: {0: 0.7}})
    two = sweep.Line("drgst-do", 20, {0.4: {0: 0.6, 1: 0.5}, 0.5: {0: 0.7, 1: 0.6}})
    figure = draw("threshold", sweep.Data("threshold", "cora", [one, two]))
    assert [panel.get_title() for panel in figure.axes[:2]] == [
        "3 labels per class, 1 draw",
        "20 labels per class, 2 draws",
    ]


def test_a_sweep_without_a_shared_draw_is_refused(tmp_path: Path, make_row: Row) -> None:
    with Store(tmp_path / "runs.db", create=True) as opened:
        for number, value in enumerate((0.4, 0.5)):
            changed = {"settings": json.dumps({"threshold": value}), "draw": number, "recipe": "drgst-de"}
            opened.add(make_row(str(number), variant=f"threshold={value}", **changed))
    with pytest.raises(StoreError, match="holds no runs for the figure threshold"):
        prepare("threshold", Request(tmp_path / "runs.db"))


def test_of_equal_sets_that_with_fewer_changed_settings(make_row) -> None:  # type: ignore[no-untyped-def]
    """Runs with another number of stages are shown only where there are no others."""
    rows = []
    for stages, more, accuracy in ((3, "stages=3,", 0.9), (2, "", 0.5)):
        for value in (0.4, 0.5):
            settings = json.dumps({"threshold": value, "stages": stages})
            variant = f"{more}threshold={value}"
            rows.append(
                make_row(
                    f"{stages}{value}", recipe="drgst-do", variant=variant, settings=settings, test_accuracy=accuracy
                )
            )
    for order in (rows, rows[::-1]):
        (line,) = sweep.lines(order, "threshold")
        assert {a for by in line.values.values() for a in by.values()} == {0.5}


def test_the_published_value_of_one_cell_is_no_value_of_the_sweep() -> None:
    """It is drawn where it was run, and is not missing elsewhere."""
    usual = sweep.Line("drgst-do", 3, {0.4: {0: 0.6}, 0.5: {0: 0.7}})
    own = sweep.Line("drgst-do", 20, {0.4: {0: 0.5}, 0.43: {0: 0.55}, 0.5: {0: 0.6}})
    assert sweep.swept([usual, own]) == [0.4, 0.5]
    assert sweep.swept([own]) == [0.4, 0.43, 0.5]
    figure = sweep.draw(sweep.Data("threshold", "cora", [usual, own]))
    first, last = (np.asarray(panel.lines[0].get_xdata()).tolist() for panel in figure.axes)
    assert (first, last) == ([0.4, 0.5], [0.4, 0.43, 0.5])
    assert "not run" not in [text.get_text() for text in figure.legends[0].get_texts()]
