"""Log-probabilities of an ensemble on a large graph, a block of nodes at a time."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from torch import Tensor

from drgst.transforms.products import NARROW_BYTES, as_float32, in_parts, release, row_blocks
from drgst.transforms.softmax import entropy, row_max


def ensemble_in_blocks(
    views: Mapping[str, np.ndarray], state: Mapping[str, Tensor], weights: Mapping[str, float]
) -> tuple[np.ndarray, np.ndarray]:
    """log softmax(Σ_v w_v (Z_v W_v + b_v)), (N, C), and H(Σ_v w_v p_v) - Σ_v w_v H(p_v), (N,), float32.

    As ``combine`` and ``disagreement`` of :mod:`~.ensemble`, since the normaliser of a view is one number per node; but
    no array of size (N, C) is held per view.
    """
    linear = {n: (state[f"{n}.weight"].numpy(), state[f"{n}.bias"].numpy()) for n in weights}
    count, classes = views[next(iter(weights))].shape[0], next(iter(linear.values()))[1].size
    log_p = np.empty((count, classes), dtype=np.float32)
    gain = np.empty(count, dtype=np.float32)
    width = max(w.shape[0] for w, _ in linear.values())

    def evaluate(part: slice) -> None:
        for rows in row_blocks(part, width, NARROW_BYTES):
            log_p[rows], gain[rows] = _block({name: views[name][rows] for name in linear}, linear, weights)
        for name in linear:
            release(views[name])

    list(in_parts(evaluate, count))
    return log_p, gain


def _block(
    views: Mapping[str, np.ndarray], linear: Mapping[str, tuple[np.ndarray, np.ndarray]], weights: Mapping[str, float]
) -> tuple[np.ndarray, np.ndarray]:
    total = mixed = own = np.zeros(1, dtype=np.float32)
    for name, (weight, bias) in linear.items():
        share = np.float32(weights[name])
        z = as_float32(views[name]) @ weight
        z += bias
        p = _log_softmax(z)
        z *= share
        total = total + z
        p *= share
        mixed = mixed + p
        own = own + np.einsum("ij,ij->i", p, z) / share
    log_p = np.asarray(total)
    _log_softmax(log_p)
    return log_p, np.maximum(entropy(mixed) + own, 0)


def _log_softmax(z: np.ndarray) -> np.ndarray:
    """log softmax in place; softmax is returned."""
    z -= row_max(z)
    p = np.exp(z)
    sums = p.sum(axis=1, keepdims=True)
    z -= np.log(sums)
    p /= sums
    return p
