"""Class prior of pseudo-labels: keeps smoothing and self-training from drifting to one class."""

from __future__ import annotations

import numpy as np

from drgst.transforms.softmax import DOUBLE_ROWS, log_softmax, log_softmax_float32

ROUNDS = 50  # of scaling; the last one changes the shift by less than 0.001
SHARPNESS = 0.3  # T over the spread of nodes
EPSILON = np.finfo(np.float64).eps
SAMPLED_NODES = 20_000  # of the pool, on which the prior is estimated: every k-th


def expected_prior(logits: np.ndarray) -> np.ndarray:
    """t_c ∝ sqrt(h_c s_c), (C,): h the shares of argmax p over M nodes, s the mean of p = softmax(``logits``), (M, C).

    With weak evidence argmax favours the larger classes (h too uneven) and p stays near uniform (s too even); the
    geometric mean lies between. One more node is counted of each class, so that none has the share 0.
    """
    nodes, classes = logits.shape
    hard = (np.bincount(logits.argmax(axis=1), minlength=classes) + 1) / nodes
    both = np.sqrt(hard * np.exp(log_softmax(logits)).mean(axis=0))
    return np.asarray(both / both.sum())


def prior_shift(log_q: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """b with mean_i softmax((log q_i + b) / T) = ``prior``, (C,), mean 0: Sinkhorn's scaling of the columns.

    T is 0.3 of the median spread of a node's log q around the median node, so that the shares of argmax(log q + b) are
    near the prior, too.
    """
    x = log_q - log_q.mean(axis=1, keepdims=True)
    temperature = max(SHARPNESS * float(np.median((x - np.median(x, axis=0)).std(axis=1))), EPSILON)
    b = np.zeros(x.shape[1])
    for _ in range(ROUNDS):
        found = np.exp(log_softmax((x + b) / temperature)).mean(axis=0)
        b += temperature * (np.log(prior) - np.log(np.maximum(found, EPSILON)))
    return b - b.mean()


def stated_prior(expected: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """π_c where a share is stated; the other classes have the rest, in the proportions of ``expected``, (C,).

    ``shares`` are π, (C,), NaN where not stated.
    """
    free = ~np.isfinite(shares)
    rest = expected * free
    return np.asarray(np.where(free, rest * ((1 - shares[~free].sum()) / max(rest.sum(), EPSILON)), shares))


def match_prior(
    log_q: np.ndarray, logits: np.ndarray, nodes: np.ndarray, shares: np.ndarray | None = None
) -> np.ndarray:
    """log softmax(log q + b), (N, C), b such that q has the :func:`expected_prior` of ``logits`` on ``nodes``.

    Class ``shares`` that the user states, (C,), take its place (:func:`stated_prior`).
    """
    if not nodes.size:
        return log_q
    sample = nodes[:: -(-nodes.size // SAMPLED_NODES)]
    prior = expected_prior(logits[sample])
    shift = prior_shift(log_q[sample], prior if shares is None else stated_prior(prior, shares))
    if log_q.shape[0] > DOUBLE_ROWS:
        return log_softmax_float32(log_q + shift.astype(np.float32))
    return log_softmax(log_q + shift)
