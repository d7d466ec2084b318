"""Claims on the threshold and on β."""

from __future__ import annotations

import pytest

from drgst.lab.claims import sweeps
from drgst.lab.figures.sweep import Line

FALLING = Line("drgst-de", 3, {0.4: {0: 0.8, 1: 0.7, 2: 0.9}, 0.7: {0: 0.77, 1: 0.66, 2: 0.865}})
RISING = Line("drgst-do", 3, {0.4: {0: 0.7, 1: 0.7, 2: 0.7}, 0.7: {0: 0.8, 1: 0.81, 2: 0.82}})


def test_a_falling_line_holds_and_a_rising_one_refutes() -> None:
    claim = sweeps.threshold([FALLING], "cora")
    assert claim.verdict == "held"
    assert str(claim.effects[0]).startswith("0.1 more of τ on cora: -1.17 points")
    assert claim.remarks == ["drgst-de, 3 labels per class: 80.0 at 0.4, 76.5 at 0.7; best at 0.4."]
    assert sweeps.beta([RISING], "cora").verdict == "refuted"
    assert sweeps.beta([], "cora").verdict == "not run"


def test_lines_of_one_draw_count_as_one_value() -> None:
    slopes = sweeps.mean_slopes([FALLING, RISING])
    assert len(slopes) == 3
    assert slopes[0] == pytest.approx((-0.03 + 0.1) / 0.3 / 2)
