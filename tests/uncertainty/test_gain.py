"""The door to the gain: what is refused, what is cheapest, and the limits."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from drgst.errors import SettingError
from drgst.nn.models.base import Backbone
from drgst.nn.random import generator
from drgst.uncertainty.gain import GainSettings, cheapest, check_supported, gain_of


class Mlp(Backbone):
    """No graph in its last layer: dropedge means nothing to it."""

    estimators = frozenset({"dropout"})

    def __init__(self) -> None:
        super().__init__(0.5)
        self.first, self.last = nn.Linear(5, 4), nn.Linear(4, 3)

    def hidden(self, x, adj):  # type: ignore[no-untyped-def]
        return self.first(x).relu()

    def head(self, h, adj):  # type: ignore[no-untyped-def]
        return self.last(h)


class Deaf(Mlp):
    """Permits no estimate at all."""

    estimators = frozenset()


@pytest.mark.parametrize("kind", ["dropedge", "both"])
def test_unsupported_kind_names_the_network_and_what_it_supports(kind: str) -> None:
    with pytest.raises(SettingError, match=rf"Mlp .* {kind} \(it supports: dropout\)"):
        check_supported(Mlp(), GainSettings(kind))
    with pytest.raises(SettingError, match="it supports: none"):
        check_supported(Deaf(), GainSettings("dropout"))


def test_unsupported_estimator_names_the_way_out() -> None:
    with pytest.raises(SettingError, match=r"Mlp has no closed form.*estimator=sampled"):
        check_supported(Mlp(), GainSettings("dropout", estimator="closed"))


def test_supported_ones_pass(weighted) -> None:
    for kind in ("dropout", "dropedge", "both"):
        for estimator in ("sampled", "closed"):
            check_supported(weighted.network, GainSettings(kind, estimator=estimator))
    check_supported(Mlp(), GainSettings("dropout"))


def test_sampling_works_for_any_two_part_network(weighted) -> None:
    """Dropout needs nothing but hidden and head."""
    torch.manual_seed(0)
    gain = gain_of(Mlp(), weighted.inputs, GainSettings("dropout", 0.5, 50), generator(0))
    assert gain.shape == (60,)
    assert (gain > 0).sum() > 50


def test_cheapest(weighted) -> None:
    """Closed where there is a closed form, else at most 20 samples of a kind that works, else None."""
    asked = GainSettings("dropedge", samples=100)
    assert cheapest(weighted.network, asked).estimator == "closed"
    found = cheapest(Mlp(), asked)
    assert (found.kind, found.estimator, found.samples) == ("dropout", "sampled", 20)
    assert cheapest(Deaf(), asked) is None


@pytest.mark.parametrize("estimator", ["sampled", "closed"])
def test_gain_is_finite_never_negative_and_grows_with_the_rate(weighted, estimator: str) -> None:
    for kind in ("dropout", "dropedge", "both"):
        means = []
        for rate in (0.05, 0.2, 0.5):
            gain = gain_of(weighted.network, weighted.inputs, GainSettings(kind, rate, 200, estimator), generator(0))
            assert gain.dtype == np.float32
            assert np.isfinite(gain).all()
            assert (gain >= 0).all()
            means.append(gain.mean())
        assert means[0] < means[1] < means[2]


@pytest.mark.parametrize("estimator", ["sampled", "closed"])
def test_a_node_without_edges_gains_by_dropout_only(weighted, estimator: str) -> None:
    settings = [GainSettings(kind, 0.3, 100, estimator) for kind in ("dropedge", "dropout")]
    edges, features = (gain_of(weighted.network, weighted.inputs, s, generator(0))[59] for s in settings)
    assert edges == pytest.approx(0, abs=1e-6)
    assert features > 1e-5
