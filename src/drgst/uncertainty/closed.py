"""Information gain without sampling, to second order in the noise of the logits.

For logits z with mean z̄ and small covariance Σ over classes, q = softmax(z̄):

    B ≈ ½ [ Σ_c q_c Σ_cc - qᵀ Σ q ]

Only the last layer 𝔑(A) (H W) + b is random, so Σ has a closed form: exact for dropout, by the delta method for
dropedge.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from drgst.nn.inputs import Inputs
from drgst.nn.models.base import Backbone, LinearHead
from drgst.nn.ops.adjacency import Adjacency
from drgst.nn.ops.sparse import SparseMatrix, csr_rows, thin_product


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
        total += dropedge_gain(network.product(h), network.bias2, inputs.adj, rate)
    return total.clamp_min(0.0).cpu().numpy().astype(np.float32)


def dropout_gain(h: Tensor, weight: Tensor, bias: Tensor, adj: Adjacency, rate: float) -> Tensor:
    """½ [Σ_c q_uc (G_u · W_c²) - G_u · (W q_u)²] with G = p/(1-p) (Â∘Â)(H∘H), (N,).

    Entries of H are dropped independently and divided by 1 - p, so Cov(z_uc, z_ud) = Σ_j G_uj W_jc W_jd.
    """
    noise = (_squared(adj.sym) @ (h * h)) * (rate / (1.0 - rate))
    q = (adj.sym @ thin_product(h, weight) + bias).softmax(dim=1)
    return 0.5 * ((q * thin_product(noise, weight * weight)).sum(dim=1) - (noise * (q @ weight.t()) ** 2).sum(dim=1))


def dropedge_gain(product: Tensor, bias: Tensor, adj: Adjacency, rate: float) -> Tensor:
    """½ p(1-p) Σ_v a_uv [Var_{c~q_u}(g_uv) + s_v Var_{c~q_u}(g'_uv)], (N,).

    With M = H W, d_u = 1 + (1-p) Σ_v a_uv, M̃ = M/√d, s_u = M̃_u/√d_u, z̄_u = ((1-p) A M̃ + M̃)_u/√d_u:
    g_uv = M̃_v/√d_u - (z̄_u + s_u)/(2 d_u) is the effect of edge u→v on u, directly and through the degree of u, and
    g'_uv = -(1-p) M̃_v/(2 √d_u d_v) is the effect of an edge of v on u through the degree of v; v has Σ_w a_vw² of
    them. The sums over v are sparse products on C columns.
    """
    a = adj.form("plain")
    weights2 = _squared(a)
    keep = 1.0 - rate
    ones = torch.ones(product.shape[0], 1, device=product.device)
    d = 1.0 + keep * (a @ ones)
    root = d.sqrt()
    m = product / root
    s, z = m / root, (keep * (a @ m) + m) / root
    q = (z + bias).softmax(dim=1)
    centre = (z + s) / (2 * d)
    lever = keep / 2 * m * (weights2 @ ones).sqrt() / d
    direct = _summed_variance(q, m, weights2, 1.0 / root, centre)
    through = _summed_variance(q, lever, weights2, 1.0 / root, torch.zeros_like(centre))
    return 0.5 * rate * keep * (direct + through)


def _summed_variance(q: Tensor, m: Tensor, weights2: SparseMatrix, scale: Tensor, centre: Tensor) -> Tensor:
    """Σ_v a²_uv Var_{c~q_u}(g_uv) with g_uv = scale_u m_v - centre_u, (N,).

    Var_q(g) = E_q[g²] - (E_q g)²: the first needs Σ a² m and Σ a² m², the second the edge-wise Σ a² (q_u · m_v)².
    """
    first, second, count = weights2 @ m, weights2 @ (m * m), weights2 @ torch.ones_like(scale)
    square = scale**2 * second - 2 * scale * centre * first + count * centre**2
    mean_centre = (q * centre).sum(dim=1)
    edge = _edge_square(q, m, weights2)
    cross = (q * first).sum(dim=1)
    scale1, count1 = scale.squeeze(1), count.squeeze(1)
    mean_square = scale1**2 * edge - 2 * scale1 * mean_centre * cross + count1 * mean_centre**2
    return (q * square).sum(dim=1) - mean_square


def _edge_square(q: Tensor, m: Tensor, weights2: SparseMatrix) -> Tensor:
    """Σ_v a²_uv (q_u · m_v)², (N,)."""
    matrix = weights2.forward_csr
    rows, cols = csr_rows(matrix), matrix.col_indices().long()
    products = matrix.values() * (q[rows] * m[cols]).sum(dim=1) ** 2
    return torch.zeros(q.shape[0], device=q.device).index_add_(0, rows, products)


def _squared(matrix: SparseMatrix) -> SparseMatrix:
    """S ∘ S."""
    return matrix.with_values(matrix.scipy.data**2, matrix.symmetric)
