"""Stated class shares: their text, and the shift of logits that gives predictions these shares."""

import numpy as np
import pytest

from drgst.errors import SettingError
from drgst.transforms.softmax import softmax
from drgst.uncertainty.calibration import PRIOR_STD
from drgst.uncertainty.class_prior import (
    class_shares,
    fit_temperature_under_prior,
    parse_shares,
    prior_shift,
    shares_text,
)

Z = np.random.default_rng(0).normal(scale=3, size=(400, 4))


@pytest.mark.parametrize(
    ("text", "shares"),
    [
        ("fraud=0.02", {"fraud": 0.02}),
        (" a = 0.25 ,b=.5", {"a": 0.25, "b": 0.5}),
        ("Neural nets, deep=0.1, x=y=2e-1", {"Neural nets, deep": 0.1, "x=y": 0.2}),
        ({"fraud": 0.02}, {"fraud": 0.02}),
        ("fraud=2%", {"fraud": 0.02}),
    ],
)
def test_shares_are_read_from_text_and_mappings(text: str, shares: dict[str, float]) -> None:
    assert parse_shares(text) == shares
    assert parse_shares(shares_text(shares)) == shares


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("fraud", "not a list of CLASS=SHARE"),
        ("", "not a list"),
        ("a=0.5, b", "not a list"),
        pytest.param("=" * 1_000_000, r"^the prior '={60}\.\.\.' is not a list", id="a million signs"),
        ("fraud=2 in 100", "must be a number"),
        ("fraud=0", "between 0 and 1"),
        ("fraud=nan", "between 0 and 1"),
        ("fraud=2", "between 0 and 1"),
        ("a=0.5, a=0.2", "given twice"),
        ("a=0.6, b=0.6", "above 1"),
        ({"fraud": None}, "must be a number"),
    ],
)
def test_bad_shares_are_refused(text: str, words: str) -> None:
    with pytest.raises(SettingError, match=words):
        parse_shares(text)


def test_shares_must_fit_the_classes() -> None:
    np.testing.assert_array_equal(class_shares({"b": 0.2}, ["a", "b"]), [np.nan, 0.2])
    with pytest.raises(SettingError, match="did you mean 'fraud'"):
        class_shares({"frad": 0.1}, ["fraud", "ok"])
    with pytest.raises(SettingError, match=r"adds up to 0\.3, not 1"):
        class_shares({"a": 0.1, "b": 0.2}, ["a", "b"])
    with pytest.raises(SettingError, match="leaves nothing"):
        class_shares({"a": 0.5, "b": 0.5}, ["a", "b", "c"])


def test_mean_probabilities_are_the_stated_shares() -> None:
    shares = np.array([0.01, 0.04, 0.15, 0.8])
    shift = prior_shift(Z, shares)
    np.testing.assert_allclose(softmax(Z + shift).mean(axis=0), shares, atol=1e-7)
    assert shift[0] == 0


def test_unstated_classes_keep_their_odds() -> None:
    shift = prior_shift(Z, np.array([np.nan, 0.02, np.nan, np.nan]))
    before, after = softmax(Z), softmax(Z + shift)
    np.testing.assert_allclose(after.mean(axis=0)[1], 0.02, atol=1e-7)
    np.testing.assert_array_equal(shift[[0, 2, 3]], 0)
    np.testing.assert_allclose(after[:, 0] / after[:, 2], before[:, 0] / before[:, 2])


@pytest.mark.parametrize("scale", [1, 50, 1000])
def test_certain_logits_get_the_share_as_well(scale: float) -> None:
    """A step function of 400 nodes: the share can be met up to half a node."""
    shift = prior_shift(scale * Z[:, :2], np.array([0.3, 0.7]))
    assert abs(softmax(scale * Z[:, :2] + shift).mean(axis=0)[0] - 0.3) < 0.5 / 400


@pytest.mark.parametrize("true", [0.5, 1.0, 2.0])
def test_the_temperature_is_that_of_the_nodes_and_not_of_the_balanced_labels(true: float) -> None:
    """Nodes of which 5 % are positive have logits z = T · log-odds; labels are drawn in equal numbers per class."""
    rng = np.random.default_rng(0)
    positive = rng.random(40_000) < 0.05
    evidence = rng.normal(np.where(positive, 3.0, -3.0), np.sqrt(6.0))  # its log-likelihood ratio is itself
    z = true * np.stack([np.zeros(positive.size), evidence], axis=1)
    picked = np.concatenate([np.flatnonzero(positive)[:400], np.flatnonzero(~positive)[:400]])
    rest = np.setdiff1d(np.arange(positive.size), picked)
    held_out = np.append(z[picked], [[np.nan, np.nan]], axis=0)
    labels = np.append(positive[picked].astype(int), 0)
    t = fit_temperature_under_prior(z[rest], np.array([0.95, 0.05]), held_out, labels)
    assert t == pytest.approx(true, rel=0.15)


def test_a_label_counts_by_the_share_of_its_class_over_its_number() -> None:
    """T = argmin Σ_i π_c / (M_c / M) CE_i + (log T)² / 2σ² on a grid, with 60 and 6 labels of the two classes."""
    rng, shares, labels = np.random.default_rng(1), np.array([0.3, 0.7]), np.repeat([0, 1], [60, 6])
    z, held_out = rng.normal(scale=2, size=(500, 2)), rng.normal(size=(66, 2))
    held_out[np.arange(60), 0] += 3.0  # the frequent class is right and certain, the other is guessed

    def loss(t: float) -> float:
        p = softmax(held_out / t + prior_shift(z / t, shares))[np.arange(66), labels]
        v = (shares / (np.array([60, 6]) / 66))[labels]
        return float(-(v * np.log(p)).sum() + np.log(t) ** 2 / (2 * PRIOR_STD**2))

    best = min(np.exp(np.linspace(-1.6, 1.6, 321)).tolist(), key=loss)
    assert best < 4.9
    assert fit_temperature_under_prior(z, shares, held_out, labels) == pytest.approx(best, rel=0.03)
