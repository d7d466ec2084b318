"""An empty S_U ends a run, with the reason that the recipe gives."""

from __future__ import annotations

from drgst.selftrain.beliefs import PseudoLabels
from drgst.selftrain.stop.no_new_labels import NoNewLabels


def test_no_pseudo_labels(history, some) -> None:
    assert NoNewLabels()(history, some) is None
    assert NoNewLabels()(history, PseudoLabels.empty()) == "no unlabelled node is pseudo-labelled"
    assert NoNewLabels("as it should be")(history, PseudoLabels.empty()) == "as it should be"
