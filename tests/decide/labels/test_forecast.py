"""The forecast: a known curve is found again, and labels that stop paying are named."""

from __future__ import annotations

import numpy as np
import pytest

import drgst
from drgst.decide.labels.forecast import Fit, extrapolate, forecast, power_law
from drgst.errors import RunError
from drgst.runs.config import RunConfig
from drgst.runs.run import Run


def fits(a: float, b: float) -> tuple[Fit, ...]:
    return tuple(Fit(m, 10_000, round(10_000 * (a + b / np.sqrt(m)))) for m in (10, 20, 40, 60))


def test_a_known_curve_is_found_again() -> None:
    m = np.array([10, 20, 40])
    (a, b), deviation = power_law(m, 0.1 + 0.8 / np.sqrt(m), np.full(3, 1e6))
    assert (a, b) == (pytest.approx(0.1, abs=0.01), pytest.approx(0.8, abs=0.01))
    assert deviation < 0.01
    assert power_law(m, 0.1 + 0.8 / np.sqrt(m), np.full(3, 1e-6))[0][1] == pytest.approx(0.5)  # the prior
    found = extrapolate(fits(0.1, 0.8), 4_000, (20, 100))
    gain, low, high = found.gains[100]
    assert gain == pytest.approx(0.8 * (4_000**-0.5 - 4_100**-0.5), rel=0.1)
    assert low < gain < high
    assert found.error == pytest.approx(0.1 + 0.8 / np.sqrt(4_000), abs=0.01)
    assert not found.pays
    assert extrapolate(fits(0.1, 0.8), 40, (20, 100)).pays


def test_labels_stop_paying() -> None:
    found = extrapolate(fits(0.2, 0.0), 2_000, (20, 100))
    assert not found.pays
    assert any("stop paying" in line for line in found.sentences())
    assert found.document()["pays"] is False


def test_of_a_run() -> None:
    graph = drgst.block_model(150, 500, seed=0, classes=3, features=40, words=6)
    run = Run.of(
        graph,
        RunConfig(recipe="drgst-plus", seed=0, settings={"stages": 1}),
        drgst.random_split(graph, per_class=6, val=0, test=30, seed=0),
    )
    found = forecast(run.execute(), (10,))
    assert found.labels == 18
    assert [fit.labels for fit in found.fits] == [3, 9, 12] * 3
    few = drgst.random_split(graph, per_class=2, val=0, test=30, seed=0)
    with pytest.raises(RunError, match="needs 12"):
        forecast(Run.of(graph, RunConfig(recipe="drgst-plus", seed=0, settings={"stages": 1}), few).execute())


def test_labels_that_are_tried_again_count_once() -> None:
    """More repeats of the same fits make no interval narrower; labels that no fit is tried on make it wider."""
    once = extrapolate(fits(0.1, 0.8), 40, (20,))
    again = extrapolate(fits(0.1, 0.8) * 5, 40, (20,))
    assert again.gains[20] == pytest.approx(once.gains[20])
    _, low, high = once.gains[20]
    _, lower, higher = extrapolate(fits(0.1, 0.8), 40, (20,), alone=20).gains[20]
    assert higher - lower > high - low
