"""What every backbone offers, and what a user's own module must offer."""

from __future__ import annotations

from typing import ClassVar, Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from drgst.nn.ops.adjacency import Adjacency
from drgst.nn.ops.sparse import SparseMatrix
from drgst.nn.random import Dropout

Hidden = Tensor | SparseMatrix


@runtime_checkable
class TwoPart(Protocol):
    """The protocol for a user's own ``nn.Module``: logits = head(hidden(X, A), A).

    ``hidden`` is everything before the last layer, ``head`` the last layer alone, which MC-dropout (drops
    entries of h) and MC-dropedge (drops edges of A) make random.
    """

    def hidden(self, x: Hidden, adj: Adjacency) -> Hidden:
        """(N, F) -> (N, D)."""
        ...

    def head(self, h: Hidden, adj: Adjacency) -> Tensor:
        """(N, D) -> (N, C) logits."""
        ...


class Backbone(nn.Module):
    """logits = head(dropout(hidden(X, A)), A).

    ``depth`` is the number of hops a node's logits depend on (None: all), which lets the training leave out
    the rest of the graph. ``random_hidden`` says that ``hidden`` itself drops things in training, so that the
    evaluation can't share its work. ``estimators`` are the ways of making the last layer random that make
    sense for it.
    """

    depth: int | None = None
    random_hidden: ClassVar[bool] = False
    estimators: ClassVar[frozenset[str]] = frozenset({"dropout", "dropedge"})
    recommended: ClassVar[dict[str, float]] = {}  # settings of the training, where its paper differs

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
    """Mark and parts of a last layer of the form 𝔑(A) (H W) + b, for which closed forms of the gain exist."""

    weight2: nn.Parameter  # W, (D, C)
    bias2: nn.Parameter  # b, (C,)

    def mix(self, h: Hidden) -> Tensor:
        """M = H W, (N, C): what dropedge leaves fixed."""
        raise NotImplementedError


def glorot(*shape: int) -> nn.Parameter:
    """W ~ U(-a, a) with a = sqrt(6 / (fan_in + fan_out))."""
    weight = torch.empty(*shape)
    nn.init.xavier_uniform_(weight)
    return nn.Parameter(weight)


def uniform(*shape: int) -> nn.Parameter:
    """W ~ U(-a, a) with a = 1 / sqrt(fan_out): the published program's start."""
    bound = 1.0 / shape[-1] ** 0.5
    return nn.Parameter(torch.empty(*shape).uniform_(-bound, bound))
