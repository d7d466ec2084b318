"""What was pseudo-labelled before stays, with its first label."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from drgst.selftrain.beliefs import Beliefs, PseudoLabels
from drgst.selftrain.engine import self_train
from drgst.selftrain.recipe import Recipe
from drgst.selftrain.select.accumulate import Accumulate
from drgst.selftrain.select.threshold import Threshold
from drgst.selftrain.select.top_per_class import TopPerClass
from drgst.selftrain.stop.max_stages import MaxStages


def test_the_rest_of_the_pool_is_selected_from(beliefs: Beliefs) -> None:
    first = TopPerClass(2)(beliefs)
    later = replace(beliefs, previous=first, logits=-beliefs.logits)
    both = Accumulate(TopPerClass(2))(later)
    kept = np.isin(both.nodes, first.nodes)
    np.testing.assert_array_equal(both.nodes[kept], first.nodes)
    np.testing.assert_array_equal(both.labels[kept], first.labels)
    np.testing.assert_array_equal(both.nodes[~kept], TopPerClass(2)(replace(later, excluded=first.nodes)).nodes)
    assert TopPerClass(2)(later).nodes.size < both.nodes.size, "without it, only the new ones"


def test_a_node_keeps_its_first_label(beliefs: Beliefs) -> None:
    pool = beliefs.split.pool
    first = PseudoLabels.of(pool, (beliefs.predictions[pool] + 1) % 3)
    again = Accumulate(Threshold(0.0))(replace(beliefs, previous=first))
    np.testing.assert_array_equal(again.labels, first.labels)


def test_stages_add_to_one_another(world) -> None:
    """A node stays though the inner part no longer selects it."""
    pool = world.split.pool
    calls = iter(range(10))

    def one_each(beliefs):  # type: ignore[no-untyped-def]
        return PseudoLabels.of(pool[[next(calls)]], np.array([1]))

    done = self_train(world.problem(), Recipe(select=Accumulate(one_each), stop=(MaxStages(2),)))
    np.testing.assert_array_equal(done[2].pseudo_labels.nodes, pool[:2])
    entered = done.entered(60, world.split.train)
    assert (entered[pool[0]], entered[pool[1]], entered[pool[2]]) == (1, 2, -1)
