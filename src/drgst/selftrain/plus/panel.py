"""Which view the committee reads, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from drgst.errors import GraphError, SettingError
from drgst.graph.core import Graph
from drgst.graph.suggest import feature_agreement
from drgst.selftrain.learner import Problem
from drgst.selftrain.plus.evidence import cross_fitted, foretold, lead
from drgst.selftrain.plus.lenses import View, permitted, views_of
from drgst.selftrain.plus.regression import fit_linear, read
from drgst.selftrain.plus.unlabelled import edge_order, feature_order

ALIKE = 0.55  # agreement from which edges vouch for topology; synthetic graphs with homophily have 0.6, Flickr 0.51
ORDERLESS = 1.03  # below this, edges or features hold no groups that chance would not make
RARELY = 0.001  # how often chance may give a view the lead that lets it replace topology
SELDOM = {"topology": 0.5, "hops": 0.2, "knn": 0.025, "features": 0.025, "structure": 0.025}  # or another


@dataclass(frozen=True, eq=False)
class Panel:
    """The chosen view, and one sentence that says why."""

    name: str
    view: View
    reason: str


class Shelf:
    """Keeps the views of the last graph and the panel of the last problem: stages share one, draws the other."""

    def __init__(self) -> None:
        self._graph: Graph | None = None
        self._views: dict[str, View] = {}
        self._asked: tuple[Problem, str, float] | None = None
        self._panel: Panel | None = None

    def views(self, graph: Graph) -> dict[str, View]:
        """All that the graph permits."""
        last = self._graph
        if last is None or last.features is not graph.features or last.adjacency is not graph.adjacency:
            if not permitted(graph):
                raise GraphError(f"{graph.name!r} has neither edges nor features, so nothing can be learnt from it")
            self._views, self._graph = views_of(graph), graph
        return self._views

    def panel(self, problem: Problem, view: str, l2: float) -> Panel:
        """Of this problem, with the view that is named or, for ``"auto"``, chosen; made once."""
        asked = (problem, view, l2)
        if self._panel is None or self._asked != asked:
            views = self.views(problem.graph)
            name, reason = choose(problem, views, l2) if view == "auto" else named(view, views)
            self._panel, self._asked = Panel(name, views[name], reason), asked
        return self._panel


SHELF = Shelf()


def choose(problem: Problem, views: Mapping[str, View], l2: float) -> tuple[str, str]:
    """The view to listen to, and why; labels of training nodes, and of validation nodes where there are, are asked.

    The first choice is topology where edges join alike nodes (:func:`~drgst.graph.suggest.feature_agreement` of
    0.55 or more), kNN where they do not. Another view takes its place if it foretells known labels, each by a
    reader that had not seen it, so much better that chance seldom gives that lead: over topology once in a
    thousand, over kNN once in forty, but for hops in five, and topology need only lead. Of several the best. With
    one label a class nothing can be left out: structure takes kNN's place where features hold no groups and edges do.
    """
    if len(views) == 1:
        only = next(iter(views))
        return only, f"{only}: the graph offers nothing else."
    alike = _agreement(problem)
    base = "topology" if "topology" in views and alike >= ALIKE else "knn" if "knn" in views else "structure"
    words = f"an edge joins features more alike than a random pair {alike:.0%} of the time (50% is chance)"
    found = _asked(problem, views, l2)
    if not found:
        if base == "knn" and "structure" in views:
            base, more = _unaided(problem.graph)
            words += more
        return base, f"{base}: a class has one label alone, so views can't be compared; {words}."
    taken = max((n for n in found if n == base or _replaces(n, base, found)), key=lambda n: float(found[n].sum()))
    figures = ", ".join(f"{name} {np.exp(v.mean()):.2f}" for name, v in found.items())
    return taken, f"{taken}: mean probability of known labels left out: {figures}; {words}."


def _replaces(rival: str, base: str, found: Mapping[str, np.ndarray]) -> bool:
    """Whether the rival leads by more than chance may give."""
    chance = RARELY if base == "topology" else SELDOM[rival]
    return lead(found[rival], found[base]) > clearly(found[base].size, chance)


def _unaided(graph: Graph) -> tuple[str, str]:
    """kNN, or structure where only the edges hold groups; and the figures that say so."""
    edges = edge_order(graph, np.random.default_rng(0))
    features = feature_order(graph, np.random.default_rng(0))
    name = "structure" if features < ORDERLESS < edges else "knn"
    return name, f"; groups in edges {edges:.2f}, in features {features:.2f} (1.00 is chance)"


def named(view: str, views: Mapping[str, View]) -> tuple[str, str]:
    """The view of that name, where the graph permits it."""
    if view not in views:
        raise SettingError(f"this graph has no view {view!r} (it has {', '.join(views)}, or auto)")
    return view, f"{view}: as it was asked for."


def clearly(asked: int, chance: float) -> float:
    """The lead in standard errors that chance gives so often over so many nodes (Student's t)."""
    from scipy.stats import t

    return float(t.ppf(1 - chance, max(asked - 1, 1)))


def _agreement(problem: Problem) -> float:
    graph = problem.graph
    if not (graph.num_features and graph.num_edges):
        return 0.0
    return feature_agreement(graph, np.random.default_rng(0))


def _asked(problem: Problem, views: Mapping[str, View], l2: float) -> dict[str, np.ndarray]:
    """View -> log p of each known label by a reader that had not seen it; of validation nodes where there are."""
    train, val, labels = problem.split.train, problem.split.val, problem.graph.labels
    classes = problem.graph.num_classes
    if val.size:
        fitted = {
            n: fit_linear(v.lenses[0][train], labels[train], np.ones(train.size), classes, l2) for n, v in views.items()
        }
        return {n: foretold(read(views[n].lenses[0][val], *f), labels[val]) for n, f in fitted.items()}
    counts = np.bincount(labels[train], minlength=classes)
    if counts[counts > 0].min() < 2:
        return {}
    return {
        n: foretold(cross_fitted(v.lenses[0], train, labels[train], classes, l2), labels[train])
        for n, v in views.items()
    }
