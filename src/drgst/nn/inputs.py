"""The tensors of a graph: features and adjacency on one device."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
import torch

from drgst.errors import RunError, SettingError
from drgst.graph.core import Features, Graph
from drgst.nn.ops.adjacency import Adjacency
from drgst.nn.ops.sparse import Hidden, SparseMatrix
from drgst.nn.records import under
from drgst.transforms.features import row_l1, row_l2
from drgst.transforms.rank_normalise import RankTable, constant, unscaled
from drgst.transforms.structure import COLUMNS, StructureMap

PREFIX = "features:"  # of fitted features in the state of a network; no module's name holds a colon
KINDS = ("none", "l1", "l2", "ranks", "structure")
UNEVEN_ROWS = 0.4  # standard deviation over mean of the lengths of rows, above which they are kept: experiment 038
NOTES = {  # what normalise=auto has chosen, and why
    "structure": "no feature distinguishes nodes, so the network gets structural features (normalise=none: off)",
    "ranks": "features are raw amounts, so the network gets their normal scores (normalise=l2 or none: off)",
    "l2": "normalise=auto: rows of features are scaled to length 1, since their lengths differ little",
    "none": "normalise=auto: features are used as they are, since the lengths of their rows differ much",
}


@dataclass(frozen=True)
class Inputs:
    """X and A of a graph or subgraph on one device; row i belongs to ``nodes[i]`` of the whole graph."""

    x: Hidden  # (N, F)
    adj: Adjacency  # (N, N)
    nodes: np.ndarray  # (N,)

    @property
    def device(self) -> torch.device:
        return self.adj.device

    def restrict(self, nodes: np.ndarray) -> Inputs:
        """The subgraph of the rows ``nodes``, exact for the nodes whose neighbours are all inside."""
        if isinstance(self.x, SparseMatrix):
            x: Hidden = self.x.rows(nodes)
        else:
            x = self.x[torch.from_numpy(nodes).to(self.device)]
        return replace(self, x=x, adj=self.adj.restrict(nodes), nodes=self.nodes[nodes])


@dataclass(frozen=True, eq=False)
class InputFeatures:
    """X of a network, (N, F'): fitted to the training graph, kept in the model and applied to other graphs.

    With ``"auto"``: structural features where no feature distinguishes nodes; rank scores of raw amounts, as row
    normalisation would make a lone amount the same at all nodes and let the column of the largest unit decide; the
    features as they are where none is negative and the lengths ‖x_i‖ vary much, as these then distinguish nodes; else
    rows of length 1.
    """

    kind: str  # of KINDS
    ranks: RankTable | None = None
    structure: StructureMap | None = None

    @classmethod
    def fit(cls, graph: Graph, normalise: str) -> InputFeatures:
        kind = input_kind(graph, normalise)
        if kind == "structure":
            return cls(kind, structure=StructureMap.fit(graph))
        if kind == "ranks":
            return cls(kind, RankTable.fit(graph.features))
        return cls(kind)

    def __call__(self, graph: Graph) -> Features:
        if self.structure is not None:
            return self.structure(graph)
        return scaled(graph.features, self.kind) if self.ranks is None else self.ranks(graph.features)

    @cached_property
    def state(self) -> dict[str, np.ndarray]:
        """The arrays from which :meth:`of_state` makes it again."""
        parts = {"ranks": self.ranks, "structure": self.structure}
        arrays = {f"{name}.{k}": a for name, part in parts.items() if part is not None for k, a in vars(part).items()}
        arrays["kind"] = np.array([KINDS.index(self.kind)])
        return {PREFIX + name: np.asarray(a) for name, a in arrays.items()}

    @classmethod
    def of_state(cls, state: Mapping[str, np.ndarray], normalise: str) -> InputFeatures:
        """What was fitted, from the state of a model."""
        if normalise != "auto":
            return cls(normalise)
        arrays = under(PREFIX, state)
        kind = np.ravel(arrays.get("kind", ()))
        if not arrays or (kind.size == 3 and kind[1]):  # its features were not saved, or have another order
            raise RunError("an earlier version, which prepared features differently, fitted the model; fit it again")
        try:
            ranks, structure = under("ranks.", arrays), under("structure.", arrays)
            table = RankTable(**ranks) if ranks else None
            return cls(KINDS[int(kind[0])], table, StructureMap(**structure) if structure else None)
        except (IndexError, TypeError, ValueError) as error:
            raise RunError(f"the features of the model are damaged ({error})") from error


def make_inputs(
    graph: Graph, device: str | torch.device = "cpu", normalise: str = "auto", fitted: InputFeatures | None = None
) -> Inputs:
    """The tensors of ``graph`` on ``device``, features as ``fitted``, or as fitted to ``graph`` itself."""
    place = open_device(device)
    features = (fitted or InputFeatures.fit(graph, normalise))(graph)
    dense = isinstance(features, np.ndarray)
    if not dense and features.shape[1] and features.nnz > 0.25 * np.prod(features.shape):
        features, dense = features.toarray(), True  # a dense product is faster at this density
    x = torch.from_numpy(np.array(features)).to(place) if dense else SparseMatrix(features, place)
    return Inputs(x, Adjacency(graph.adjacency, place), np.arange(graph.num_nodes))


def input_kind(graph: Graph, normalise: str) -> str:
    """The entry of :data:`KINDS` that ``normalise`` means for ``graph``."""
    if normalise not in ("auto", "l1", "l2", "none"):
        raise SettingError(f"normalise is {normalise!r} (allowed: auto, l1, l2, none)")
    if normalise != "auto":
        return normalise
    if constant(graph.features):
        return "structure"
    x = graph.features
    if not graph.prepared and unscaled(x):
        return "ranks"
    if (x.data if sp.issparse(x) else x).min(initial=0) < 0:
        return "l2"
    lengths = np.sqrt(np.asarray((x.multiply(x) if sp.issparse(x) else x * x).sum(axis=1, dtype=np.float64)))
    return "none" if lengths.std() > UNEVEN_ROWS * lengths.mean() else "l2"


def network_columns(graph: Graph, normalise: str) -> int:
    """F', the number of columns of :class:`InputFeatures`."""
    return COLUMNS if input_kind(graph, normalise) == "structure" else graph.num_features


def scaled(features: Features, kind: str) -> Features:
    """x_i / Σ_f |x_if| (``"l1"``), x_i / ‖x_i‖ (``"l2"``) or x_i (``"none"``), (N, F); rows of zeros stay zero.

    The paper uses ``"l1"`` on Cora, Citeseer and Pubmed.
    """
    if kind == "none":
        return features
    return row_l1(features) if kind == "l1" else row_l2(features)


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
        known = "it is unknown; cpu, cuda, mps and auto are usual" if "device type" in str(error) else str(error)
        reason = known.split("\n", maxsplit=1)[0]
        raise SettingError(f"device {device!s} can't be used here: {reason} (try cpu)") from error
    return place
