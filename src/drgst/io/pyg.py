"""Conversion from and to PyTorch Geometric's ``Data`` and ``HeteroData``."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from drgst.errors import DrgstWarning, GraphError
from drgst.extras import import_extra
from drgst.graph.core import Graph, edge_matrix, make_graph
from drgst.graph.relation import Relation
from drgst.graph.split import PARTS, splits_from_masks
from drgst.tables.naming import clean_ids

if TYPE_CHECKING:
    import torch
    from torch_geometric.data import Data, HeteroData

NODES, LINK = "node", "uses"  # the node type and the kind of edges to entities that to_pyg writes


def from_pyg(data: Data | HeteroData, name: str | None = None, predict: Sequence[str] | None = None) -> Graph:
    """A graph from a PyG ``Data`` with ``x``, ``edge_index``, ``y`` and optionally ``edge_weight`` and masks.

    Of a ``HeteroData`` the one node type with ``y`` is classified. Edges within it are edges. Every other type that is
    linked to it, directly or through one type in between, is a :class:`~drgst.graph.relation.Relation`; the mean ``x``
    of the entities of a node, D^-1 B X, becomes further features of it.

    ``y`` holds class indices, (N,) or (N, 1), with -1 or NaN for unknown. ``train_mask``, ``val_mask`` and
    ``test_mask`` are (N,) or (N, S); S columns give S splits. Without ``pool_mask`` the pool is every node outside
    these three. ``node_ids``, ``class_names`` and ``name``, which :func:`to_pyg` sets, are read. ``predict`` gives the
    class names of a model that will predict these nodes: ``y`` is then ignored and may be missing.
    """
    if is_hetero(data):
        return _from_hetero(data, name, predict)
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


def to_pyg(graph: Graph) -> Data | HeteroData:
    """A PyG ``Data`` with dense ``x``, edges in both directions and masks, (N,) for one split and (N, S) for S.

    A graph with relations becomes a ``HeteroData`` with the node type ``node`` and one type per relation.
    """
    import torch

    pyg = import_extra("torch_geometric.data", "pyg")
    pairs = graph.adjacency.tocoo()
    data = pyg.Data(
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
    if not graph.relations:
        return data
    hetero = pyg.HeteroData()
    for key, value in data.to_dict().items():
        hetero[(NODES, "edge", NODES) if key.startswith("edge_") else NODES][key] = value
    for relation in graph.relations:
        links = relation.incidence.tocoo()
        hetero[relation.name].num_nodes, hetero[relation.name].node_ids = (
            len(relation.entities),
            relation.entities.tolist(),
        )
        edges = hetero[NODES, LINK, relation.name]
        edges.edge_index = torch.from_numpy(np.vstack(links.coords).astype(np.int64))
        edges.edge_weight = torch.from_numpy(links.data.copy())
    return hetero


def is_hetero(data: Any) -> bool:
    """Whether ``data`` is a PyG ``HeteroData``."""
    return hasattr(data, "node_types") and hasattr(data, "edge_types")


def _from_hetero(data: HeteroData, name: str | None, predict: Sequence[str] | None) -> Graph:
    """The graph of the node type with ``y``."""
    labelled = [kind for kind in data.node_types if data[kind].get("y") is not None]
    if len(labelled) != 1:
        found = ", ".join(map(repr, labelled)) or "none"
        raise GraphError(f"one node type of the HeteroData must have y, the type to classify; with y: {found}")
    kind = labelled[0]
    plain = import_extra("torch_geometric.data", "pyg").Data(**data[kind].to_dict())
    inner = [data[edge] for edge in data.edge_types if edge[0] == edge[2] == kind]
    ends = [_array(store.edge_index) for store in inner]
    weights = [_weights(store) for store in inner]
    import torch

    plain.edge_index = torch.from_numpy(np.concatenate([np.empty((2, 0), dtype=np.int64), *ends], axis=1))
    plain.edge_weight = torch.from_numpy(np.concatenate([np.empty(0, dtype=np.float32), *weights]))
    graph = from_pyg(plain, name, predict)
    relations = _relations(data, kind, graph.num_nodes)
    blocks = [] if graph.num_features == 0 else [graph.features]
    for relation in relations:
        x = _features(data[relation.name].get("x"))
        if x is not None:
            share = sp.diags_array(1 / np.maximum(relation.incidence.sum(axis=1), 1)) @ relation.incidence
            blocks.append(share.astype(np.float32) @ x)
    if len(blocks) > (graph.num_features > 0):
        dense = [block.toarray() if sp.issparse(block) and not sp.issparse(blocks[0]) else block for block in blocks]
        joined = sp.hstack(dense, format="csr") if sp.issparse(blocks[0]) else np.hstack(dense)
        graph = graph.with_(features=joined)
    return graph.with_(relations=tuple(relations))


def _relations(data: HeteroData, kind: str, count: int) -> list[Relation]:
    """A relation per type that is linked to ``kind``, and per type that is linked to one of these alone."""
    between: dict[tuple[str, str], sp.csr_array] = {}
    sizes = {name: count if name == kind else _num_nodes(data[name]) for name in data.node_types}
    for edge in data.edge_types:
        first, last = edge[0], edge[2]
        if first != last:
            ends, shape = _array(data[edge].edge_index), (sizes[first], sizes[last])
            b = sp.csr_array((_weights(data[edge]), tuple(ends)), shape=shape)
            for pair, matrix in (((first, last), b), ((last, first), sp.csr_array(b.T))):
                between[pair] = between[pair].maximum(matrix) if pair in between else matrix
    direct = {last: b for (first, last), b in between.items() if first == kind}
    chains = {
        last: direct[first] @ b
        for (first, last), b in between.items()
        if first in direct and last != kind and last not in direct
    }
    return [Relation.of(name, b, data[name].get("node_ids")) for name, b in {**direct, **chains}.items()]


def _weights(store: Any) -> np.ndarray:
    weights = store.get("edge_weight")
    return np.ones(store.edge_index.shape[1], dtype=np.float32) if weights is None else _array(weights).reshape(-1)


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
