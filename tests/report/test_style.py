"""Style: what is written below and above the panels, and settings that are restored."""

from __future__ import annotations

from pathlib import Path

import pytest

from drgst.errors import SettingError
from drgst.report import style


def test_the_number_of_draws() -> None:
    assert style.count_draws([1]) == "1 draw"
    assert style.count_draws([10, 10]) == "10 draws"
    assert style.count_draws([5, 3, 4]) == "3 to 5 draws"


def test_the_settings_of_matplotlib_are_restored() -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    with style.styled():
        assert matplotlib.rcParams["font.size"] == 7
    assert dict(matplotlib.rcParams) == before


def test_panels_are_two_per_row_and_only_the_outer_ones_have_labels() -> None:
    _, panels = style.accuracy_panels(3, "labels per class")
    assert [panel.get_ylabel() for panel in panels] == ["test accuracy (%)", "", "test accuracy (%)"]
    assert [panel.get_xlabel() for panel in panels] == ["", "labels per class", "labels per class"]


def test_what_was_not_run_is_marked_at_the_lower_edge() -> None:
    _, (panel,) = style.accuracy_panels(1, "x")
    style.mark_not_run(panel, [(3.0, style.BLUE), (3.0, style.GREEN), (5.0, style.BLUE)])
    crosses = [(line.get_xdata()[0], line.get_ydata()[0], line.get_marker()) for line in panel.lines]
    assert [(x, m) for x, _, m in crosses] == [(3.0, "x"), (3.0, "x"), (5.0, "x")]
    assert crosses[0][1] < crosses[1][1] < 0.2  # stacked
    assert crosses[2][1] == crosses[0][1]


def test_at_least_four_points_are_shown() -> None:
    _, (panel,) = style.accuracy_panels(1, "x")
    panel.plot([0, 1], [70.0, 70.1])
    style.limit_y(panel, [70.0, 70.1])
    low, high = panel.get_ylim()
    assert high - low == pytest.approx(4)


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(SettingError, match=r"a.pngs is not the name of a figure: it must end in .png, .pdf, .svg"):
        style.check_picture(Path("a.pngs"))
