"""Parts that combine two others: union, intersection, agreement."""

from __future__ import annotations

from typing import Any

import numpy as np

from drgst.selftrain.beliefs import Beliefs, PseudoLabels
from drgst.selftrain.select.combine import Agree, Intersection, Union


def fixed(nodes: list[int], labels: list[int]) -> Any:
    """A select part that always gives the same."""
    return lambda _: PseudoLabels.of(np.array(nodes, np.int64), np.array(labels, np.int64))


A = fixed([30, 31, 32], [0, 1, 2])
B = fixed([31, 32, 33], [1, 0, 2])


def as_dict(pseudo: PseudoLabels) -> dict[int, int]:
    """Node -> label."""
    return dict(zip(pseudo.nodes.tolist(), pseudo.labels.tolist(), strict=True))


def test_union_keeps_the_label_of_the_first(beliefs: Beliefs) -> None:
    assert as_dict(Union(A, B)(beliefs)) == {30: 0, 31: 1, 32: 2, 33: 2}


def test_intersection_needs_the_same_class(beliefs: Beliefs) -> None:
    assert as_dict(Intersection(A, B)(beliefs)) == {31: 1}
    assert Intersection(A, fixed([], []))(beliefs).nodes.size == 0


def test_agree_leaves_out_other_classes_only(beliefs: Beliefs) -> None:
    assert as_dict(Agree(A, B)(beliefs)) == {30: 0, 31: 1}
