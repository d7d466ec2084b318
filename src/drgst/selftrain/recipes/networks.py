"""Networks alone: no self-training, S_U = ∅."""

from __future__ import annotations

from drgst.selftrain.recipe import Recipe
from drgst.selftrain.recipes.registry import recipe
from drgst.selftrain.settings import Settings


@recipe("gcn", "GCN alone, no self-training", "Kipf, Welling, ICLR 2017", backbone="gcn", stages=0)
def gcn(settings: Settings) -> Recipe:  # noqa: ARG001
    """logits = Â ReLU(Â X W₁) W₂, trained on V_L only: the teacher of every other recipe."""
    return Recipe()
