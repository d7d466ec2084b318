"""Postprocess by the class shares that the user states for the unlabelled nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from drgst.graph.core import Graph
from drgst.selftrain.postprocess.base import Adjusted, Context, Postprocess
from drgst.transforms.softmax import softmax
from drgst.uncertainty.class_prior import class_shares, fit_temperature_under_prior, parse_shares, prior_shift


@dataclass(frozen=True)
class ClassPrior(Postprocess):
    """z' = z / T + b, with the b of :func:`~drgst.uncertainty.class_prior.prior_shift` over the unlabelled nodes.

    The mean probability of each stated class over the unlabelled nodes is then its share; the other classes keep their
    odds among each other. Few labels are often drawn in equal numbers per class: probabilities that were fitted to them
    overstate rare classes. T is that of :func:`~drgst.uncertainty.class_prior.fit_temperature_under_prior` where there
    are out-of-fold logits, otherwise 1.
    """

    shares: str  # as in fraud=0.02, ok=0.98; all classes or some

    def __call__(self, logits: np.ndarray, context: Context) -> Adjusted:
        graph, split = context.problem.graph, context.problem.split
        shares = class_shares(parse_shares(self.shares), graph.class_names)
        known = np.union1d(split.train, split.val)
        rest = np.setdiff1d(np.arange(graph.num_nodes), known)
        rest = rest if rest.size else np.arange(graph.num_nodes)
        own = softmax(logits[rest]).mean(axis=0)
        temperature = 1.0
        if context.stage.out_of_fold is not None:
            held_out = context.stage.out_of_fold, graph.labels[split.train]
            temperature = fit_temperature_under_prior(logits[rest], shares, *held_out)
        shift = prior_shift(logits[rest] / temperature, shares)
        learnt = {"temperature": torch.tensor(temperature), "shift": torch.from_numpy(shift)}
        stated = [f"{graph.class_names[c]} {shares[c]:.3g} (without it {own[c]:.3g})" for c in _finite(shares)]
        note = f"Class prior of the unlabelled nodes: {', '.join(stated)}; temperature under it {temperature:.2f}."
        return Adjusted(self.apply(learnt, logits, graph, ""), learnt, note)

    def apply(self, learnt: Mapping[str, Tensor], logits: np.ndarray, _graph: Graph, _device: str) -> np.ndarray:
        """z / T + b on any graph."""
        return (logits / learnt["temperature"].numpy() + learnt["shift"].numpy()).astype(logits.dtype)


def _finite(shares: np.ndarray) -> list[int]:
    return np.flatnonzero(np.isfinite(shares)).tolist()
