"""The teacher is not a stage of its own."""

from __future__ import annotations

from drgst.selftrain.stop.max_stages import MaxStages


def test_the_number_of_stages(with_losses, some) -> None:
    three = with_losses([1.0, 1.0, 1.0])
    assert MaxStages(2)(three, some) == "all 2 stages are done"
    assert MaxStages(3)(three, some) is None
    assert MaxStages(0)(with_losses([1.0]), some) == "all 0 stages are done"
