"""The registry of views, and the views of one graph: a label-free object that runs on the same graph share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property, partial

import numpy as np
import scipy.sparse as sp

from drgst.errors import GraphError, RunError, SettingError, warn
from drgst.graph.core import Graph
from drgst.selftrain.problem import GraphCache
from drgst.selftrain.views.base import View
from drgst.selftrain.views.features import FeaturesAlone
from drgst.selftrain.views.hops import Hops
from drgst.selftrain.views.knn import Knn
from drgst.selftrain.views.neighbours import Neighbours
from drgst.selftrain.views.relations import RelatedFeatures, RelatedLinks, relation_names, relation_view
from drgst.selftrain.views.shared import Arrays, Shared
from drgst.selftrain.views.structure import Structure
from drgst.selftrain.views.topology import Topology
from drgst.shards import ALONE, Shards
from drgst.transforms.divided import DividedMatrix
from drgst.transforms.features import row_l2
from drgst.transforms.incidence import LinkMatrix
from drgst.transforms.products import gram, multiply_rows, release, sample_of_rows
from drgst.transforms.propagate import MatrixSum, Normalised, thinned

VIEWS: dict[str, View] = {
    view.name: view for view in (Topology(), Knn(), Hops(), FeaturesAlone(), Structure(), Neighbours())
}
ODDS = 10.0  # of homophilous edges where a pair of neighbours is as often similar as not
THINNED = 8  # entries of a row by which log-probabilities of more than 100,000 nodes are smoothed: experiment 049
PAIRS = 20_000  # edges and random pairs whose cosines are compared


class Views(Shared):
    """View -> Z, (N, D), each made once; with several ``shards``, the rows of this process."""

    @classmethod
    def of(cls, graph: Graph, cache: GraphCache, shards: Shards = ALONE) -> Views:
        """The views in ``cache``, made where ``graph`` has none there yet."""
        made: Views = cache.get(graph, "views", lambda: cls(graph, shards=shards))
        return made

    @cached_property
    def views(self) -> dict[str, View]:
        """Name -> view: those of every graph, those of its relations, and those of relations of the fitted graph."""
        fitted = (relation_view(key.split(".")[0]) for key in self.maps.arrays)
        own = (kind(name) for name in relation_names(self.graph) for kind in (RelatedFeatures, RelatedLinks))
        return VIEWS | {view.name: view for view in (*own, *fitted) if view is not None}

    def __getitem__(self, name: str) -> np.ndarray:
        return np.asanyarray(self.once(f"view {name}", lambda: self._make(name)))

    def _make(self, name: str) -> np.ndarray:
        view = self.views[name]
        forgets = view.of_nodes and self.forgets_nodes
        if forgets:
            self.__dict__.pop("table", None)  # made again should another view need it
        made = view.make(self)
        if forgets:
            self.maps.arrays.pop(view.vectors, None)
        for mapped in (made, self.graph.features, self.graph.adjacency):
            release(mapped)
        return made

    def leading(self, name: str, columns: int) -> np.ndarray:
        """The first ``columns`` of that view as they are stored, (N, ≤columns); the same array for every call."""

        def first() -> np.ndarray:
            return self.shards.all_rows(np.ascontiguousarray(self[name][:, :columns]), self.graph.num_nodes)

        return np.asanyarray(self.once(f"first {columns} columns of {name}", first))

    @cached_property
    def available(self) -> tuple[str, ...]:
        """The views that the graph allows."""
        return tuple(name for name, view in self.views.items() if view.applies(self.graph, self.has_features))

    def matching(self, name: str) -> tuple[str, ...]:
        """The views that ``name`` stands for: all for ``auto``, else one, or several joined by +."""
        if not self.available:
            raise GraphError(f"{self.graph.name!r} has neither edges nor features that some nodes share")
        chosen = self.available if name == "auto" else name.split("+")
        wrong = [part for part in chosen if part not in self.available]
        if wrong:
            allowed = ", ".join(sorted(self.available))
            raise SettingError(f"this graph has no view {wrong[0]!r} (allowed: {allowed}, auto)")
        return tuple(view for view in self.available if view in chosen)

    def smoother(self, weights: Mapping[str, float]) -> sp.csr_array | MatrixSum | None:
        """Σ_v w_v S_v / Σ_v w_v over the views v that propagate over S_v; None where none does.

        Of a large graph S_v has 8 entries of a row at most, and it is a :data:`~drgst.transforms.propagate.MatrixSum`.
        """
        parts: dict[int, tuple[float, Normalised]] = {}
        for name, weight in weights.items():
            s = self.views[name].matrix(self) if weight else None
            if s is not None:
                if self.large and not isinstance(s, LinkMatrix):
                    s = self.once(f"thinned {id(s)}", partial(thinned, s, THINNED))  # s lives as long as the views
                parts[id(s)] = parts.get(id(s), (0.0, s))[0] + weight, s
        if any(isinstance(s, LinkMatrix | DividedMatrix) for _, s in parts.values()) or (self.large and parts):
            total = sum(weight for weight, _ in parts.values())
            return tuple((weight / total, s) for weight, s in parts.values())
        if len(parts) < 2:
            return next((s for _, s in parts.values()), None)
        first, *others = sorted(parts.values(), key=lambda part: part[1] is not self.edges)
        total = first[0] + sum(weight for weight, _ in others)
        key = [(weight, id(s)) for weight, s in (first, *others)]
        known = self._values.get("smoother")
        if known is None or known[0] != key:
            made = sum((weight * s for weight, s in others), first[0] * first[1]) / np.float32(total)  # type: ignore
            self._values["smoother"] = known = key, sp.csr_array(made)
        return known[1]

    def default_weights(self, graph: Graph | None = None) -> dict[str, float]:
        """View -> weight before any label is seen: τ for one view, τ / (1 - τ) = 10 (a / (1 - a))²; equal for others.

        The view is the first that says by which other view it measures :func:`homophily` h: topology by features, or
        neighbours by structure (experiment 028). a = 2h - 1 is 0 where edges join no more similar nodes than chance
        and 1 where they always do. ``graph`` has the classes of a run; views outlive a change of classes.
        """
        graph, names = graph or self.graph, self.available
        relies = next((name for name in names if self.views[name].homophily_by in names), None)
        if relies is None:
            return dict.fromkeys(names, 1 / len(names))
        z = self[str(self.views[relies].homophily_by)]
        key = f"homophily of {graph.num_classes} classes"
        h = self.once(key, lambda: homophily(graph, z, np.random.default_rng(0), self.shards))
        a = max(2 * h - 1, 0.0)
        share = ODDS * a * a / (ODDS * a * a + (1 - a) ** 2)
        return {name: share if name == relies else (1 - share) / (len(names) - 1) for name in names}

    def saved(self, names: Iterable[str]) -> Arrays:
        """Everything fitted that these views need on another graph."""
        views = [self.views[name] for name in names]
        kept = {"nodes", *(v.name for v in views), *("features" for v in views if v.needs_features)}
        kept |= {"links" for v in views if isinstance(v, RelatedLinks)}
        return {name: array for name, array in self.maps.arrays.items() if name.split(".")[0] in kept}

    def carried_over(self, names: Iterable[str]) -> tuple[str, ...]:
        """Those of the fitted views that this graph allows; a warning names the others."""
        names = tuple(names)
        for name in names:
            view = self.views.get(name)
            if view is None or any(f"{name}.{part}" not in self.maps.arrays for part in view.saved):
                raise RunError(
                    f"the model was fitted by an earlier version, which had another view {name!r}; fit it again"
                )
        kept = tuple(name for name in names if name in self.available and self._knows_nodes(name))
        lost = [name for name in names if name not in kept]
        if not kept:
            raise GraphError(f"none of the model's views ({', '.join(names)}) can be made of {self.graph.name!r}")
        if lost:
            of_nodes = all(self.views[name].of_nodes for name in lost)
            lacks = "as it is" if self.graph.num_edges else "which has no edges"
            why = "which holds other nodes than the fitted graph" if of_nodes else lacks
            message = f"the views {', '.join(lost)} can't be made of {self.graph.name!r}, {why}"
            warn(f"{message}; the remaining views are used")
        return kept

    def _knows_nodes(self, name: str) -> bool:
        if not self.views[name].of_nodes:
            return True
        return self.views[name].vectors in self.maps.arrays and self.maps.are_of_the_first_nodes(self.graph)


def homophily(graph: Graph, z: np.ndarray, rng: np.random.Generator, shards: Shards = ALONE) -> float:
    """P(cos of an edge > cos of a random pair) + ½ P(equal), ½ by chance, by the leading components of centred rows z.

    As many components as there are classes: all columns together hold so much noise that even edges within classes
    are hardly more similar than random pairs. With several ``shards``, z has the rows of this process.
    """
    a = graph.adjacency
    _, v = np.linalg.eigh(gram(sample_of_rows(z, shards), shards))
    unit = row_l2(multiply_rows(z, v[:, -max(graph.num_classes, 2) :].astype(np.float32)))
    unit = shards.all_rows(unit, graph.num_nodes)
    edge = rng.choice(a.nnz, size=min(a.nnz, PAIRS), replace=False)
    rows = np.searchsorted(a.indptr, edge, side="right") - 1
    own = _cosines(unit, rows, a.indices[edge])
    u, w = rng.integers(0, graph.num_nodes, size=(2, PAIRS))
    chance = np.sort(_cosines(unit, u[u != w], w[u != w]))
    below, upto = (np.searchsorted(chance, own, side=side) for side in ("left", "right"))
    return float((below + upto).mean() / 2 / chance.size)


def _cosines(unit: np.ndarray, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """x_u · x_v for pairs of unit rows."""
    return np.asarray((unit[u] * unit[v]).sum(axis=1))
