"""A graph as tensors: features and adjacency on one device."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from drgst.errors import SettingError
from drgst.graph.core import Features, Graph
from drgst.graph.transforms.features import row_l1, row_l2
from drgst.nn.ops.adjacency import Adjacency
from drgst.nn.ops.sparse import SparseMatrix


@dataclass(frozen=True)
class Inputs:
    """X and A for a network, on one device; ``nodes`` are the rows' places in the whole graph."""

    x: SparseMatrix | Tensor  # (N, F)
    adj: Adjacency  # (N, N)
    nodes: np.ndarray  # (N,)

    @property
    def device(self) -> torch.device:
        """Where the tensors live."""
        return self.adj.device

    def restrict(self, nodes: np.ndarray) -> Inputs:
        """The part between ``nodes`` (positions in this object), exact wherever all neighbours are inside."""
        if isinstance(self.x, SparseMatrix):
            x: SparseMatrix | Tensor = self.x.rows(nodes)
        else:
            x = self.x[torch.from_numpy(nodes).to(self.device)]
        return replace(self, x=x, adj=self.adj.restrict(nodes), nodes=self.nodes[nodes])


def make_inputs(graph: Graph, device: str | torch.device = "cpu", normalise: str = "auto") -> Inputs:
    """The tensors of ``graph`` on ``device``; features row-normalised as ``normalise`` says (see :func:`scaled`)."""
    place = open_device(device)
    features = scaled(graph.features, normalise)
    dense = isinstance(features, np.ndarray)
    if not dense and features.shape[1] and features.nnz > 0.25 * np.prod(features.shape):
        features, dense = features.toarray(), True  # a full matrix is quicker through BLAS
    x = torch.from_numpy(np.array(features)).to(place) if dense else SparseMatrix(features, place)
    return Inputs(x, Adjacency(graph.adjacency, place), np.arange(graph.num_nodes))


def scaled(features: Features, normalise: str) -> Features:
    """x_i / Σ_f |x_if| (``"l1"``, the paper's for the citation graphs), x_i / ‖x_i‖ (``"l2"``) or x_i (``"none"``).

    ``"auto"`` is ``"l1"`` where no feature is negative, ``"l2"`` otherwise. Rows of zeros stay zero.
    """
    if normalise not in ("auto", "l1", "l2", "none"):
        raise SettingError(f"normalise is {normalise!r} (allowed: auto, l1, l2, none)")
    values = features.data if sp.issparse(features) else features
    if normalise == "auto":
        normalise = "l1" if not values.size or values.min() >= 0 else "l2"
    if normalise == "none":
        return features
    return row_l1(features) if normalise == "l1" else row_l2(features)


def open_device(device: str | torch.device) -> torch.device:
    """The torch device of that name; ``"auto"`` takes CUDA, then MPS, then the CPU."""
    if str(device) == "auto":
        mps = torch.backends.mps.is_available()
        device = "cuda" if torch.cuda.is_available() else "mps" if mps else "cpu"
    try:
        place = torch.device(device)
        torch.empty(1, device=place)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error).split("\n", maxsplit=1)[0]
        raise SettingError(f"device {device!s} can't be used here: {reason} (try cpu)") from error
    return place
