"""Base classes of the networks, and the protocol for a user's own module."""

from __future__ import annotations

from typing import ClassVar, Protocol, runtime_checkable

from torch import Tensor, nn

from drgst.errors import SettingError
from drgst.nn.ops.adjacency import Adjacency
from drgst.nn.ops.linear import Linear
from drgst.nn.ops.sparse import Hidden
from drgst.nn.random import Dropout


@runtime_checkable
class TwoPart(Protocol):
    """The protocol for a user's own ``nn.Module``: logits = head(hidden(X, A), A).

    ``hidden`` is everything before the last layer and ``head`` is the last layer. MC-dropout drops entries of h and
    MC-dropedge drops edges of A in ``head``.
    """

    def hidden(self, x: Hidden, adj: Adjacency) -> Hidden:
        """(N, F) -> (N, D)."""
        ...

    def head(self, h: Hidden, adj: Adjacency) -> Tensor:
        """(N, D) -> (N, C) logits."""
        ...


class Backbone(nn.Module):
    """logits = head(dropout(hidden(X, A)), A)."""

    depth: int | None = None  # hops that the logits of a node depend on, None for all: a training uses these nodes only
    one_hop_layers: ClassVar[bool] = (
        False  # whether ``hidden`` and ``head`` multiply by A once each, and in no other way use it
    )
    random_hidden: ClassVar[bool] = False  # whether ``hidden`` has dropout; if not, evaluation and training share it
    estimators: ClassVar[frozenset[str]] = frozenset({"dropout", "dropedge"})  # supported noise in the last layer
    recommended: ClassVar[dict[str, float]] = {}  # training settings of its paper that differ from the defaults

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


class LinearHead:
    """A last layer 𝔑(A) (H W) + b, for which closed forms of the information gain exist."""

    weight2: nn.Parameter  # W, (D, C)
    bias2: nn.Parameter  # b, (C,)

    def product(self, h: Hidden) -> Tensor:
        """M = H W, (N, C), which dropedge does not change."""
        raise NotImplementedError


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
        """σ(layer₁(dropout(X), A)), (N, D)."""
        return self.first(self.input_drop(x), adj).relu_()

    def head(self, h: Hidden, adj: Adjacency) -> Tensor:
        """layer₂(H, A), (N, C)."""
        return self.last(h, adj)


class MLP(InputDropout):
    """M = dropout(ReLU(dropout(X) W₁ + b₁)) W₂ + b₂, (N, C), which the ``head`` of a subclass propagates."""

    def __init__(self, features: int, classes: int, hidden: int, dropout: float, start: str) -> None:
        super().__init__(dropout)
        self.first = Linear(features, hidden, start)
        self.last = Linear(hidden, classes, start)

    def hidden(self, x: Hidden, _adj: Adjacency) -> Tensor:
        """ReLU(dropout(X) W₁ + b₁), (N, D)."""
        return self.first(self.input_drop(x)).relu_()


def check_positive(name: str, value: int) -> None:
    """Raise :class:`SettingError` if the integer setting ``name`` is below 1."""
    if value < 1:
        raise SettingError(f"{name} is {value} (allowed: 1 or more)")
