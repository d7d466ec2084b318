"""Information gain by Monte-Carlo: T random last layers, streamed (Eq. dropout_p and Eq. dropedge_p)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch import Tensor

from drgst.nn.inputs import Inputs
from drgst.nn.models.base import Backbone, Hidden, LinearHead
from drgst.nn.ops.adjacency import Adjacency
from drgst.nn.random import drop
from drgst.uncertainty.entropy import GainStream


@torch.no_grad()
def sampled_gain(
    network: Backbone, inputs: Inputs, kind: str, rate: float, samples: int, rng: np.random.Generator
) -> np.ndarray:
    """B from ``samples`` draws of dropout, dropedge or both on the last layer, (N,) float32."""
    network.eval()
    h = network.hidden(inputs.x, inputs.adj)
    stream: GainStream | None = None
    for logits in _draws(network, h, inputs.adj, kind, rate, samples, rng):
        if stream is None:
            stream = GainStream(logits.shape[0], logits.shape[1], logits.device)
        stream.add(logits.softmax(dim=1))
    assert stream is not None
    return stream.gain.cpu().numpy().astype(np.float32)


def _draws(
    network: Backbone, h: Hidden, adj: Adjacency, kind: str, rate: float, samples: int, rng: np.random.Generator
) -> Iterator[Tensor]:
    head: Callable[..., Tensor] = network.head
    if isinstance(network, LinearHead) and kind == "dropedge":
        yield from _reweighted(network, network.mix(h), adj, rate, samples, rng)
        return
    for _ in range(samples):
        dropped = drop(h, rate, rng) if kind in ("dropout", "both") and rate else h
        graph = adj.drop(rate, rng) if kind in ("dropedge", "both") and rate else adj
        yield head(dropped, graph)


def _reweighted(
    network: LinearHead, mixed: Tensor, adj: Adjacency, rate: float, samples: int, rng: np.random.Generator
) -> Iterator[Tensor]:
    """D̃_Z^-½ (A ∘ Z + I) D̃_Z^-½ M + b without building a matrix: Z M̃ + M̃, scaled on both sides, M̃ = D̃_Z^-½ M."""
    for _ in range(samples):
        sampled = adj.drop(rate, rng) if rate else adj
        kept = sampled.form("plain")
        degree = 1.0 + np.add.reduceat(np.append(kept.scipy.data, 0.0), kept.scipy.indptr[:-1], dtype=np.float64) * (
            np.diff(kept.scipy.indptr) > 0
        )
        scale = torch.from_numpy((degree**-0.5).astype(np.float32)).to(mixed.device).unsqueeze(1)
        inner = scale * mixed
        yield scale * (kept @ inner + inner) + network.bias2
