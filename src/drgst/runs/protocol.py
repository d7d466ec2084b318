"""The draws of the paper's protocol: every recipe is compared on the same splits."""

from __future__ import annotations

from typing import Literal

from drgst.errors import SettingError
from drgst.graph.core import Graph
from drgst.graph.default_split import draw_split
from drgst.graph.split import Pool, Split

Validation = Literal["public", "none"]
VALIDATIONS: tuple[Validation, ...] = ("public", "none")


def draw(graph: Graph, per_class: int, number: int, pool: Pool, validation: Validation) -> Split:
    """The split of draw d with ``per_class`` training labels per class. The seed of its training is also d.

    On a data set of the paper they are drawn from the 20 public ones per class; at 20 all draws have the public split
    and differ by seed only. Validation and test nodes are the public ones; ``validation="none"`` moves the validation
    nodes to the pool and hides their labels.
    """
    if validation not in VALIDATIONS:
        raise SettingError(f"validation is {validation!r}, but must be one of: {', '.join(VALIDATIONS)}")
    split = draw_split(graph, per_class, number, pool)
    return split if validation == "public" else split.without_validation()
