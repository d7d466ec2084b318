"""A user's own parts that hand back nonsense are refused in one sentence, and gain is exact wherever a part uses it."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from torch import nn

from drgst.errors import SettingError
from drgst.nn.networks import Backbone
from drgst.recipes import find_recipe
from drgst.selftrain.beliefs import PseudoLabels
from drgst.selftrain.engine import self_train
from drgst.selftrain.learners.network import Network
from drgst.selftrain.recipe import Recipe
from drgst.selftrain.slots.calibrate import Temperature
from drgst.selftrain.slots.postprocess import Calibrated
from drgst.selftrain.slots.select import Threshold
from drgst.selftrain.slots.stop import MaxStages
from drgst.selftrain.slots.weigh import InformationGain, Uniform, Weights


def run(world, **parts):  # type: ignore[no-untyped-def]
    return self_train(world.problem(), Recipe(stop=(MaxStages(1),), **{"select": Threshold(0.4), **parts}))


@pytest.mark.parametrize(
    ("places", "labels", "message"),
    [
        ([0, 0], [0, 1], "returned node 39 more than once"),
        ([0], [7], r"returned label 7 \(allowed: 0 to 2\)"),
        ([0], [-1], r"returned label -1 \(allowed: 0 to 2\)"),
    ],
)
def test_a_strange_choice(world, places: list[int], labels: list[int], message: str) -> None:
    pseudo = PseudoLabels(world.split.pool[places], np.array(labels))
    with pytest.raises(SettingError, match=f"the select part {message}"):
        run(world, select=lambda _: pseudo)


def test_arrays_instead_of_pseudo_labels_or_weights(world) -> None:
    with pytest.raises(
        SettingError, match=r"the select part returned a ndarray \(allowed: PseudoLabels\(nodes, labels\)"
    ):
        run(world, select=lambda beliefs: beliefs.split.pool[:2])
    with pytest.raises(SettingError, match=r"the weigh part returned a ndarray \(allowed: Weights\(true, pseudo\)"):
        run(world, weigh=lambda _, pseudo: np.ones(pseudo.nodes.size))


def test_more_nodes_than_labels(world) -> None:
    pseudo = PseudoLabels(world.split.pool[:2], np.array([1]))
    with pytest.raises(SettingError, match="returned 1 labels for 2 nodes"):
        run(world, select=lambda _: pseudo)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -1.0])
def test_a_strange_weight(world, bad: float) -> None:
    def weigh(beliefs, pseudo):  # type: ignore[no-untyped-def]
        return Weights(np.ones(9), np.where(np.arange(pseudo.nodes.size) == 1, bad, 1.0))

    with pytest.raises(
        SettingError, match=rf"returned the weight {bad} for pseudo-labelled node \d+ \(allowed: finite, from 0\)"
    ):
        run(world, weigh=weigh)


def test_too_few_weights(world) -> None:
    with pytest.raises(SettingError, match="returned 1 weights for 9 training nodes"):
        run(world, weigh=lambda _, pseudo: Weights(np.ones(1), np.ones(pseudo.nodes.size)))


@dataclass(frozen=True)
class Halved:
    """A part around a part."""

    inner: object

    def __call__(self, beliefs, pseudo):  # type: ignore[no-untyped-def]
        weights = self.inner(beliefs, pseudo)
        return replace(weights, pseudo=weights.pseudo / 2)


def test_what_parts_require_however_wrapped() -> None:
    def own(beliefs, pseudo):  # type: ignore[no-untyped-def]
        return InformationGain(0.5)(beliefs, pseudo)

    assert "gain" not in Recipe(weigh=own).requires
    own.requires = {"gain"}
    for weigh in (own, Halved(own), InformationGain(0.5), Halved(Halved(InformationGain(0.5)))):
        assert Recipe(weigh=weigh).requires == {"gain"}
    assert not Recipe(weigh=Halved(Uniform())).requires
    assert not find_recipe("drgst-de-wo").make(find_recipe("drgst-de-wo").settings()).requires
    assert Recipe(calibrate=Temperature(), weigh=InformationGain(0.5)).requires == {"gain", "validation"}
    assert Recipe(postprocess=(Calibrated(Temperature()),)).requires == {"validation"}


def test_gain_is_the_one_asked_for_where_a_part_uses_it(world) -> None:
    """Sampled as the settings say, not the cheap estimate that others report."""
    used, told = run(world, weigh=InformationGain(0.5)), run(world)
    named = world.run("drgst-de", stages=1)
    np.testing.assert_array_equal(used[0].all_gain, named[0].all_gain)
    assert (told[0].all_gain != used[0].all_gain).any()


class Deaf(Backbone):
    """A network that permits no estimate of the gain."""

    estimators = frozenset()

    def __init__(self, features: int, classes: int) -> None:
        super().__init__(0.5)
        self.first, self.last = nn.Linear(features, 4), nn.Linear(4, classes)

    def hidden(self, x, adj):  # type: ignore[no-untyped-def]
        return self.first(x).relu()

    def head(self, h, adj):  # type: ignore[no-untyped-def]
        return self.last(h)


@pytest.mark.parametrize(
    ("given", "message"),
    [(np.zeros((60, 2)), r"shape \(60, 2\) \(allowed: \(60, 3\)\)"), (np.full((60, 3), np.nan), "finite")],
)
def test_strange_logits(world, given: np.ndarray, message: str) -> None:
    with pytest.raises(SettingError, match=f"the postprocess part returned logits .*{message}"):
        run(world, postprocess=(lambda _logits, _context: given,))


def test_a_network_without_gain_is_refused_where_gain_decides(world) -> None:
    """… and has gain NaN, reported as unknown, where it does not."""
    with pytest.raises(SettingError, match="Deaf has no last layer for gain"):
        run(world, weigh=InformationGain(0.5), learner=Network(Deaf))
    assert np.isnan(run(world, learner=Network(Deaf))[0].all_gain).all()
