"""PyTorch Geometric's ``Data`` in and out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from drgst.errors import GraphError, SplitError
from drgst.graph.core import Graph, make_graph
from drgst.graph.io.naming import clean_ids
from drgst.graph.split import Split

if TYPE_CHECKING:
    import torch
    from torch_geometric.data import Data

_PARTS = ("train", "val", "test", "pool")


def from_pyg(data: Data, name: str | None = None, predict: Sequence[str] | None = None) -> Graph:
    """A graph from a PyG ``Data`` with ``x``, ``edge_index``, ``y`` and, where they exist, ``edge_weight`` and masks.

    ``y`` holds class indices, (N,) or (N, 1), with -1 or NaN for unknown. ``train_mask``, ``val_mask`` and
    ``test_mask`` are (N,) or (N, S); S columns give S splits. ``pool_mask`` is honoured; without it the pool is every
    node outside the three. ``node_ids``, ``class_names`` and ``name``, which :func:`to_pyg` sets, are read back.
    ``predict`` names the classes of a model that is to predict these nodes: then ``y`` is not read and may be missing.
    """
    count = _count(data)
    labels = _labels(data.get("y") if predict is None else None, count)
    classes = predict or data.get("class_names") or [str(k) for k in range(int(labels.max(initial=-1)) + 1)]
    ids = data.get("node_ids")
    return make_graph(
        _features(data.get("x")),
        _adjacency(data, count),
        labels,
        class_names=classes,
        node_ids=None if ids is None else clean_ids(np.asarray(ids).tolist()),
        name=name or data.get("name") or "graph",
        splits=_splits(data, count),
        notes=["edge_attr is not used: weights are read from edge_weight"] if data.get("edge_attr") is not None else [],
        unlabelled=predict is not None,
    )


def to_pyg(graph: Graph) -> Data:
    """``graph`` as a PyG ``Data``: ``x`` dense, edges in both directions, masks (N,) for one split, (N, S) for S."""
    import torch
    from torch_geometric.data import Data

    pairs = graph.adjacency.tocoo()
    data = Data(
        x=torch.from_numpy(graph.features.toarray() if sp.issparse(graph.features) else graph.features.copy()),
        edge_index=torch.from_numpy(np.vstack(pairs.coords).astype(np.int64)),
        y=torch.from_numpy(graph.labels.copy()),
        num_nodes=graph.num_nodes,
    )
    if graph.weighted:
        data.edge_weight = torch.from_numpy(pairs.data.copy())
    for part in _PARTS if graph.splits else ():
        masks = np.zeros((graph.num_nodes, len(graph.splits)), dtype=bool)
        for k, split in enumerate(graph.splits):
            masks[getattr(split, part), k] = True
        data[f"{part}_mask"] = torch.from_numpy(masks[:, 0].copy() if len(graph.splits) == 1 else masks)
    data.node_ids, data.class_names, data.name = graph.node_ids.tolist(), list(graph.class_names), graph.name
    return data


def _count(data: Data) -> int:
    """N, from whatever says it; PyG would guess it from the edges and leave isolated nodes out."""
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
    known = np.where(np.isnan(values), -1, values).reshape(-1) if values.dtype.kind == "f" else values.reshape(-1)
    if (known != np.floor(known)).any():
        raise GraphError(f"y holds {known[known != np.floor(known)][0]}; labels are whole numbers, with -1 for unknown")
    return known.astype(np.int64)


def _adjacency(data: Data, count: int) -> sp.coo_array:
    if data.get("edge_index") is None:
        raise GraphError("the PyG data has no edge_index (adj_t is not read)")
    edges = _array(data.edge_index)
    if edges.ndim != 2 or edges.shape[0] != 2:
        raise GraphError(f"edge_index has shape {edges.shape}; (2, E) is needed")
    if edges.size and (edges.min() < 0 or edges.max() >= count):
        bad = edges.min() if edges.min() < 0 else edges.max()
        raise GraphError(f"edge_index names node {bad}, but the graph has nodes 0 to {count - 1}")
    given = data.get("edge_weight")
    weights = np.ones(edges.shape[1], dtype=np.float32) if given is None else _array(given).reshape(-1)
    if weights.size != edges.shape[1]:
        raise GraphError(f"there are {weights.size} edge weights for {edges.shape[1]} edges")
    return sp.coo_array((weights, (edges[0], edges[1])), shape=(count, count))


def _splits(data: Data, count: int) -> list[Split]:
    masks = {part: _mask(data.get(f"{part}_mask"), part, count) for part in _PARTS}
    if all(masks[part] is None for part in _PARTS[:3]):
        return []
    width = max(mask.shape[1] for mask in masks.values() if mask is not None)
    for part, mask in masks.items():
        if mask is not None and mask.shape[1] not in (1, width):
            raise SplitError(f"{part}_mask has {mask.shape[1]} columns, but another mask has {width}")
    return [_split(masks, k, count, "mask" if width == 1 else f"mask {k}") for k in range(width)]


def _split(masks: dict[str, np.ndarray | None], k: int, count: int, name: str) -> Split:
    """Split k; a mask of one column belongs to every split."""
    found = {
        part: np.empty(0, dtype=np.int64) if mask is None else np.flatnonzero(mask[:, min(k, mask.shape[1] - 1)])
        for part, mask in masks.items()
    }
    if masks["pool"] is None:
        return Split.of(found["train"], found["val"], found["test"], count, name=name)
    return Split(**found, name=name)


def _mask(mask: torch.Tensor | None, part: str, count: int) -> np.ndarray | None:
    if mask is None:
        return None
    values = _array(mask)
    if values.ndim not in (1, 2) or values.shape[0] != count:
        raise SplitError(f"{part}_mask has shape {values.shape}; (N,) or (N, S) with N = {count} is needed")
    return values.reshape(count, -1).astype(bool)
