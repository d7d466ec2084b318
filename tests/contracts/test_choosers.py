"""Every chooser: n different candidates, with or without predictions, the same for the same seed."""

import numpy as np
import pytest

from drgst.decide.labels.registry import find_chooser
from drgst.decide.labels.state import LabelState, choose
from drgst.errors import SettingError
from drgst.lab.simulate import CURVE_CHOOSERS
from drgst.transforms.softmax import softmax

NODES, CLASSES = 60, 3


def state(seed: int = 0, predicted: bool = True, equal: bool = False) -> LabelState:
    """60 nodes, of which every third is labelled and every fifth no candidate."""
    rng = np.random.default_rng(seed)
    z = np.ones((NODES, 4)) if equal else rng.standard_normal((NODES, 4))
    labelled = np.arange(0, NODES, 3) if predicted else np.empty(0, np.int64)
    free = np.setdiff1d(np.arange(NODES), labelled)
    p = softmax(2 * rng.standard_normal((NODES, CLASSES))) if predicted else None
    gain = rng.random(NODES) if predicted else None
    return LabelState(z, free[free % 5 != 1], labelled, np.random.default_rng(7), p, gain)


@pytest.mark.parametrize("name", CURVE_CHOOSERS)
@pytest.mark.parametrize("predicted", [True, False])
@pytest.mark.parametrize("n", [1, 4, 13])
def test_different_candidates(name: str, predicted: bool, n: int) -> None:
    given = state(predicted=predicted)
    found = choose(CURVE_CHOOSERS[name].chooser, given, n)
    assert len(set(found.nodes.tolist())) == n
    assert np.isin(found.nodes, given.candidates).all()
    drawn = found.probability[np.isfinite(found.probability)]
    assert ((drawn > 0) & (drawn <= 1)).all()


@pytest.mark.parametrize("name", CURVE_CHOOSERS)
def test_equal_representations(name: str) -> None:
    given = state(equal=True)
    assert len(set(choose(CURVE_CHOOSERS[name].chooser, given, 6).nodes.tolist())) == 6


@pytest.mark.parametrize("name", CURVE_CHOOSERS)
def test_same_seed_same_nodes(name: str) -> None:
    first, again = (choose(CURVE_CHOOSERS[name].chooser, state(), 5).nodes for _ in "ab")
    np.testing.assert_array_equal(first, again)


@pytest.mark.parametrize("name", CURVE_CHOOSERS)
def test_all_where_there_are_no_more(name: str) -> None:
    given = state()
    np.testing.assert_array_equal(choose(CURVE_CHOOSERS[name].chooser, given, 1000).nodes, given.candidates)


def test_refused() -> None:
    with pytest.raises(SettingError, match="at least 1"):
        choose(find_chooser("random").chooser, state(), 0)
    with pytest.raises(SettingError, match="margin"):
        find_chooser("margn")
