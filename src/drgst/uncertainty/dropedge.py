"""Information gain by dropedge without sampling.

    z_u = D_u^-½ Σ_v a_uv Z_uv M_v D_v^-½ + M_u / D_u + b,   D_u = 1 + Σ_v a_uv Z_uv,   Z_uv ~ Bernoulli(1-p)

with M = H W. Both directions of an edge are dropped independently, so D_v is independent of the row Z_u and of the
degrees of the other neighbours, and the gain is a sum of two mutual informations:

    B_u = I(y; Z_u) + I(y; D_v of the neighbours | Z_u)

The moments of D_v^-½ are exact. The first term is a sum over all 2^n rows Z_u for a node of up to 6 edges, and of
second order in the noise of the logits for nodes of more edges; the second term is of second order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from drgst.graph.transforms.softmax import softmax

ENUMERATED = 6  # nodes of up to so many edges: all 2^6 = 64 rows Z_u; benchmarks/gain_estimators.py compares 2, 4, 6, 8
QUADRATURE = 32  # points of Gauss-Legendre on [0, 10]: relative error of E[D^-½] and E[D^-1] below 1e-5
CHUNK = 50_000  # numbers of a temporary array, at most


@dataclass(frozen=True)
class RandomDegrees:
    """The last layer with D_v^-½ of every node replaced by its mean, and its deviation beside."""

    m: np.ndarray  # M = H W, (N, C)
    bias: np.ndarray  # b, (C,)
    a: sp.csr_array  # A, (N, N)
    rate: float  # p
    mean: np.ndarray  # M_v E[D_v^-½], (N, C)
    noise: np.ndarray  # M_v √Var(D_v^-½), (N, C)

    @classmethod
    def of(cls, product: np.ndarray, bias: np.ndarray, a: sp.csr_array, rate: float) -> RandomDegrees:
        """With the exact moments of D^-½."""
        m, a = np.asarray(product, dtype=np.float64), a.astype(np.float64)
        half, one = inverse_degree_moments(a, rate)
        deviation = np.sqrt(np.maximum(one - half**2, 0.0))
        return cls(m, np.asarray(bias, dtype=np.float64), a, rate, m * half[:, None], m * deviation[:, None])


def dropedge_gain(product: np.ndarray, bias: np.ndarray, a: sp.csr_array, rate: float) -> np.ndarray:
    """B, (N,), of M = ``product`` (N, C), b = ``bias`` (C,) and the adjacency matrix ``a`` (N, N) at drop rate p."""
    layer = RandomDegrees.of(product, bias, a, rate)
    gain = second_order_gain(layer)
    degrees = np.diff(layer.a.indptr)
    for n in range(1, ENUMERATED + 1):
        nodes = np.flatnonzero(degrees == n)
        for part in np.array_split(nodes, 1 + nodes.size * 2**n * layer.m.shape[1] // CHUNK):
            gain[part] = enumerated_gain(layer, part, n)
    return np.maximum(gain, 0.0)


def inverse_degree_moments(a: sp.csr_array, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """E[D^-½] and E[D^-1], (N,) each, of D_v = 1 + Σ_w a_vw Z_vw.

    D^-½ = 2/√π ∫ exp(-t² D) dt and D^-1 = ∫ 2t exp(-t² D) dt over t > 0, and the expectation of exp(-sD) is
    e^-s Π_w (p + (1-p) exp(-s a_vw)). With t = x/√E[D] the integrands vanish beyond x = 10.
    """
    rows = np.repeat(np.arange(a.shape[0]), np.diff(a.indptr))
    expected = 1.0 + (1.0 - rate) * np.bincount(rows, a.data, a.shape[0])
    half, one = np.zeros(a.shape[0]), np.zeros(a.shape[0])
    points, weights = np.polynomial.legendre.leggauss(QUADRATURE)
    for x, weight in zip(5 * (points + 1), 5 * weights, strict=True):
        s = x**2 / expected
        kept = np.log(rate + (1.0 - rate) * np.exp(-s[rows] * a.data))
        laplace = np.exp(np.bincount(rows, kept, a.shape[0]) - s)
        half += weight * laplace
        one += 2 * x * weight * laplace
    return half * 2 / np.sqrt(np.pi * expected), one / expected


def second_order_gain(layer: RandomDegrees) -> np.ndarray:
    """½ Σ_v a²_uv [p(1-p) Var_{c~q_u}(g_uv) + (1-p)/d_u Var_{c~q_u}(noise_v)], (N,).

    With d_u = E[D_u], y_u = (1-p)/√d_u Σ_v a_uv mean_v, s_u = M_u/d_u, q = softmax(y + s + b): g_uv = mean_v/√d_u -
    (y_u + 2 s_u)/(2 d_u) is the effect of the edge u→v on the logits of u, directly and through the degree of u.
    """
    a, keep = layer.a, 1.0 - layer.rate
    squared = sp.csr_array((a.data**2, a.indices, a.indptr), shape=a.shape)
    d = 1.0 + keep * np.asarray(a.sum(axis=1))[:, None]
    y, s = keep * (a @ layer.mean) / np.sqrt(d), layer.m / d
    q = softmax(y + s + layer.bias)
    own = _summed_variance(q, layer.mean, squared, 1 / np.sqrt(d), (y + 2 * s) / (2 * d))
    other = _summed_variance(q, layer.noise, squared, 1 / np.sqrt(d), np.zeros_like(y))
    return 0.5 * (layer.rate * keep * own + keep * other)


def enumerated_gain(layer: RandomDegrees, nodes: np.ndarray, n: int) -> np.ndarray:
    """H[Σ_Z π_Z q_Z] - Σ_Z π_Z H[q_Z] + Σ_Z π_Z ½ Σ_v Z_v a²_uv Var_{c~q_Z}(noise_v) / D_Z, (M,), for nodes of n edges.

    The sums are over all 2^n rows Z.
    q_Z = softmax(D_Z^-½ Σ_v Z_v a_uv mean_v + M_u/D_Z + b), π_Z = Π_v (1-p)^Z_v p^(1-Z_v), D_Z = 1 + Σ_v a_uv Z_v.
    """
    edges = layer.a.indptr[nodes][:, None] + np.arange(n)
    neighbours, weights = layer.a.indices[edges], layer.a.data[edges]  # (M, n)
    z = (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(np.float64)  # (2^n, n)
    kept = z.sum(axis=1)
    chance = (1.0 - layer.rate) ** kept * layer.rate ** (n - kept)  # (2^n,)
    d = 1.0 + weights @ z.T  # (M, 2^n)
    sums = np.matmul(z, layer.mean[neighbours] * weights[..., None])  # (M, 2^n, C)
    logits = sums / np.sqrt(d)[..., None] + layer.m[nodes][:, None] / d[..., None] + layer.bias
    q = softmax(logits.reshape(-1, logits.shape[2])).reshape(logits.shape)
    noise = np.swapaxes(layer.noise[neighbours] * weights[..., None], 1, 2)  # (M, C, n)
    variance = np.matmul(q, noise**2) - np.matmul(q, noise) ** 2  # (M, 2^n, n)
    through = 0.5 * (variance * z).sum(axis=2) / d
    return _entropy(np.matmul(chance, q)) + (through - _entropy(q)) @ chance


def _entropy(p: np.ndarray) -> np.ndarray:
    """-Σ_c p_c log p_c over the last dimension."""
    return -(p * np.log(np.maximum(p, 1e-300))).sum(axis=-1)


def _summed_variance(
    q: np.ndarray, x: np.ndarray, squared: sp.csr_array, scale: np.ndarray, centre: np.ndarray
) -> np.ndarray:
    """Σ_v a²_uv Var_{c~q_u}(g_uv) with g_uv = scale_u x_v - centre_u, (N,).

    Var_q(g) = E_q[g²] - (E_q g)²: the first needs Σ a² x and Σ a² x², the second the edge-wise Σ a² (q_u · x_v)².
    """
    first, second = squared @ x, squared @ x**2
    count = np.asarray(squared.sum(axis=1))[:, None]
    square = scale**2 * second - 2 * scale * centre * first + count * centre**2
    mean_centre, cross = (q * centre).sum(axis=1), (q * first).sum(axis=1)
    flat, number = scale[:, 0], count[:, 0]
    mean_square = flat**2 * _edge_square(q, x, squared) - 2 * flat * mean_centre * cross + number * mean_centre**2
    return (q * square).sum(axis=1) - mean_square


def _edge_square(q: np.ndarray, x: np.ndarray, squared: sp.csr_array) -> np.ndarray:
    """Σ_v a²_uv (q_u · x_v)², (N,)."""
    rows = np.repeat(np.arange(squared.shape[0]), np.diff(squared.indptr))
    products = np.empty(rows.size)
    for start in range(0, rows.size, CHUNK):
        part = slice(start, start + CHUNK)
        products[part] = np.einsum("ec,ec->e", q[rows[part]], x[squared.indices[part]])
    return np.bincount(rows, squared.data * products**2, squared.shape[0])
