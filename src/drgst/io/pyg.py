"""Conversion from and to PyTorch Geometric's ``Data`` and ``HeteroData``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from drgst.errors import GraphError, warn
from drgst.extras import import_extra
from drgst.graph.core import Graph, edge_matrix, make_graph
from drgst.graph.relation import Relation
from drgst.graph.split import PARTS, splits_from_masks
from drgst.memory import check_memory
from drgst.tables.naming import clean_ids

if TYPE_CHECKING:
    from torch_geometric.data import Data, HeteroData

BYTES_PER_NODE = 200  # at least, for its id and the rows of matrices
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
    if isinstance(data, Sequence) or not hasattr(data, "get"):
        raise GraphError(f"from_pyg takes one Data, not {type(data).__name__}: of a dataset, dataset[0]")
    notes = []
    if data.get("edge_attr") is not None:
        notes.append("edge_attr is not used: weights are read from edge_weight")
        warn(notes[0])
    count = _num_nodes(data)
    labels = _labels(data.get("y") if predict is None else None, count)
    ids = data.get("node_ids")
    masks = {part: f"{part}_mask" for part in PARTS if data.get(f"{part}_mask") is not None}
    source, target = _edges(data, "edge_index", (count, count))
    return make_graph(
        _features(data.get("x")),
        edge_matrix(source, target, count, _weights(data)),
        labels,
        class_names=predict or data.get("class_names"),
        node_ids=None if ids is None else clean_ids(np.asarray(ids).reshape(-1).tolist()),
        name=name or data.get("name") or "graph",
        splits=splits_from_masks({part: _array(data[key], key).astype(bool) for part, key in masks.items()}, count),
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
    sizes = _sizes(data)
    inner = [(data[edge], edge) for edge in data.edge_types if edge[0] == edge[2] == kind]
    ends = [_edges(store, _edges_of(edge), (sizes[kind], sizes[kind])) for store, edge in inner]
    weights = [_weights(store) for store, _ in inner]
    import torch

    plain.edge_index = torch.from_numpy(np.concatenate([np.empty((2, 0), dtype=np.int64), *ends], axis=1))
    plain.edge_weight = torch.from_numpy(np.concatenate([np.empty(0, dtype=np.float32), *weights]))
    graph = from_pyg(plain, name, predict)
    relations = _relations(data, kind, sizes)
    blocks = [] if graph.num_features == 0 else [graph.features]
    for relation in relations:
        x = _features(data[relation.name].get("x"))
        if x is not None:
            if not np.isfinite(x.data if sp.issparse(x) else x).all():
                raise GraphError(f"x of the node type {relation.name!r} has a value that is NaN or infinite")
            share = sp.diags_array(1 / np.maximum(relation.incidence.sum(axis=1), 1)) @ relation.incidence
            blocks.append(share.astype(np.float32) @ x)
    if len(blocks) > (graph.num_features > 0):
        dense = [block.toarray() if sp.issparse(block) and not sp.issparse(blocks[0]) else block for block in blocks]
        joined = sp.hstack(dense, format="csr") if sp.issparse(blocks[0]) else np.hstack(dense)
        graph = graph.with_(features=joined)
    return graph.with_(relations=tuple(relations))


def _sizes(data: HeteroData) -> dict[str, int]:
    """The number of nodes of each type."""
    return {name: _num_nodes(data[name], f"the node type {name!r}") for name in data.node_types}


def _edges_of(edge: tuple[str, str, str]) -> str:
    return f"edge_index of the edge type {edge}"


def _relations(data: HeteroData, kind: str, sizes: Mapping[str, int]) -> list[Relation]:
    """A relation per type that is linked to ``kind``, and per type that is linked to one of these alone."""
    between: dict[tuple[str, str], sp.csr_array] = {}
    for edge in data.edge_types:
        first, last = edge[0], edge[2]
        if not {first, last} <= sizes.keys():
            raise GraphError(
                f"{_edges_of(edge)} names a node type without nodes (there are: {', '.join(map(repr, sizes))})"
            )
        if first != last:
            shape = (sizes[first], sizes[last])
            ends = _edges(data[edge], _edges_of(edge), shape)
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


def _edges(store: Any, name: str, sizes: tuple[int, int]) -> np.ndarray:
    """``edge_index`` of one type of edges, (2, E), checked: its rows name nodes below ``sizes``."""
    if store.get("edge_index") is None:
        raise GraphError(f"the PyG data has no {name} (adj_t is not read)")
    ends = _array(store.edge_index, name)
    if ends.ndim != 2 or ends.shape[0] != 2 or ends.dtype.kind not in "iu":
        raise GraphError(f"{name} has shape {ends.shape} and type {ends.dtype}; whole numbers (2, E) are needed")
    for nodes, size in zip(ends, sizes, strict=True):
        bad = nodes[(nodes < 0) | (nodes >= size)]
        if bad.size:
            raise GraphError(f"{name} names node {bad[0]}, but the graph has nodes 0 to {size - 1}")
    return ends.astype(np.int64)


def _weights(store: Any) -> np.ndarray:
    """``edge_weight``, (E,), 1 without it."""
    edges = store.edge_index.shape[1]
    if store.get("edge_weight") is None:
        return np.ones(edges, dtype=np.float32)
    weights = _array(store.edge_weight, "edge_weight").reshape(-1)
    if weights.size != edges:
        raise GraphError(f"there are {weights.size} edge weights for {edges} edges")
    if weights.dtype.kind not in "fiub":
        raise GraphError(f"edge_weight is {weights.dtype}; real numbers are needed")
    return weights.astype(np.float32)


def _num_nodes(data: Data, name: str = "the PyG data") -> int:
    """N from ``x`` or ``y``: PyG infers it from the edges, which leaves out isolated nodes."""
    for key in ("x", "y"):
        if data.get(key) is not None:
            shape = tuple(getattr(data[key], "shape", ()))
            if not shape:
                raise GraphError(f"{key} of {name} is of type {type(data[key]).__name__}; a tensor of rows is needed")
            return int(shape[0])
    if not isinstance(data.num_nodes, int) or data.num_nodes < 0:
        raise GraphError(f"the graph is empty: {name} has neither x, y nor num_nodes")
    check_memory(BYTES_PER_NODE * data.num_nodes, f"{name} with {data.num_nodes:,} nodes")
    return data.num_nodes


def _array(tensor: Any, name: str) -> np.ndarray:
    """A dense tensor as an array."""
    try:
        found = tensor.detach().cpu().numpy()
    except (AttributeError, TypeError, RuntimeError):
        kind = getattr(tensor, "dtype", type(tensor).__name__)
        raise GraphError(f"{name} is {kind}; a dense tensor of numbers that NumPy has is needed") from None
    return np.asarray(found)


def _features(x: Any) -> Any:
    import torch

    if x is None:
        return None
    if not isinstance(x, torch.Tensor) or x.dim() != 2:
        raise GraphError(f"x has shape {tuple(getattr(x, 'shape', ()))}; a tensor (N, F) is needed")
    if x.layout is torch.strided:
        found = _array(x, "x")
    else:
        coo = x.detach().cpu().to_sparse_coo().coalesce()
        ends = tuple(coo.indices().numpy())
        found = sp.csr_array((_array(coo.values(), "x"), ends), shape=tuple(x.shape))
    if found.dtype.kind not in "fiub":
        raise GraphError(f"x is {found.dtype}; real numbers are needed")
    return found.astype(np.float32)


def _labels(y: Any, count: int) -> np.ndarray:
    if y is None:
        return np.full(count, -1, dtype=np.int64)
    values = _array(y, "y")
    if values.ndim not in (1, 2) or values.size != len(values):
        raise GraphError(f"y has shape {values.shape}: one label per node is needed, (N,)")
    return np.where(np.isnan(values), -1, values).reshape(-1) if values.dtype.kind == "f" else values.reshape(-1)
