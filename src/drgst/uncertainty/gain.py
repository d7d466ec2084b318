"""Information gain of a network: Monte-Carlo estimates, the closed form, and the choice of the estimator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from drgst.errors import SettingError
from drgst.nn.inputs import Inputs
from drgst.nn.networks import GCN, Backbone
from drgst.nn.ops.adjacency import Adjacency
from drgst.nn.ops.layers import drop
from drgst.nn.ops.sparse import Hidden, thin_product
from drgst.nn.pyg_module import PyGModule
from drgst.nn.random import seeded_torch
from drgst.uncertainty.dropedge import dropedge_gain

Kind = Literal["dropout", "dropedge", "both"]
Estimator = Literal["sampled", "closed"]


@dataclass(frozen=True)
class GainSettings:
    """How information gain is estimated."""

    kind: Kind = "dropedge"  # the noise in the last layer
    rate: float = 0.3  # drop rate p
    samples: int = 100  # T, for the sampled estimator
    estimator: Estimator = "sampled"
    column_degrees: bool = False  # D̃ of a dropedge sample by the column sums of A ∘ Z, as the published program has it


def estimate_gain(network: Backbone, inputs: Inputs, settings: GainSettings, rng: np.random.Generator) -> np.ndarray:
    """B_u of every node, (N,) float32; zero at drop rate 0."""
    check_supported(network, settings)
    if settings.rate == 0:
        return np.zeros(inputs.nodes.size, dtype=np.float32)
    if settings.estimator == "closed":
        return closed_gain(network, inputs, settings.kind, settings.rate)
    return sampled_gain(network, inputs, settings, rng)


def fastest_settings(network: Backbone, settings: GainSettings) -> GainSettings | None:
    """The settings of the fastest estimate that ``network`` supports, or None if it supports none."""
    if isinstance(network, GCN):
        return replace(settings, estimator="closed")
    supported = sorted(network.estimators)
    if not supported:
        return None
    kind = settings.kind if settings.kind in supported else supported[0]
    return replace(settings, kind=kind, estimator="sampled", samples=min(settings.samples, 20))


def entropy(p: Tensor) -> Tensor:
    """H[p] = -Σ_d p_d log p_d over the last dimension, 0 log 0 = 0."""
    return -torch.xlogy(p, p).sum(dim=-1)


def information_gain(samples: Iterable[Tensor]) -> Tensor:
    """B_u = H[1/T Σ_t p̃_u^t] - 1/T Σ_t H[p̃_u^t] of T samples p̃^t, (N, C) each, (N,) float64 (Eq. information_gain).

    Holds Σ_t p̃ and Σ_t H[p̃] alone: memory (N, C) for any T. B is never negative (Jensen), so negative rounding errors
    are set to 0.
    """
    total = entropies = torch.zeros((), dtype=torch.float64)
    count = 0
    for p in samples:
        count += 1
        total = total + p.double()
        entropies = entropies + entropy(p).double()
    return (entropy(total / count) - entropies / count).clamp_min(0.0)


@torch.no_grad()
def sampled_gain(network: Backbone, inputs: Inputs, settings: GainSettings, rng: np.random.Generator) -> np.ndarray:
    """B from T samples of dropout, dropedge or both in the last layer, (N,) float32 (Eq. dropout_p, dropedge_p).

    In a user's PyG module the noise is in all layers.
    """
    network.eval()
    if isinstance(network, PyGModule):
        samples = _module_samples(network, inputs, settings, rng)
    else:
        samples = _samples(network, network.hidden(inputs.x, inputs.adj), inputs.adj, settings, rng)
    return information_gain(logits.softmax(dim=1) for logits in samples).cpu().numpy().astype(np.float32)


def _samples(
    network: Backbone, h: Hidden, adj: Adjacency, settings: GainSettings, rng: np.random.Generator
) -> Iterator[Tensor]:
    """T samples of the logits, (N, C) each."""
    kind, rate = settings.kind, settings.rate
    product = network.product(h) if isinstance(network, GCN) and kind == "dropedge" else None
    degrees = column_degrees if settings.column_degrees else row_degrees
    for _ in range(settings.samples):
        dropped = drop(h, rate, rng) if kind in ("dropout", "both") and rate else h
        sampled = adj.drop(rate, rng) if kind in ("dropedge", "both") and rate else adj
        if product is None:
            yield network.head(dropped, sampled)
        else:
            assert isinstance(network, GCN)
            yield _normalised_product(sampled, product, degrees) + network.bias2


def _module_samples(
    network: PyGModule, inputs: Inputs, settings: GainSettings, rng: np.random.Generator
) -> Iterator[Tensor]:
    """T samples of the logits, (N, C) each: the module's own dropout, edges dropped from ``edge_index``, or both."""
    with seeded_torch(rng), network.noisy(dropout=settings.kind in ("dropout", "both")):
        for _ in range(settings.samples):
            edges = inputs.adj.drop(settings.rate, rng) if settings.kind in ("dropedge", "both") else inputs.adj
            yield network(inputs.x, edges)


