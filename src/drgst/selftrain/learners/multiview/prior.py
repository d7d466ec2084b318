"""Class shares of pseudo-labels: smoothing over many edges, or stage after stage, must not let one class take all."""

from __future__ import annotations

import numpy as np

from drgst.selftrain.learners.multiview.regression import log_softmax

ROUNDS = 50  # of scaling; the shares settle in a few
SHARPNESS = 0.3  # T as a part of how far apart nodes are
ASKED = 20_000  # nodes that are enough to count shares on


def expected_shares(logits: np.ndarray) -> np.ndarray:
    """t_c ∝ sqrt(h_c s_c), (C,): h the shares of argmax p over M nodes, s the mean of p = softmax(``logits``), (M, C).

    Weak evidence lets argmax run to the larger classes (h too uneven) and p stay near uniform (s too even); the truth
    lies between. A class that no node is given keeps a small share.
    """
    nodes, classes = logits.shape
    hard = np.bincount(logits.argmax(axis=1), minlength=classes) / nodes
    both = np.sqrt((hard + 1e-4) * np.exp(log_softmax(logits)).mean(axis=0))
    return np.asarray(both / both.sum())


def shift_to(log_q: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """b with mean_i softmax((log q_i + b) / T) = ``shares``, (C,), mean 0: Sinkhorn's scaling of the columns.

    T is 0.3 of the median node's spread around the middle node, so that the shares of argmax(log q + b) come near too.
    """
    x = log_q - log_q.mean(axis=1, keepdims=True)
    temperature = max(SHARPNESS * float(np.median((x - np.median(x, axis=0)).std(axis=1))), 1e-6)
    b = np.zeros(x.shape[1])
    for _ in range(ROUNDS):
        found = np.exp(log_softmax((x + b) / temperature)).mean(axis=0)
        b += temperature * (np.log(shares) - np.log(found + 1e-12))
    return b - b.mean()


def with_shares_of(log_q: np.ndarray, logits: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """log softmax(log q + b), (N, C), b such that ``nodes`` fall to the classes as p = softmax(``logits``) expects."""
    if not nodes.size:
        return log_q
    asked = nodes[:: -(-nodes.size // ASKED)]
    return log_softmax(log_q + shift_to(log_q[asked], expected_shares(logits[asked])))
