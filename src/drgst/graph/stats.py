"""Statistics of a graph."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components

from drgst.graph.core import Graph


@dataclass(frozen=True, repr=False)
class Statistics:
    """The figures of the paper's Table 3, homophily, label counts, components and densities."""

    name: str
    nodes: int
    edges: int  # undirected
    features: int
    classes: int
    labelled: int
    homophily: float | None  # see :func:`edge_homophily`
    label_counts: dict[str, int]  # class name -> labelled nodes
    isolated: int
    components: int
    mean_degree: float
    feature_density: float  # share of non-zero entries of X

    def __repr__(self) -> str:
        homophily = "" if self.homophily is None else f", edge homophily {self.homophily:.2f}"
        return (
            f"Statistics({self.name!r}: {self.nodes:,} nodes, {self.edges:,} edges, "
            f"mean degree {self.mean_degree:.1f}, {self.features:,} features, {self.classes} classes, "
            f"{self.labelled:,} labelled{homophily})"
        )

    def to_dict(self) -> dict[str, Any]:
        """The statistics as JSON types."""
        return asdict(self)


def statistics(graph: Graph) -> Statistics:
    """The statistics of ``graph``."""
    counts = np.bincount(graph.labels[graph.labels >= 0], minlength=graph.num_classes)
    filled = graph.features.nnz if hasattr(graph.features, "nnz") else np.count_nonzero(graph.features)
    return Statistics(
        name=graph.name,
        nodes=graph.num_nodes,
        edges=graph.num_edges,
        features=graph.num_features,
        classes=graph.num_classes,
        labelled=int(counts.sum()),
        homophily=edge_homophily(graph),
        label_counts=dict(zip(graph.class_names, counts.tolist(), strict=True)),
        isolated=int((graph.degrees == 0).sum()),
        components=int(connected_components(graph.adjacency, directed=False, return_labels=False)),
        mean_degree=float(graph.degrees.mean()),
        feature_density=float(filled / max(1, graph.num_nodes * graph.num_features)),
    )


def edge_homophily(graph: Graph) -> float | None:
    """|{(u, v) ∈ E : y_u = y_v}| / |E| over the edges with two known labels; None if there is no such edge."""
    y = graph.labels
    left = np.repeat(y, graph.degrees)
    right = y[graph.adjacency.indices]
    known = (left >= 0) & (right >= 0)
    return float((left[known] == right[known]).mean()) if known.any() else None
