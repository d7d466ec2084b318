"""The choice of a view, from edges, features and the known labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from drgst.errors import GraphError, SettingError
from drgst.graph.core import Graph
from drgst.graph.transforms.rank_normalise import describe_features, rank_normalise
from drgst.selftrain.learners.multiview.crossfit import critical_value, label_log_probs, out_of_fold, t_statistic
from drgst.selftrain.learners.multiview.homophily import edge_signal, feature_signal, homophily
from drgst.selftrain.learners.multiview.regression import SoftmaxRegression, linear_log_probs
from drgst.selftrain.learners.multiview.views import ViewSet, available_views, make_views
from drgst.selftrain.problem import Problem

HOMOPHILOUS = 0.58  # homophily from which topology is the first choice; citation graphs have 0.8 and more, Flickr 0.55
SIGNAL = 1.03  # edge or feature signal below which there are no more clusters than by chance
HETEROPHILOUS = ("knn+hops+structure", "knn", "features")  # the first of these is the first choice below HOMOPHILOUS
SIGNIFICANCE = {  # first choice -> rival -> significance level at which the rival replaces it
    "topology": {"topology+knn": 0.1} | dict.fromkeys(("knn", "features", "hops", "structure"), 0.001),
    "neighbours": {},
    "structure": {"neighbours": 0.1},
    "knn+hops+structure": {"topology+knn+hops+structure": 0.5}
    | dict.fromkeys(("topology", "topology+knn", "hops", "structure", "neighbours"), 0.1),
    "knn": {"features": 0.025},
    "features": dict.fromkeys(("topology", "hops", "structure", "neighbours"), 0.5),  # graphs too large for kNN
}


@dataclass(frozen=True, eq=False)
class ViewChoice:
    """The chosen views, one sentence that says why, and the figures behind it."""

    name: str
    views: ViewSet
    reason: str
    evidence: Mapping[str, float]


def view_choice(problem: Problem, view: str, l2: float) -> ViewChoice:
    """The view of that name or, for ``"auto"``, the one that :func:`choose_view` takes; decided once per problem."""
    key = ("view", view, l2)
    if key not in problem.cache:
        if not available_views(problem.graph):
            raise GraphError(f"{problem.graph.name!r} has neither edges nor features that some nodes share")
        auto = view == "auto"
        problem.cache[key] = choose_view(problem, candidate_views(problem), l2) if auto else named_view(problem, view)
    return problem.cache[key]


def named_view(problem: Problem, view: str) -> ViewChoice:
    """The view of that name, where the graph allows it."""
    available = available_views(problem.graph)
    if view not in available:
        raise SettingError(f"this graph has no view {view!r} (allowed: {', '.join(available)}, auto)")
    return _made(problem, view, _views(problem, [view])[view], "as set")


def candidate_views(problem: Problem) -> dict[str, ViewSet]:
    """All views among which one is chosen; neighbours, which are slow to make, only on heterophilous graphs."""
    graph = problem.graph
    views = _views(problem, [name for name in available_views(graph) if name != "neighbours"])
    if graph.num_edges and ("features" not in views or _homophily(graph, views["features"]) < HOMOPHILOUS):
        views |= _views(problem, ["neighbours"])
    return views


def _views(problem: Problem, names: list[str]) -> dict[str, ViewSet]:
    """Name -> views, each made once per graph."""
    made = problem.graph_cache.get(problem.graph, "views", dict)
    missing = [name for name in names if name not in made]
    if missing:
        problem.step(f"making the views {', '.join(missing)}", 1, 1)
    made |= make_views(problem.graph, missing)
    return {name: made[name] for name in names}


def choose_view(problem: Problem, views: Mapping[str, ViewSet], l2: float) -> ViewChoice:
    """The view to train on, by the labels of training nodes, and of validation nodes where there are any.

    The first choice is topology on homophilous graphs (:func:`~.homophily` of 0.58 or more by features), kNN, hops and
    structure together on others. Another view replaces it if it gives known labels a higher log-probability, out of
    fold, with a t statistic above the critical value (``SIGNIFICANCE``). Of several the best; neighbours instead of
    structure if edges lie within clusters. With one label of a class there are no folds: neighbours or structure
    replace the first choice where edges have clusters and features do not. Without features it is one of these two.
    """
    if len(views) == 1:
        name = next(iter(views))
        return _made(problem, name, views[name], "the graph has no other")
    name, evidence, words = _first_choice(problem.graph, views)
    found = _known_label_log_probs(problem, views, l2)
    if not found:
        if name in HETEROPHILOUS and "structure" in views:
            name, more = _by_signal(problem.graph, name, views)
            words += more
        reason = f"views can't be compared, as a class has one label only; {words}"
        return _made(problem, name, views[name], reason, **evidence)
    first, rivals = name, [n for n in found if n == name or _replaces(n, name, found)]
    name = max(rivals, key=lambda n: float(found[n].sum()))
    name = _by_edges(problem.graph, views) if name == "structure" else name
    means = {n: float(np.exp(values.mean())) for n, values in found.items()}
    validation = problem.split.val.size > 0
    kind = "probability of validation labels" if validation else "out-of-fold probability of training labels"
    higher = [n for n, mean in means.items() if name == first and mean > means[first]]
    rule = f"{', '.join(higher)} higher, but not significantly, so {first} stays; " if higher else ""
    reason = f"mean {kind}: {', '.join(f'{n} {mean:.2f}' for n, mean in means.items())}; {rule}{words}"
    return _made(problem, name, views[name], reason, **evidence, **means)


def _made(problem: Problem, name: str, views: ViewSet, reason: str, **evidence: float) -> ViewChoice:
    words = f"View {name}: {reason}. {describe_features(problem.graph.features)}".rstrip()
    return ViewChoice(name, views, words, evidence)


def _first_choice(graph: Graph, views: Mapping[str, ViewSet]) -> tuple[str, dict[str, float], str]:
    """The first choice, the figure behind it, and that figure in words."""
    kind = "features" if "features" in views else "structure"
    value = _homophily(graph, views[kind]) if graph.num_edges else 0.0
    what = "features" if kind == "features" else "positions in the graph"
    words = f"an edge joins more similar {what} than a random pair {100 * value:.0f} % of the time (50 % by chance)"
    words = words if graph.num_edges else "the graph has no edges"
    if kind == "structure":
        name = "neighbours" if value >= HOMOPHILOUS else "structure"
    else:
        name = "topology" if value >= HOMOPHILOUS else next(n for n in HETEROPHILOUS if n in views)
    return name, {f"{kind}_homophily": value}, words


def _replaces(rival: str, base: str, found: Mapping[str, np.ndarray]) -> bool:
    """Whether the t statistic of the rival is above the critical value."""
    level = SIGNIFICANCE[base].get(rival)
    return level is not None and t_statistic(found[rival], found[base]) > critical_value(found[base].size, level)


def _by_signal(graph: Graph, base: str, views: Mapping[str, ViewSet]) -> tuple[str, str]:
    """The base, or a view of edges alone where they have clusters and features do not."""
    edges = edge_signal(graph.adjacency, graph.num_classes, np.random.default_rng(0))
    features = feature_signal(rank_normalise(graph.features), graph.num_classes, np.random.default_rng(0))
    name = _by_edges(graph, views) if features < SIGNAL < edges else base
    return name, f"; cluster signal of edges {edges:.2f}, of features {features:.2f} (1.00 by chance)"


def _by_edges(graph: Graph, views: Mapping[str, ViewSet]) -> str:
    """Of the two views of edges alone: neighbours if edges lie within clusters, else structure."""
    within = "neighbours" in views and _homophily(graph, views["structure"]) >= HOMOPHILOUS
    return "neighbours" if within else "structure"


def _homophily(graph: Graph, views: ViewSet) -> float:
    """By the first representation."""
    return homophily(graph.adjacency, views.representations[0], graph.num_classes, np.random.default_rng(0))


def _known_label_log_probs(problem: Problem, views: Mapping[str, ViewSet], l2: float) -> dict[str, np.ndarray]:
    """View -> log p of each validation label or, without any, of each training label out of fold; {} without folds.

    The first representation of every view is used.
    """
    train, val, labels = problem.split.train, problem.split.val, problem.graph.labels
    counts = np.bincount(labels[train], minlength=problem.graph.num_classes)
    if not val.size and counts[counts > 0].min() < 2:
        return {}
    known = val if val.size else train
    regression = SoftmaxRegression(problem.graph.num_classes, l2)
    log_probs: dict[int, np.ndarray] = {}  # by the identity of the representation, as compounds share them
    for z in (view.representations[0] for each in views.values() for view in each.views):
        if id(z) not in log_probs:
            log_probs[id(z)] = _log_probs(z, problem, regression)
    found = {}
    for name, each in views.items():
        weights = np.broadcast_to(each.weights(), (len(each.views), problem.graph.num_nodes))[:, known]
        log_p = sum(w[:, None] * log_probs[id(v.representations[0])] for w, v in zip(weights, each.views, strict=True))
        found[name] = label_log_probs(np.asarray(log_p), labels[known])
    return found


def _log_probs(z: np.ndarray, problem: Problem, regression: SoftmaxRegression) -> np.ndarray:
    """log p of the validation nodes, or of the training nodes out of fold, (M, C)."""
    train, val, labels = problem.split.train, problem.split.val, problem.graph.labels
    if not val.size:
        return out_of_fold(z[train], labels[train], regression)
    return linear_log_probs(z[val], *regression.fit(z[train], labels[train], np.ones(train.size)))
