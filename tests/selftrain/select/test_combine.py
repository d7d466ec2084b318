"""Parts that wrap parts: union, intersection, veto, alternatives; balance and products of weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from drgst.errors import SettingError
from drgst.selftrain.beliefs import Beliefs, PseudoLabels
from drgst.selftrain.engine import result_stage
from drgst.selftrain.history import History
from drgst.selftrain.select.combine import Agree, Alternatives, Intersection, Union
from drgst.selftrain.weigh.balance import ClassBalance, Product, balanced
from drgst.selftrain.weigh.information_gain import InformationGain


def fixed(nodes: list[int], labels: list[int]) -> Any:
    """A select part that always chooses the same."""
    return lambda _: PseudoLabels.of(np.array(nodes, np.int64), np.array(labels, np.int64))


A = fixed([30, 31, 32], [0, 1, 2])
B = fixed([31, 32, 33], [1, 0, 2])


def as_dict(pseudo: PseudoLabels) -> dict[int, int]:
    """Node -> label."""
    return dict(zip(pseudo.nodes.tolist(), pseudo.labels.tolist(), strict=True))


def test_union_keeps_the_first_word(beliefs: Beliefs) -> None:
    assert as_dict(Union(A, B)(beliefs)) == {30: 0, 31: 1, 32: 2, 33: 2}


def test_intersection_wants_the_same_class(beliefs: Beliefs) -> None:
    assert as_dict(Intersection(A, B)(beliefs)) == {31: 1}
    assert Intersection(A, fixed([], []))(beliefs).nodes.size == 0


def test_silence_is_consent(beliefs: Beliefs) -> None:
    assert as_dict(Agree(A, B)(beliefs)) == {30: 0, 31: 1}


def test_alternatives_go_by_the_stage(beliefs: Beliefs) -> None:
    part = Alternatives((A, B))
    assert part(replace(beliefs, next_stage=1)).nodes.tolist() == [30, 31, 32]
    assert part(replace(beliefs, next_stage=2)).nodes.tolist() == [31, 32, 33]


def test_alternatives_need_validation_nodes(beliefs: Beliefs) -> None:
    with pytest.raises(SettingError, match="validation nodes, and there are none"):
        Alternatives((A,))(replace(beliefs, split=beliefs.split.without_validation()))


def test_sts_keeps_the_best_student(world: Any) -> None:
    """Four students of one teacher; the result has the highest validation accuracy among them."""
    history = world.run("sts", top=3)
    assert history.stop_reason in ("all 4 stages are done", "no unlabelled node is trusted")
    assert len(history) >= 4
    best = result_stage(history, "best-student")
    assert best.number >= 1
    assert best.val_accuracy == max(s.val_accuracy for s in history.accepted[1:])


@pytest.mark.parametrize("done", [1, 3])
def test_sts_can_be_resumed(world: Any, same: Callable[[History, History], None], done: int) -> None:
    """Alternatives depend on the first teacher and their own number alone."""
    whole = world.run("sts", top=3)
    same(whole, world.run("sts", top=3, history=History(whole.stages[:done])))


def test_balance_by_hand(beliefs: Beliefs) -> None:
    """Three of class 0 and one of class 2: 4 / (2 · 3) each and 4 / (2 · 1); mean 1."""
    weights = balanced(np.array([0, 0, 0, 2]), 3)
    np.testing.assert_allclose(weights, [2 / 3, 2 / 3, 2 / 3, 2])
    assert balanced(np.empty(0, np.int64), 3).size == 0
    pseudo = PseudoLabels.of(np.array([30, 31, 32, 33]), np.array([0, 0, 0, 2]))
    made = ClassBalance()(beliefs, pseudo)
    np.testing.assert_allclose(made.pseudo, weights)
    assert (made.true == 1).all()


def test_product_multiplies(beliefs: Beliefs) -> None:
    pseudo = PseudoLabels.of(np.array([30, 31, 32, 33]), np.array([0, 0, 0, 2]))
    gain = InformationGain(0.5)(beliefs, pseudo)
    both = Product(ClassBalance(), InformationGain(0.5))(beliefs, pseudo)
    np.testing.assert_allclose(both.pseudo, gain.pseudo * [2 / 3, 2 / 3, 2 / 3, 2])
