"""Information gain without sampling: by dropout to second order in the noise of the logits.

For logits z with mean z̄ and small covariance Σ over classes, q = softmax(z̄):

    B ≈ ½ [ Σ_c q_c Σ_cc - qᵀ Σ q ]

Only the last layer 𝔑(A) (H W) + b is random, so Σ has a closed form for dropout. Dropedge, which needs more than the
second order, is in :mod:`drgst.uncertainty.dropedge`.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from drgst.nn.inputs import Inputs
from drgst.nn.models.base import Backbone, LinearHead
from drgst.nn.ops.adjacency import Adjacency
from drgst.nn.ops.sparse import SparseMatrix, thin_product
from drgst.uncertainty.dropedge import dropedge_gain


@torch.no_grad()
def closed_gain(network: Backbone, inputs: Inputs, kind: str, rate: float) -> np.ndarray:
    """B by the closed form for dropout, dropedge or both (the sum, as the noises are independent), (N,) float32."""
    network.eval()
    h = network.hidden(inputs.x, inputs.adj)
    assert isinstance(network, LinearHead)
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
    noise = (_squared(adj.sym) @ (h * h)) * (rate / (1.0 - rate))
    q = (adj.sym @ thin_product(h, weight) + bias).softmax(dim=1)
    return 0.5 * ((q * thin_product(noise, weight * weight)).sum(dim=1) - (noise * (q @ weight.t()) ** 2).sum(dim=1))


def _squared(matrix: SparseMatrix) -> SparseMatrix:
    """S ∘ S."""
    return matrix.with_values(matrix.scipy.data**2, matrix.symmetric)
