"""Conversion from and to PyTorch Geometric's ``Data``."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from drgst.errors import DrgstWarning, GraphError
from drgst.extras import import_extra
from drgst.graph.core import Graph, edge_matrix, make_graph
from drgst.graph.split import PARTS, splits_from_masks
from drgst.tables.naming import clean_ids

if TYPE_CHECKING:
    import torch
    from torch_geometric.data import Data


def from_pyg(data: Data, name: str | None = None, predict: Sequence[str] | None = None) -> Graph:
    """A graph from a PyG ``Data`` with ``x``, ``edge_index``, ``y`` and optionally ``edge_weight`` and masks.

    ``y`` holds class indices, (N,) or (N, 1), with -1 or NaN for unknown. ``train_mask``, ``val_mask`` and
    ``test_mask`` are (N,) or (N, S); S columns give S splits. Without ``pool_mask`` the pool is every node outside
    these three. ``node_ids``, ``class_names`` and ``name``, which :func:`to_pyg` sets, are read. ``predict`` gives the
    class names of a model that will predict these nodes: ``y`` is then ignored and may be missing.
    """
    notes = []
    if data.get("edge_attr") is not None:
        notes.append("edge_attr is not used: weights are read from edge_weight")
        warnings.warn(notes[0], DrgstWarning, stacklevel=2)
    count = _num_nodes(data)
    labels = _labels(data.get("y") if predict is None else None, count)
    ids = data.get("node_ids")
    masks = {part: data[f"{part}_mask"] for part in PARTS if data.get(f"{part}_mask") is not None}
    return make_graph(
        _features(data.get("x")),
        _adjacency(data, count),
        labels,
        class_names=predict or data.get("class_names"),
        node_ids=None if ids is None else clean_ids(np.asarray(ids).tolist()),
        name=name or data.get("name") or "graph",
        splits=splits_from_masks({part: _array(mask).astype(bool) for part, mask in masks.items()}, count),
        notes=notes,
        unlabelled=predict is not None,
    )


def to_pyg(graph: Graph) -> Data:
    """A PyG ``Data`` with dense ``x``, edges in both directions and masks, (N,) for one split and (N, S) for S."""
    import torch

    pairs = graph.adjacency.tocoo()
    data = import_extra("torch_geometric.data", "pyg").Data(
        x=torch.from_numpy(graph.features.toarray() if sp.issparse(graph.features) else graph.features.copy()),
        edge_index=torch.from_numpy(np.vstack(pairs.coords).astype(np.int64)),
        y=torch.from_numpy(graph.labels.copy()),
        num_nodes=graph.num_nodes,
    )
    if graph.weighted:
        data.edge_weight = torch.from_numpy(pairs.data.copy())
    for part in PARTS if graph.splits else ():
        masks = np.zeros((graph.num_nodes, len(graph.splits)), dtype=bool)
        for k, split in enumerate(graph.splits):
            masks[getattr(split, part), k] = True
        data[f"{part}_mask"] = torch.from_numpy(masks[:, 0].copy() if len(graph.splits) == 1 else masks)
    data.node_ids, data.class_names, data.name = graph.node_ids.tolist(), list(graph.class_names), graph.name
    return data


def _num_nodes(data: Data) -> int:
    """N from ``x`` or ``y``: PyG infers it from the edges, which leaves out isolated nodes."""
    for key in ("x", "y"):
        if data.get(key) is not None:
            return int(data[key].shape[0])
    if data.num_nodes is None:
        raise GraphError("the graph is empty: the PyG data has neither x, y nor num_nodes")
    return int(data.num_nodes)


def _array(tensor: torch.Tensor) -> np.ndarray:
    return tensor.detach().cpu().numpy()


def _features(x: torch.Tensor | None) -> Any:
    import torch

    if x is None:
        return None
    if x.dim() != 2:
        raise GraphError(f"x has shape {tuple(x.shape)}; (N, F) is needed")
    if x.layout is torch.strided:
        return _array(x)
    coo = x.detach().cpu().to_sparse_coo().coalesce()
    return sp.csr_array((coo.values().numpy(), tuple(coo.indices().numpy())), shape=tuple(x.shape))


def _labels(y: torch.Tensor | None, count: int) -> np.ndarray:
    if y is None:
        return np.full(count, -1, dtype=np.int64)
    values = _array(y)
    if values.ndim == 2 and values.shape[1] > 1:
        raise GraphError(f"y has shape {values.shape}: one label per node is needed, (N,)")
    return np.where(np.isnan(values), -1, values).reshape(-1) if values.dtype.kind == "f" else values.reshape(-1)


def _adjacency(data: Data, count: int) -> sp.coo_array:
    if data.get("edge_index") is None:
        raise GraphError("the PyG data has no edge_index (adj_t is not read)")
    edges = _array(data.edge_index)
    if edges.ndim != 2 or edges.shape[0] != 2:
        raise GraphError(f"edge_index has shape {edges.shape}; (2, E) is needed")
    if edges.size and (edges.min() < 0 or edges.max() >= count):
        bad = edges.min() if edges.min() < 0 else edges.max()
        raise GraphError(f"edge_index names node {bad}, but the graph has nodes 0 to {count - 1}")
    weights = None if data.get("edge_weight") is None else _array(data.edge_weight).reshape(-1)
    if weights is not None and weights.size != edges.shape[1]:
        raise GraphError(f"there are {weights.size} edge weights for {edges.shape[1]} edges")
    return edge_matrix(edges[0], edges[1], count, weights)
