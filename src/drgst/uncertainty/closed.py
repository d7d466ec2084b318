"""Information gain without sampling, to second order in the noise of the logits.

For logits z with mean z̄ and small covariance Σ over classes, q = softmax(z̄):

    B ≈ ½ Var_{c~q}[z]-part = ½ [ Σ_c q_c Σ_cc - qᵀ Σ q ]

Only the last layer 𝔑(A) (H W) + b is random, so the moments follow in closed form: exactly for dropout, by the
delta method for dropedge.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from drgst.nn.inputs import Inputs
from drgst.nn.models.base import Backbone, LinearHead
from drgst.nn.ops.adjacency import Adjacency
from drgst.nn.ops.sparse import SparseMatrix, thin_product


@torch.no_grad()
def closed_gain(network: Backbone, inputs: Inputs, kind: str, rate: float) -> np.ndarray:
    """B by the closed form for dropout, dropedge or both (independent noises: the two add up), (N,) float32."""
    network.eval()
    h = network.hidden(inputs.x, inputs.adj)
    assert isinstance(network, LinearHead)
    assert isinstance(h, Tensor)
    total = torch.zeros(inputs.nodes.size, device=inputs.device)
    if kind in ("dropout", "both"):
        total += dropout_gain(h, network.weight2, network.bias2, inputs.adj, rate)
    if kind in ("dropedge", "both"):
        total += dropedge_gain(network.mix(h), network.bias2, inputs.adj, rate)
    return total.clamp_min(0.0).cpu().numpy().astype(np.float32)


def dropout_gain(h: Tensor, weight: Tensor, bias: Tensor, adj: Adjacency, rate: float) -> Tensor:
    """½ [Σ_c q_uc (G_u · W_c²) - G_u · (W q_u)²] with G = p/(1-p) (Â∘Â)(H∘H), (N,).

    Entries of H are dropped independently and divided by 1 - p, so Cov(z_uc, z_ud) = Σ_j G_uj W_jc W_jd.
    """
    sym = adj.sym
    squared = SparseMatrix(_power(sym.scipy), sym.device, sym.symmetric)
    noise = (squared @ (h * h)) * (rate / (1.0 - rate))
    q = (sym @ thin_product(h, weight) + bias).softmax(dim=1)
    return 0.5 * ((q * thin_product(noise, weight * weight)).sum(dim=1) - (noise * (q @ weight.t()) ** 2).sum(dim=1))


def dropedge_gain(mixed: Tensor, bias: Tensor, adj: Adjacency, rate: float) -> Tensor:
    """½ p(1-p) Σ_v a_uv [Var_{c~q_u}(g_uv) + s_v Var_{c~q_u}(g'_uv)], (N,).

    With M = H W, d_u = 1 + (1-p) Σ_v a_uv, M̃ = M/√d, s_u = M̃_u/√d_u, z̄_u = ((1-p) A M̃ + M̃)_u/√d_u:
    g_uv = M̃_v/√d_u - (z̄_u + s_u)/(2 d_u) is what edge u→v does to u directly and through u's degree, and
    g'_uv = -(1-p) M̃_v/(2 √d_u d_v) what an edge of v does to u through v's degree; v has Σ_w a_vw² of them.
    The sums over v need only Σ_v a², Σ_v a² M̃_v, Σ_v a² M̃_v² and the like: sparse products on C columns.
    """
    a = adj.form("plain")
    weights2 = SparseMatrix(_power(a.scipy), a.device, a.symmetric)
    keep = 1.0 - rate
    ones = torch.ones(mixed.shape[0], 1, device=mixed.device)
    d = 1.0 + keep * (a @ ones)
    root = d.sqrt()
    m = mixed / root
    s, z = m / root, (keep * (a @ m) + m) / root
    q = (z + bias).softmax(dim=1)
    centre = (z + s) / (2 * d)
    count = weights2 @ ones
    first, second = weights2 @ m, weights2 @ (m * m)
    # Var_q(g) summed over v needs E_q[g²] and (E_q g)²; the latter mixes classes: Σ_v (q·M̃_v)².
    direct = _summed_variance(q, m, weights2, first, second, count, 1.0 / root, centre)
    lever = keep / 2 * m * count.sqrt() / d
    zero = torch.zeros_like(centre)
    through = _summed_variance(
        q, lever, weights2, weights2 @ lever, weights2 @ (lever * lever), count, 1.0 / root, zero
    )
    return 0.5 * rate * keep * (direct + through)


def _summed_variance(
    q: Tensor,
    m: Tensor,
    weights2: SparseMatrix,
    first: Tensor,
    second: Tensor,
    count: Tensor,
    scale: Tensor,
    centre: Tensor,
) -> Tensor:
    """Σ_v a²_uv Var_{c~q_u}(scale_u m_v - centre_u), (N,), from Σ a² m, Σ a² m² and the edge-wise Σ a² (q_u · m_v)²."""
    square = scale**2 * second - 2 * scale * centre * first + count * centre**2
    mean_centre = (q * centre).sum(dim=1)
    edge = _edge_square(q, m, weights2)
    cross = (q * first).sum(dim=1)
    scale1, count1 = scale.squeeze(1), count.squeeze(1)
    mean_square = scale1**2 * edge - 2 * scale1 * mean_centre * cross + count1 * mean_centre**2
    return (q * square).sum(dim=1) - mean_square


def _edge_square(q: Tensor, m: Tensor, weights2: SparseMatrix) -> Tensor:
    """Σ_v a²_uv (q_u · m_v)², (N,), edge by edge."""
    matrix = weights2.forward_csr
    rows = torch.repeat_interleave(
        torch.arange(q.shape[0], device=q.device),
        matrix.crow_indices().diff().long(),
        output_size=matrix.values().numel(),
    )
    cols = matrix.col_indices().long()
    products = matrix.values() * (q[rows] * m[cols]).sum(dim=1) ** 2
    return torch.zeros(q.shape[0], device=q.device).index_add_(0, rows, products)


def _power(matrix: sp.csr_array) -> sp.csr_array:
    """S ∘ S."""
    return sp.csr_array((matrix.data**2, matrix.indices, matrix.indptr), shape=matrix.shape)