def row_degrees(kept: sp.csr_array) -> np.ndarray:
    """1 + Σ_v (A ∘ Z)_uv, (N,)."""
    sums = np.add.reduceat(np.append(kept.data, 0.0), kept.indptr[:-1], dtype=np.float64)
    return 1.0 + sums * (np.diff(kept.indptr) > 0)


def column_degrees(kept: sp.csr_array) -> np.ndarray:
    """1 + Σ_v (A ∘ Z)_vu, (N,).

    D̃^-½ (A ∘ Z + I)ᵀ D̃^-½ with D̃ the row sums has the same distribution as D̃^-½ (A ∘ Z + I) D̃^-½ with D̃ the column
    sums: each direction of an edge is dropped independently, so the degree of a node does not count the edges that
    it is summed over.
    """
    return 1.0 + np.bincount(kept.indices, weights=kept.data, minlength=kept.shape[0])


def _normalised_product(
    adj: Adjacency, product: Tensor, degrees: Callable[[sp.csr_array], np.ndarray] = row_degrees
) -> Tensor:
    """D̃_Z^-½ (A ∘ Z + I) D̃_Z^-½ M without a new matrix: (A ∘ Z) M̃ + M̃ with M̃ = D̃_Z^-½ M, scaled by D̃_Z^-½."""
    kept = adj.form("plain")
    degree = degrees(kept.scipy)
    scale = torch.from_numpy((degree**-0.5).astype(np.float32)).to(product.device).unsqueeze(1)
    inner = scale * product
    return scale * (kept @ inner + inner)


@torch.no_grad()
def closed_gain(network: Backbone, inputs: Inputs, kind: str, rate: float) -> np.ndarray:
    """B without sampling, by dropout, dropedge or both (the sum, as the noises are independent), (N,) float32.

    Only the last layer 𝔑(A) (H W) + b is random. Dropout: to second order in the noise of the logits,
    B ≈ ½ [Σ_c q_c Σ_cc - qᵀ Σ q] with mean z̄, small covariance Σ over classes and q = softmax(z̄). Dropedge, which needs
    more than the second order: :mod:`drgst.uncertainty.dropedge`.
    """
    network.eval()
    h = network.hidden(inputs.x, inputs.adj)
    assert isinstance(network, GCN)
    assert isinstance(h, Tensor)
    total = torch.zeros(inputs.nodes.size, device=inputs.device)
    if kind in ("dropout", "both"):
        total += dropout_gain(h, network.weight2, network.bias2, inputs.adj, rate)
    if kind in ("dropedge", "both"):
        product, bias = network.product(h).cpu().numpy(), network.bias2.detach().cpu().numpy()
        total += torch.from_numpy(dropedge_gain(product, bias, inputs.adj.matrix, rate)).to(total)
    return total.clamp_min(0.0).cpu().numpy().astype(np.float32)


def dropout_gain(h: Tensor, weight: Tensor, bias: Tensor, adj: Adjacency, rate: float) -> Tensor:
    """½ [Σ_c q_uc (G_u · W_c²) - G_u · (W q_u)²] with G = p/(1-p) (Â∘Â)(H∘H), (N,).

    Entries of H are dropped independently and divided by 1 - p, so Cov(z_uc, z_ud) = Σ_j G_uj W_jc W_jd.
    """
    squared = adj.sym.with_values(adj.sym.scipy.data**2, adj.sym.symmetric)
    noise = (squared @ (h * h)) * (rate / (1.0 - rate))
    q = (adj.sym @ thin_product(h, weight) + bias).softmax(dim=1)
    return 0.5 * ((q * thin_product(noise, weight * weight)).sum(dim=1) - (noise * (q @ weight.t()) ** 2).sum(dim=1))


def check_supported(network: Backbone, settings: GainSettings) -> None:
    """Raise :class:`SettingError` if the last layer of the network does not support the settings."""
    supported = network.estimators
    wanted = {"dropout", "dropedge"} if settings.kind == "both" else {settings.kind}
    name = network.name if isinstance(network, PyGModule) else type(network).__name__
    if not wanted <= supported:
        listed = ", ".join(sorted(supported)) or "none"
        raise SettingError(f"{name} has no last layer for gain by {settings.kind} (it supports: {listed})")
    if settings.estimator == "closed" and not isinstance(network, GCN):
        raise SettingError(
            f"{name} has no closed form of the gain, which exists for a last layer Â(HW) of our own networks alone; "
            "use estimator=sampled"
        )
