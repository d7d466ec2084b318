"""The tensors of a graph: features and adjacency on one device."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
import torch

from drgst.errors import SettingError
from drgst.graph.core import Features, Graph
from drgst.nn.ops.adjacency import Adjacency
from drgst.nn.ops.sparse import Hidden, SparseMatrix
from drgst.transforms.features import row_l1, row_l2
from drgst.transforms.rank_normalise import constant, rank_scores, unscaled
from drgst.transforms.structure import COLUMNS, structural_features


@dataclass(frozen=True)
class Inputs:
    """X and A of a graph or subgraph on one device; row i belongs to ``nodes[i]`` of the whole graph."""

    x: Hidden  # (N, F)
    adj: Adjacency  # (N, N)
    nodes: np.ndarray  # (N,)

    @property
    def device(self) -> torch.device:
        """The device of the tensors."""
        return self.adj.device

    def restrict(self, nodes: np.ndarray) -> Inputs:
        """The subgraph of the rows ``nodes``, exact for the nodes whose neighbours are all inside."""
        if isinstance(self.x, SparseMatrix):
            x: Hidden = self.x.rows(nodes)
        else:
            x = self.x[torch.from_numpy(nodes).to(self.device)]
        return replace(self, x=x, adj=self.adj.restrict(nodes), nodes=self.nodes[nodes])


def make_inputs(graph: Graph, device: str | torch.device = "cpu", normalise: str = "auto") -> Inputs:
    """The tensors of ``graph`` on ``device``, features as :func:`network_features` gives them."""
    place = open_device(device)
    features = network_features(graph, normalise)
    dense = isinstance(features, np.ndarray)
    if not dense and features.shape[1] and features.nnz > 0.25 * np.prod(features.shape):
        features, dense = features.toarray(), True  # a dense product is faster at this density
    x = torch.from_numpy(np.array(features)).to(place) if dense else SparseMatrix(features, place)
    return Inputs(x, Adjacency(graph.adjacency, place), np.arange(graph.num_nodes))


def network_features(graph: Graph, normalise: str) -> Features:
    """X of a network, (N, F'): with ``"auto"``, structural features where no feature tells nodes apart, and rank scores
    of raw amounts; else :func:`scaled`.

    Row normalisation would make a lone amount the same at all nodes, and let the column of the largest unit decide.
    """
    if normalise == "auto" and constant(graph.features):
        return structural_features(graph.adjacency)
    if normalise == "auto" and unscaled(graph.features):
        return rank_scores(graph.features)
    return scaled(graph.features, normalise)


def network_columns(graph: Graph, normalise: str) -> int:
    """F', the number of columns of :func:`network_features`."""
    return COLUMNS if normalise == "auto" and constant(graph.features) else graph.num_features


def describe_features(graph: Graph, normalise: str) -> str:
    """What :func:`network_features` made of the features, in one sentence; empty where it only scaled rows."""
    if normalise != "auto":
        return ""
    if constant(graph.features):
        return "no feature tells nodes apart, so the network gets structural features (normalise=none: off)"
    if unscaled(graph.features):
        return "features are raw amounts, so the network gets their normal scores (normalise=l1 or none: off)"
    return ""


def scaled(features: Features, normalise: str) -> Features:
    """x_i / Σ_f |x_if| (``"l1"``), x_i / ‖x_i‖ (``"l2"``) or x_i (``"none"``), (N, F).

    The paper uses ``"l1"`` on Cora, Citeseer and Pubmed. ``"auto"`` is ``"l1"`` if no feature is negative, else
    ``"l2"``. Rows of zeros stay zero.
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
    """The torch device ``device``; ``"auto"`` is CUDA if available, else MPS, else the CPU."""
    if str(device) == "auto":
        mps = torch.backends.mps.is_available()
        device = "cuda" if torch.cuda.is_available() else "mps" if mps else "cpu"
    try:
        place = torch.device(device)
        if place.type == "meta":
            raise NotImplementedError("it holds shapes, but no numbers")
        torch.empty(1, device=place)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error).split("\n", maxsplit=1)[0]
        raise SettingError(f"device {device!s} can't be used here: {reason} (try cpu)") from error
    return place
