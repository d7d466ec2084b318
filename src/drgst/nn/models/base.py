"""Base classes of the networks."""

from __future__ import annotations

from typing import Any, ClassVar

from torch import Tensor, nn

from drgst.nn.ops.adjacency import Adjacency
from drgst.nn.ops.dropout import Dropout
from drgst.nn.ops.sparse import Hidden


class Backbone(nn.Module):
    """logits = head(dropout(hidden(X, A)), A): ``head`` is the last layer and ``hidden`` everything before it.

    MC-dropout drops entries of h = hidden(X, A), and MC-dropedge drops edges of A in ``head``.
    """

    depth: int | None = None  # hops that the logits of a node depend on, None for all: a training uses these nodes only
    one_hop_layers: ClassVar[bool] = False  # whether ``hidden`` and ``head`` use A in one product each
    random_hidden: ClassVar[bool] = False  # whether ``hidden`` has dropout; if not, evaluation and training share it
    estimators: ClassVar[frozenset[Any]] = frozenset({"dropout", "dropedge"})  # supported noise in the last layer

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.drop = Dropout(dropout)

    def hidden(self, x: Hidden, adj: Adjacency) -> Hidden:
        """Everything before the last layer, (N, D)."""
        raise NotImplementedError

    def head(self, h: Hidden, adj: Adjacency) -> Tensor:
        """The last layer, (N, C) logits."""
        raise NotImplementedError

    def forward(self, x: Hidden, adj: Adjacency) -> Tensor:
        """(N, C) logits, with dropout before the last layer in training."""
        return self.head(self.drop(self.hidden(x, adj)), adj)


class InputDropout(Backbone):
    """A backbone with dropout on the features, too: logits = head(dropout(hidden(dropout(X), A)), A)."""

    random_hidden: ClassVar[bool] = True

    def __init__(self, dropout: float) -> None:
        super().__init__(dropout)
        self.input_drop = Dropout(dropout)
