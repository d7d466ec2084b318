"""The toy: densities, their ratio, and what self-training by confidence does to them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from drgst.lab.figures.toy import BANDWIDTH, SIGMA, Toy, gaussian, grid, kernel_density, ratio


def test_densities_integrate_to_one() -> None:
    places, area = grid(3, 121), (6 / 120) ** 2
    points = np.array([[0.0, 0.0], [0.5, -0.5]])
    assert kernel_density(points, places, 0.2).sum() * area == pytest.approx(1, abs=1e-3)
    assert gaussian(places, 0.3).sum() * area == pytest.approx(1, abs=1e-3)
    assert kernel_density(np.empty((0, 2)), places[:3], 0.2).tolist() == [0, 0, 0]


def test_pseudo_labels_lie_near_the_centre_and_gamma_falls_there(toy: Toy) -> None:
    assert toy.pseudo_labelled.shape == (100, 2)
    assert toy.labelled.shape == (100, 2)
    assert toy.gain.shape == (100,)
    assert toy.accuracy > 0.9
    far, near = (np.median(np.linalg.norm(part, axis=1)) for part in (toy.labelled, toy.pseudo_labelled))
    assert near < far
    centre, edge = toy.gamma(np.array([[0.0, 0.0], [0.6, 0.0]]))
    assert centre < 1 < edge <= 2  # at most (n + m) / n


def test_without_pseudo_labels_there_is_no_shift(toy: Toy) -> None:
    bare = replace(toy, pseudo_labelled=np.empty((0, 2)))
    places = grid(0.5, 5)
    assert bare.gamma(places) == pytest.approx(np.ones(25))
    assert bare.population(places) == pytest.approx(gaussian(places, float(np.hypot(SIGMA, BANDWIDTH))))


def test_the_grid_covers_the_square() -> None:
    assert grid(1, 2).tolist() == [[-1, -1], [1, -1], [-1, 1], [1, 1]]


def test_the_ratio_is_not_shown_where_the_density_is_negligible(toy: Toy) -> None:
    shown = ratio(toy, half=2, steps=21)
    assert np.isnan(shown[0, 0])
    assert shown[10, 10] < 1
