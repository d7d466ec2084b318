"""Information gain by dropedge without sampling.

    z_u = D_u^-½ Σ_v a_uv Z_uv M_v D_v^-½ + M_u / D_u + b,   D_u = 1 + Σ_v a_uv Z_uv,   Z_uv ~ Bernoulli(1-p)

with M = H W. Both directions of an edge are dropped independently, so D_v is independent of the row Z_u and of the
degrees of the other neighbours, and the gain is a sum of two mutual informations:

    B_u = I(y; Z_u) + I(y; D_v of the neighbours | Z_u)

The moments of D_v^-½ are exact. For a node of up to 6 edges the first term is a sum over all 2^n rows Z_u and the
second is of second order in the noise. For a node of more edges D_u and the sum over its neighbours are taken as
jointly normal, with their exact means and covariances.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch

from drgst.transforms.softmax import entropy, softmax

ENUMERATED = 6  # nodes of up to so many edges: all 2^6 = 64 rows Z_u; benchmarks/gain_estimators.py compares 2, 4, 6, 8
QUADRATURE = 32  # points of Gauss-Legendre on [0, 10]: relative error of E[D^-½] and E[D^-1] below 1e-5
POINTS = 128  # of the normal distribution; on Flickr 64, 128 and 256 give the same r within 0.002
CHUNK = 50_000  # numbers of a temporary array, at most


@dataclass(frozen=True)
class RandomDegrees:
    """The last layer with D_v^-½ of every node replaced by its mean, and its deviation beside."""

    m: np.ndarray  # M = H W, (N, C)
    bias: np.ndarray  # b, (C,)
    a: sp.csr_array  # A, (N, N)
    rate: float  # p
    joint: np.ndarray  # (1, M_v E[D_v^-½]), (N, 1 + C)
    noise: np.ndarray  # M_v √Var(D_v^-½), (N, C)
    spread: np.ndarray  # M_v √(p E[D_v^-½]² + Var(D_v^-½)), (N, C): its square is p mean_v mean_vᵀ + noise_v noise_vᵀ

    @classmethod
    def of(cls, product: np.ndarray, bias: np.ndarray, a: sp.csr_array, rate: float) -> RandomDegrees:
        m, a = np.asarray(product, dtype=np.float64), a.astype(np.float64)
        half, one = inverse_degree_moments(a, rate)
        variance = np.maximum(one - half**2, 0.0)
        joint = np.hstack([np.ones((m.shape[0], 1)), m * half[:, None]])
        scales = np.sqrt(variance), np.sqrt(rate * half**2 + variance)
        return cls(m, np.asarray(bias, dtype=np.float64), a, rate, joint, *(m * scale[:, None] for scale in scales))

    @property
    def mean(self) -> np.ndarray:
        """M_v E[D_v^-½], (N, C)."""
        return self.joint[:, 1:]


def dropedge_gain(product: np.ndarray, bias: np.ndarray, a: sp.csr_array, rate: float) -> np.ndarray:
    """B, (N,), of M = ``product`` (N, C), b = ``bias`` (C,) and the adjacency matrix ``a`` (N, N) at drop rate p."""
    layer = RandomDegrees.of(product, bias, a, rate)
    gain, degrees = np.zeros(layer.m.shape[0]), np.diff(layer.a.indptr)
    many, points = np.flatnonzero(degrees > ENUMERATED), normal_points(layer.m.shape[1] + 1)
    for part in np.array_split(many, 1 + many.size * points.size // (8 * CHUNK)):
        gain[part] = normal_gain(layer, part, points)
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


def normal_points(dimensions: int) -> np.ndarray:
    """Points x_k, (K, D), of the standard normal distribution: evenly spread, with mean 0 and covariance exactly I.

    Φ^-1 of the additive recurrence k·α mod 1 with α_j = g^-j, where g is the root of g^(D+1) = g + 1, and their mirror
    images, made white. K is 128, and 4 D where that is more.
    """
    g = 2.0
    for _ in range(60):
        g = (1 + g) ** (1 / (dimensions + 1))
    count = max(POINTS // 2, 2 * dimensions)
    uniform = (0.5 + np.arange(1, count + 1)[:, None] * g ** -np.arange(1.0, dimensions + 1)) % 1
    half = torch.special.ndtri(torch.from_numpy(uniform)).numpy()
    x = np.concatenate([half, -half])
    return np.linalg.solve(np.linalg.cholesky(x.T @ x / len(x)), x.T).T


def normal_gain(layer: RandomDegrees, nodes: np.ndarray, points: np.ndarray) -> np.ndarray:
    """H[1/K Σ_k q_k] - 1/K Σ_k H[q_k], (M,), with q_k = softmax(y_k / √D_k + M_u / D_k + b).

    The points x_k give (D_k - 1, y_k) = μ + Σ^½ x_k, normal with the moments of D_u - 1 and y_u = Σ_v a_uv Z_uv M_v
    D_v^-½: μ = (1-p) Σ_v a_uv (1, mean_v), Var(D_u) = p(1-p) Σ_v a²_uv, Cov(D_u, y_u) = p(1-p) Σ_v a²_uv mean_v and
    Cov(y_u) = (1-p) Σ_v a²_uv [p mean_v mean_vᵀ + noise_v noise_vᵀ].
    """
    p, rows, classes = layer.rate, layer.a[nodes], layer.m.shape[1]
    squared = sp.csr_array((rows.data**2, rows.indices, rows.indptr), shape=rows.shape)
    mean = (1.0 - p) * (rows @ layer.joint)
    covariance = np.empty((nodes.size, classes + 1, classes + 1))
    covariance[:, 0] = covariance[:, :, 0] = p * (1.0 - p) * (squared @ layer.joint)
    covariance[:, 1:, 1:] = (1.0 - p) * _summed_squares(rows, layer.spread)
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))[:, None]  # (M, C + 1, C + 1)
    drawn = mean[:, None] + points @ np.swapaxes(root, 1, 2)  # (M, K, C + 1)
    d = 1.0 + np.maximum(drawn[..., :1], 0.0)
    logits = drawn[..., 1:] / np.sqrt(d) + layer.m[nodes][:, None] / d + layer.bias
    q = softmax(logits.reshape(-1, logits.shape[2])).reshape(logits.shape)
    return entropy(q.mean(axis=1)) - entropy(q).mean(axis=1)


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
    return entropy(np.matmul(chance, q)) + (through - entropy(q)) @ chance


def _summed_squares(rows: sp.csr_array, x: np.ndarray) -> np.ndarray:
    """Σ_v a²_uv x_v x_vᵀ, (M, C, C), of rows with one edge or more."""
    found = np.empty((rows.shape[0], x.shape[1], x.shape[1]))
    weighted = rows.data[:, None] * x[rows.indices]
    for c in range(x.shape[1]):
        found[:, c, c:] = np.add.reduceat(weighted[:, c:] * weighted[:, [c]], rows.indptr[:-1], axis=0)
        found[:, c:, c] = found[:, c, c:]
    return found
