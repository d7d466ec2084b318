"""Base classes of the networks."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor, nn

from drgst.nn.ops.adjacency import Adjacency
from drgst.nn.ops.dropout import Dropout
from drgst.nn.ops.linear import Linear
from drgst.nn.ops.sparse import Hidden


class Backbone(nn.Module):
    """logits = head(dropout(hidden(X, A)), A): ``head`` is the last layer and ``hidden`` everything before it.

    MC-dropout drops entries of h = hidden(X, A), and MC-dropedge drops edges of A in ``head``. A user's own module that
    has the methods ``hidden`` and ``head`` need not derive from it.
    """

    depth: int | None = None  # hops that the logits of a node depend on, None for all: a training uses these nodes only
    one_hop_layers: ClassVar[bool] = False  # whether ``hidden`` and ``head`` use A in one product each
    random_hidden: ClassVar[bool] = False  # whether ``hidden`` has dropout; if not, evaluation and training share it
    estimators: ClassVar[frozenset[str]] = frozenset({"dropout", "dropedge"})  # supported noise in the last layer

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


class TwoLayers(InputDropout):
    """logits = layer₂(dropout(σ(layer₁(dropout(X), A))), A) with σ = ReLU; a subclass makes the two layers."""

    first: nn.Module
    last: nn.Module

    def hidden(self, x: Hidden, adj: Adjacency) -> Tensor:
        return self.first(self.input_drop(x), adj).relu_()

    def head(self, h: Hidden, adj: Adjacency) -> Tensor:
        return self.last(h, adj)


class MLP(InputDropout):
    """M = dropout(ReLU(dropout(X) W₁ + b₁)) W₂ + b₂, (N, C), which the ``head`` of a subclass propagates."""

    def __init__(
        self, features: int, classes: int, hidden: int = 64, dropout: float = 0.5, start: str = "glorot"
    ) -> None:
        super().__init__(dropout)
        self.first = Linear(features, hidden, start)
        self.last = Linear(hidden, classes, start)

    def hidden(self, x: Hidden, _adj: Adjacency) -> Tensor:
        return self.first(self.input_drop(x)).relu_()
