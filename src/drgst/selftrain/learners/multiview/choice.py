"""Which view the committee reads, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from drgst.errors import GraphError, SettingError
from drgst.graph.core import Graph
from drgst.graph.transforms.rank_normalise import rank_normalised, remark
from drgst.selftrain.learners.multiview.crossfit import best_log_probs, out_of_fold, t_statistic
from drgst.selftrain.learners.multiview.homophily import edge_order, feature_homophily, feature_order
from drgst.selftrain.learners.multiview.regression import fit_linear, read
from drgst.selftrain.learners.multiview.views import View, permitted, views_of
from drgst.selftrain.problem import Problem

HOMOPHILOUS = (
    0.58  # feature_homophily from which edges vouch for topology; citation graphs have 0.8 and more, Flickr 0.55
)
ORDERLESS = 1.03  # below this, edges or features hold no groups that chance would not make
HETEROPHILOUS = ("knn+hops+structure", "knn", "features")  # the first of these, where edges do not join alike nodes
SIGNIFICANCE = {  # how often chance may give a view the t_statistic that lets it replace the first choice
    "topology": {"topology+knn": 0.1} | dict.fromkeys(("knn", "features", "hops", "structure"), 0.001),
    "neighbours": {},
    "structure": {"neighbours": 0.1},
    "knn+hops+structure": {"topology+knn+hops+structure": 0.5}
    | dict.fromkeys(("topology", "topology+knn", "hops", "structure", "neighbours"), 0.1),
    "knn": {"features": 0.025},
    "features": dict.fromkeys(("topology", "hops", "structure", "neighbours"), 0.5),  # too many for kNN: what leads
}


@dataclass(frozen=True, eq=False)
class ViewChoice:
    """The chosen view, and one sentence that says why."""

    name: str
    view: View
    reason: str


class Shelf:
    """Keeps the views of the last graph and the panel of the last problem: stages share one, draws the other."""

    def __init__(self) -> None:
        self._graph: Graph | None = None
        self._views: dict[str, View] = {}
        self._named: dict[str, View] = {}  # made because they were asked for: never among which a view is chosen
        self._asked: tuple[Problem, float] | None = None
        self._panel: ViewChoice | None = None

    def views(self, graph: Graph) -> dict[str, View]:
        """All among which a view is pseudo."""
        last = self._graph
        if last is None or last.features is not graph.features or last.adjacency is not graph.adjacency:
            if not permitted(graph):
                lacking = "neither edges nor features that two nodes share"
                raise GraphError(f"{graph.name!r} has {lacking}, so nothing can be learnt from it")
            self._views, self._named, self._graph = self._offered(graph), {}, graph
            self._panel = None
        return self._views

    def _offered(self, graph: Graph) -> dict[str, View]:
        """All views; neighbours, which take time, only where features do not vouch for the edges."""
        views = views_of(graph, [name for name in permitted(graph) if name != "neighbours"])
        if graph.num_edges and _feature_homophily(graph, views) < HOMOPHILOUS:
            views |= views_of(graph, ["neighbours"])
        return views

    def view(self, graph: Graph, name: str) -> View:
        """The view of that name, made if it is not there yet."""
        views = self.views(graph)
        if name not in views and name not in self._named:
            self._named |= views_of(graph, [name])
        return views[name] if name in views else self._named[name]

    def panel(self, problem: Problem, view: str, l2: float) -> ViewChoice:
        """Of this problem, with the view that is named or, for ``"auto"``, chosen; made once."""
        graph = problem.graph
        views = self.views(graph)
        if view != "auto":  # cheap: what was chosen for another problem stays
            name, reason = named(view, graph)
            return ViewChoice(name, self.view(graph, name), f"{reason} {remark(graph)}".rstrip())
        asked = (problem, l2)
        if self._panel is None or self._asked != asked:
            name, reason = choose(problem, views, l2)
            self._panel, self._asked = (
                ViewChoice(name, self.view(graph, name), f"{reason} {remark(graph)}".rstrip()),
                asked,
            )
        return self._panel


SHELF = Shelf()


def choose(problem: Problem, views: Mapping[str, View], l2: float) -> tuple[str, str]:
    """The view to listen to, and why; labels of training nodes, and of validation nodes where there are, are asked.

    The first choice is topology where edges join alike nodes (:func:`~.feature_homophily` of
    0.58 or more), kNN, hops and structure together where they do not. Another view takes its place if it foretells
    known labels, each by a reader that had not seen it, so much better that chance seldom gives that t_statistic
    (``SIGNIFICANCE``). Of several the best; neighbours for structure if edges lie within the groups they
    make. With one label a class nothing can be left out: neighbours or structure take its place where features hold
    no groups and edges do. Without features it is one of these two.
    """
    if len(views) == 1:
        only = next(iter(views))
        return only, f"{only}: the graph offers nothing else."
    base, words = _first(problem.graph, views)
    found = _asked(problem, views, l2)
    if not found:
        if base in HETEROPHILOUS and "structure" in views:
            base, more = _unaided(problem.graph, base, views)
            words += more
        return base, f"{base}: a class has one label alone, so views can't be compared; {words}."
    taken = max((n for n in found if n == base or _replaces(n, base, found)), key=lambda n: float(found[n].sum()))
    taken = _by_edges(problem.graph, views) if taken == "structure" else taken
    figures = ", ".join(f"{name} {np.exp(v.mean()):.2f}" for name, v in found.items())
    return taken, f"{taken}: mean probability of known labels left out: {figures}; {words}."


def _first(graph: Graph, views: Mapping[str, View]) -> tuple[str, str]:
    """The first choice, and the figure that says so."""
    if "features" not in views:
        together = _edge_homophily(graph, views)
        words = f"an edge lies within the groups that edges make {together:.0%} of the time (50% is chance)"
        return "neighbours" if together >= HOMOPHILOUS else "structure", words
    alike = _feature_homophily(graph, views)
    words = f"an edge joins features more alike than a random pair {alike:.0%} of the time (50% is chance)"
    return "topology" if alike >= HOMOPHILOUS else next(name for name in HETEROPHILOUS if name in views), words


def _replaces(rival: str, base: str, found: Mapping[str, np.ndarray]) -> bool:
    """Whether the rival leads by more than chance may give."""
    chance = SIGNIFICANCE[base].get(rival)
    return chance is not None and t_statistic(found[rival], found[base]) > critical_value(found[base].size, chance)


def _unaided(graph: Graph, base: str, views: Mapping[str, View]) -> tuple[str, str]:
    """The base, or where only the edges hold groups, neighbours if they lie within groups, structure if across."""
    edges = edge_order(graph, np.random.default_rng(0))
    features = feature_order(rank_normalised(graph), np.random.default_rng(0))
    name = base
    if features < ORDERLESS < edges:
        name = _by_edges(graph, views)
    return name, f"; groups in edges {edges:.2f}, in features {features:.2f} (1.00 is chance)"


def _by_edges(graph: Graph, views: Mapping[str, View]) -> str:
    """Of the two views that see edges alone: neighbours if edges lie within groups, structure if across."""
    return "neighbours" if "neighbours" in views and _edge_homophily(graph, views) >= HOMOPHILOUS else "structure"


def named(view: str, graph: Graph) -> tuple[str, str]:
    """The view of that name, where the graph permits it."""
    there = permitted(graph)
    if view not in there:
        raise SettingError(f"this graph has no view {view!r} (it has {', '.join(there)}, or auto)")
    return view, f"{view}: as it was asked for."


def critical_value(asked: int, chance: float) -> float:
    """The t_statistic in standard errors that chance gives so often over so many nodes (Student's t)."""
    from scipy.stats import t

    return float(t.ppf(1 - chance, max(asked - 1, 1)))


def _feature_homophily(graph: Graph, views: Mapping[str, View]) -> float:
    """Of the ends of an edge, by features; 0 where there are none."""
    if "features" not in views or not graph.num_edges:
        return 0.0
    return feature_homophily(graph, views["features"].lenses[0], np.random.default_rng(0))


def _edge_homophily(graph: Graph, views: Mapping[str, View]) -> float:
    """Whether edges lie within the groups that they make (0.5 is chance, less is across)."""
    return feature_homophily(graph, views["structure"].lenses[0], np.random.default_rng(0))


def _asked(problem: Problem, views: Mapping[str, View], l2: float) -> dict[str, np.ndarray]:
    """View -> log p of each known label by a reader that had not seen it; of validation nodes where there are.

    The first lens of every circle is read.
    """
    train, val, labels = problem.split.train, problem.split.val, problem.graph.labels
    counts = np.bincount(labels[train], minlength=problem.graph.num_classes)
    if not val.size and counts[counts > 0].min() < 2:
        return {}
    known = val if val.size else train
    view_log_probs = {}  # by the lens, as views share them
    for lens in (circle.lenses[0] for view in views.values() for circle in view.circles):
        if id(lens) not in view_log_probs:
            view_log_probs[id(lens)] = _unseen(lens, problem, l2)
    found = {}
    for name, view in views.items():
        shares = np.broadcast_to(view.shares(), (len(view.circles), problem.graph.num_nodes))[:, known]
        log_p = sum(s[:, None] * view_log_probs[id(c.lenses[0])] for s, c in zip(shares, view.circles, strict=True))
        found[name] = best_log_probs(np.asarray(log_p), labels[known])
    return found


def _unseen(lens: np.ndarray, problem: Problem, l2: float) -> np.ndarray:
    """log p of the validation nodes, or of training nodes by readers that had not seen them, (M, C)."""
    train, val, classes = problem.split.train, problem.split.val, problem.graph.num_classes
    labels = problem.graph.labels[train]
    if not val.size:
        return out_of_fold(lens, train, labels, classes, l2)
    return read(lens[val], *fit_linear(lens[train], labels, np.ones(train.size), classes, l2))
