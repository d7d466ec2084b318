"""What every weigh part keeps to, also a user's own."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from drgst.selftrain.beliefs import Beliefs, PseudoLabels
from drgst.selftrain.checks import check_weights
from drgst.selftrain.parts import Anchored, InformationGain, Threshold, Uniform
from drgst.selftrain.slots.weigh import Weights


def by_confidence(beliefs: Beliefs, pseudo: PseudoLabels) -> Weights:
    """A user's function."""
    return Weights(np.ones(beliefs.split.train.size), beliefs.confidence[pseudo.nodes])


@dataclass(frozen=True)
class SquaredGain:
    """A user's part that decides by information gain."""

    requires: ClassVar[frozenset[str]] = frozenset({"gain"})

    def __call__(self, beliefs: Beliefs, pseudo: PseudoLabels) -> Weights:
        return Weights(np.ones(beliefs.split.train.size), beliefs.gain[pseudo.nodes] ** 2)


SLOT = "weigh"
OURS = (Uniform(), InformationGain(0.5), InformationGain(0.5, over_true=True), Anchored())
OWN = (by_confidence, SquaredGain())


def test_one_finite_weight_for_every_node(part: Any, beliefs: Beliefs) -> None:
    """For many pseudo-labels, one and none, and where every gain is zero."""
    some = Threshold(0.5)(beliefs)
    zero = replace(beliefs, gain=np.zeros_like(beliefs.gain))
    for pseudo in (some, PseudoLabels(some.nodes[:1], some.labels[:1]), PseudoLabels.empty()):
        for given in (beliefs, zero):
            check_weights(part(given, pseudo), given, pseudo)


def test_weights_depend_on_beliefs_alone(part: Any, beliefs: Beliefs, world: Any) -> None:
    """Not on hidden labels; and they are always the same."""
    pseudo = Threshold(0.5)(beliefs)
    shown = replace(beliefs, graph=beliefs.graph.with_(labels=world.graph.labels))
    expected = part(beliefs, pseudo)
    for given in (beliefs, shown):
        made = part(given, pseudo)
        np.testing.assert_array_equal(made.true, expected.true)
        np.testing.assert_array_equal(made.pseudo, expected.pseudo)


def test_gain_is_declared_where_it_is_read(part: Any, beliefs: Beliefs) -> None:
    from drgst.selftrain.recipe import Recipe

    pseudo = Threshold(0.5)(beliefs)
    other = replace(beliefs, gain=beliefs.gain[::-1].copy())
    reads = not np.array_equal(part(beliefs, pseudo).pseudo, part(other, pseudo).pseudo)
    assert reads == ("gain" in Recipe(weigh=part).requires)
