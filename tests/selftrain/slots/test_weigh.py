"""Weights by hand, and when a run ends with which reason."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from drgst.selftrain.beliefs import Beliefs, PseudoLabels
from drgst.selftrain.history import History
from drgst.selftrain.slots.select import Threshold
from drgst.selftrain.slots.stop import Agreement, MaxStages, NoNewLabels, ValidationPlateau
from drgst.selftrain.slots.weigh import Anchored, InformationGain, Uniform


def test_uniform(beliefs) -> None:
    weights = Uniform()(beliefs, Threshold(0.5)(beliefs))
    np.testing.assert_array_equal(weights.true, np.ones(9))
    assert (weights.pseudo == 1).all()


@pytest.mark.parametrize("beta", [0.25, 1.0])
def test_information_gain_on_the_pseudo_labelled_only(beliefs, beta: float) -> None:
    """Mean over S_U alone: the gains of other nodes do not matter."""
    pseudo = Threshold(0.5)(beliefs)
    weights = InformationGain(beta)(beliefs, pseudo)
    np.testing.assert_array_equal(weights.true, np.ones(9))
    mine = beliefs.gain[pseudo.nodes].astype(np.float64)
    np.testing.assert_allclose(weights.pseudo, mine / (beta * mine.mean()), rtol=1e-6)
    others = beliefs.gain.copy()
    others[np.setdiff1d(np.arange(60), pseudo.nodes)] = 77.0
    again = InformationGain(beta)(replace(beliefs, gain=others), pseudo)
    np.testing.assert_array_equal(again.pseudo, weights.pseudo)


def test_as_released_on_true_and_pseudo_labels_alike(beliefs) -> None:
    pseudo = Threshold(0.5)(beliefs)
    weights = InformationGain(0.5, over_true=True)(beliefs, pseudo)
    both = np.concatenate([weights.true, weights.pseudo])
    assert both.mean() == pytest.approx(2.0)
    gain = beliefs.gain[np.concatenate([beliefs.split.train, pseudo.nodes])] + 1e-6
    np.testing.assert_allclose(both, gain / (0.5 * gain.mean()), rtol=1e-5)


@pytest.mark.parametrize("over_true", [False, True])
def test_all_gains_zero(beliefs, over_true: bool) -> None:
    """Nothing to tell the nodes apart: all count 1/β, none is lost and nothing is NaN."""
    flat = replace(beliefs, gain=np.zeros(60, dtype=np.float32))
    weights = InformationGain(0.5, over_true)(flat, Threshold(0.5)(flat))
    np.testing.assert_allclose(weights.pseudo, 2.0)
    np.testing.assert_allclose(weights.true, 2.0 if over_true else 1.0)


def test_anchored_by_hand(beliefs: Beliefs) -> None:
    """Gains 1 and 3 of mean 2: ½ + ½ · ½ and ½ + ½ · 1½; nine true labels share 0.3 of their sum of 2."""
    gain = np.zeros(60, dtype=np.float32)
    nodes = beliefs.split.pool[:2]
    gain[nodes] = [1, 3]
    weights = Anchored()(replace(beliefs, gain=gain), PseudoLabels(nodes, np.array([0, 1])))
    np.testing.assert_allclose(weights.pseudo, [0.75, 1.25])
    np.testing.assert_allclose(weights.true, np.full(9, 0.3 * 2 / 9))


def test_anchored_without_gain_or_where_all_gains_are_zero(beliefs: Beliefs) -> None:
    nodes = beliefs.split.pool[:6]
    pseudo = PseudoLabels(nodes, np.zeros(6, dtype=np.int64))
    alike = Anchored(share=0.5, gain=0)(beliefs, pseudo)
    np.testing.assert_allclose(alike.pseudo, 1)
    np.testing.assert_allclose(alike.true, 0.5 * 6 / 9)
    still = Anchored()(replace(beliefs, gain=np.zeros(60, dtype=np.float32)), pseudo)
    np.testing.assert_allclose(still.pseudo, 1)


@pytest.fixture
def some() -> PseudoLabels:
    """Four pseudo-labels."""
    return PseudoLabels.of(np.array([40, 41, 42, 43]), np.array([0, 1, 2, 0]))


@pytest.fixture
def with_losses(history: History, some: PseudoLabels) -> Callable[[list[float]], History]:
    """As many stages as losses, each with that validation loss and the same pseudo-labels."""

    def make(losses: list[float]) -> History:
        trainings = [replace(history[0].trainings[0], val_loss=loss) for loss in losses]
        stages = [replace(history[0], number=k, trainings=(t,), pseudo_labels=some) for k, t in enumerate(trainings)]
        return History(tuple(stages))

    return make


def test_the_number_of_stages(with_losses, some) -> None:
    three = with_losses([1.0, 1.0, 1.0])
    assert MaxStages(2)(three, some) == "all 2 stages are done"
    assert MaxStages(3)(three, some) is None
    assert MaxStages(0)(with_losses([1.0]), some) == "all 0 stages are done"


def test_no_pseudo_labels(history, some) -> None:
    assert NoNewLabels()(history, some) is None
    assert NoNewLabels()(history, PseudoLabels.empty()) == "no unlabelled node is pseudo-labelled"
    assert NoNewLabels("as it should be")(history, PseudoLabels.empty()) == "as it should be"


def test_agreement(with_losses, some) -> None:
    two = with_losses([1.0, 1.0])
    changed = PseudoLabels.of(some.nodes, np.array([1, 1, 2, 0]))
    assert Agreement()(two, some) == "converged: the pseudo-labels did not change"
    assert Agreement()(two, changed) is None
    assert Agreement(0.75)(two, changed) == "converged: 75.0% of the pseudo-labels did not change"
    assert Agreement(0.76)(two, changed) is None
    assert Agreement()(with_losses([1.0]), some) is None, "the teacher had no pseudo-labels"


@pytest.mark.parametrize(
    ("losses", "ends"),
    [([3, 2, 1], False), ([1, 2], False), ([1, 2, 3], True), ([3, 1, 2, 2], True), ([3, 1, 2, 0.5], False)],
)
def test_validation_plateau(with_losses, some, losses: list[float], ends: bool) -> None:
    reason = ValidationPlateau(2)(with_losses(losses), some)
    assert (reason is not None) == ends


def test_validation_plateau_without_validation_never_ends(with_losses, some) -> None:
    """A loss that is not known can't be said not to have fallen."""
    assert ValidationPlateau(1)(with_losses([float("nan")] * 4), some) is None
