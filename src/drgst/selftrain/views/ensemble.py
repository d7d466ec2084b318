"""The learner of drgst-plus: an ensemble of linear classifiers, one per view of the graph."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from drgst.errors import RunError, SettingError
from drgst.graph.core import Graph
from drgst.nn.losses import NodeLoss, cross_entropy
from drgst.nn.records import OnEpoch, State, under
from drgst.selftrain.learners.base import Trained, untrained
from drgst.selftrain.problem import Problem, Targets
from drgst.selftrain.settings import Settings
from drgst.selftrain.views.graph_views import VIEWS, Views
from drgst.selftrain.views.prior import SAMPLED_NODES, match_prior
from drgst.selftrain.views.regression import SoftmaxRegression, linear_log_probs
from drgst.selftrain.views.relations import ALL, relation_weights
from drgst.selftrain.views.shared import ViewMaps
from drgst.selftrain.views.stacking import PSEUDO_COUNTS, RELATED_COUNTS, view_weights
from drgst.transforms.incidence import EDGES
from drgst.transforms.products import NARROW_BYTES, as_float32, in_threads, release, row_blocks, where_many
from drgst.transforms.propagate import smooth_log_probs
from drgst.transforms.rank_normalise import describe_features
from drgst.transforms.softmax import entropy, log_softmax_float32, row_sum
from drgst.uncertainty.class_prior import class_shares, parse_shares

STEPS, FEWER_STEPS = 5, 2  # by which log-probabilities are smoothed, the second of more than 100,000 nodes
FEWER_PSEUDO_LABELS = 10_000  # that classifiers of more than 100,000 nodes are fitted to: experiment 049
SCATTER = np.uint32(2_654_435_769)  # 2³² / golden ratio: its multiples are spread evenly
MIN_WEIGHT = 0.03  # of a view that is used: experiment 041
SHOWN_COLUMNS = 64  # of the embedding
SHARE = ".share"  # suffix of the weight of a view in a state
MAPS = "map."  # prefix of what views have fitted, in a state
SMALLEST = np.finfo(np.float64).tiny  # above zero

Weights = Mapping[str, float]


@dataclass(frozen=True)
class MultiViewEnsemble:
    """log p = log softmax(Σ_v w_v L_v), L_v = log softmax(Z_v W_v + b_v), (N, C), over the views v.

    Each W_v, b_v is fitted by :class:`~.SoftmaxRegression`. The weights w_v are fitted once per run to out-of-fold
    log-probabilities of the training labels (:func:`~.stack`). Information gain is the disagreement of the views:
    B_u = H(Σ_v w_v p_vu) - Σ_v w_v H(p_vu). Pseudo-labels are selected by p smoothed over the edges of the views, with
    the class prior that p expects (:mod:`~.prior`); the result is p itself.
    """

    view: str = "auto"  # or a view, several by +
    max_pseudo_labels: int = SAMPLED_NODES  # that classifiers are fitted to
    smoothed: bool = True  # whether pseudo-labels are selected by smoothed log-probabilities
    align_prior: bool = True  # whether they are selected with the class prior that p expects
    prior: str | None = None  # class shares that the user states, as in fraud=0.02, instead of those that p expects
    weights: tuple[tuple[str, float], ...] = field(default=(), repr=False)  # of views; empty: fitted
    of_fold: bool = field(default=False, repr=False)  # whether a fold run is fitted, of whose result little is read
    reads: ClassVar[tuple[str, ...]] = ()
    takes_relations: ClassVar[bool] = True

    def train(
        self, problem: Problem, targets: Targets, loss: NodeLoss, seed: tuple[int, ...], _on_epoch: OnEpoch | None
    ) -> Trained:
        if loss is not cross_entropy:
            raise SettingError("the multi-view ensemble is fitted by cross-entropy; it takes no other correction")
        began = time.perf_counter()
        views, weights = self.views(problem), self.view_weights(problem)
        most = min(self.max_pseudo_labels, FEWER_PSEUDO_LABELS) if views.large else self.max_pseudo_labels
        targets = evened(subsample(targets, most, seed[1] if views.large else None))
        state: dict[str, np.ndarray] = {}
        for number, (name, linear) in enumerate(_fitted(problem, views, weights, targets), 1):
            problem.step("view", number, len(weights))
            state |= dict(zip((f"{name}.weight", f"{name}.bias"), linear, strict=True))
            state[name + SHARE] = np.array(weights[name], dtype=np.float64)
        log_p, gain = evaluate(views, state, weights, not (views.large and self.of_fold))
        first = max(weights, key=lambda name: weights[name])
        return Trained(
            log_p,
            views.leading(first, SHOWN_COLUMNS),
            state | {MAPS + name: array for name, array in views.saved(weights).items()},
            untrained(problem, log_p, "softmax regression is fitted"),
            time.perf_counter() - began,
            lambda _rng, exact: gain if not exact or np.isfinite(gain).all() else evaluate(views, state, weights)[1],
            selection_logits=self._selection_logits(log_p, views, weights, problem),
            note=self._describe(problem, views, weights),
        )

    def views(self, problem: Problem) -> Views:
        """The views of the problem's graph, made once."""
        return Views.of(problem.graph, problem.graph_cache, problem.shards)

    def view_weights(self, problem: Problem) -> dict[str, float]:
        """View -> weight, fitted once per problem; views below 0.03 are left out."""
        if self.weights:
            return dict(self.weights)
        key = ("view weights", self.view)
        if key not in problem.cache:
            train, views = problem.split.train, self.views(problem)
            names, rows = views.matching(self.view), {}
            for number, name in enumerate(names, 1):
                problem.step(f"making the view {name}", number, len(names))
                rows[name] = views.shards.at(views[name], train, problem.graph.num_nodes)
            labels, default = problem.graph.labels[train], views.default_weights(problem.graph)
            counts = RELATED_COUNTS if problem.graph.relations else PSEUDO_COUNTS
            weights = view_weights(rows, labels, default, SoftmaxRegression(problem.graph.num_classes), counts)
            kept = {name: w for name, w in weights.items() if w >= MIN_WEIGHT}
            problem.cache[key] = {name: w / sum(kept.values()) for name, w in kept.items()}
        return dict(problem.cache[key])

    def predict(self, state: State, graph: Graph, _settings: Settings) -> np.ndarray:
        """log p of every node of a graph with the same features, (N, C), with the maps of the fitted graph.

        Its first nodes may be those of the fitted graph, with new nodes after them; then all views are carried over.
        """
        return evaluate(*carried_over(state, graph))[0]

    def with_choices(self, problem: Problem) -> MultiViewEnsemble:
        """The learner with the view weights that it has for ``problem``, whatever it is trained on next."""
        return replace(self, weights=tuple(self.view_weights(problem).items()), of_fold=True)

    def average(self, own: State, others: Sequence[State], share: float) -> dict[str, np.ndarray]:
        """(1 - a) θ + a mean_k θ_k of every W and b, a = ``share``; log p is linear in θ up to a constant."""
        names = [name for name in own if name.endswith((".weight", ".bias"))]
        each = {name: np.mean([state[name] for state in others], axis=0) for name in names}
        return {name: (1 - share) * own[name] + share * each[name] for name in names}

    def undivided(self, _problem: Problem) -> str:
        """Several processes share every run, so there is no reason against it."""
        return ""

    def _selection_logits(self, log_p: np.ndarray, views: Views, weights: Weights, problem: Problem) -> np.ndarray:
        """log p smoothed over the edges of the views, with the class prior that is stated or that p expects."""
        s = views.smoother(weights) if self.smoothed else None
        log_q = log_p
        if s is not None:
            own = smooth_log_probs(log_p[views.own], s, FEWER_STEPS if views.large else STEPS)
            log_q = views.shards.all_rows(own, problem.graph.num_nodes)
        if self.align_prior:
            names = problem.graph.class_names
            shares = None if self.prior is None else class_shares(parse_shares(self.prior), names)
            log_q = match_prior(log_q, log_p, problem.split.pool, shares)
        return log_q.astype(np.float32)

    def _describe(self, problem: Problem, views: Views, weights: Weights) -> str:
        ordered = sorted(weights.items(), key=lambda item: -item[1])
        text = f"View weights: {', '.join(f'{name} {share:.2f}' for name, share in ordered)}."
        graph = problem.graph
        if graph.relations:
            by_relation = relation_weights(weights).items()
            text = f"Relations: {', '.join(f'{name} {share:.2f}' for name, share in by_relation)}. {text}"
        words = views.once("words", lambda: describe_features(views.features, graph.prepared, views.shards))
        return f"{text} {words}".rstrip()


def edge_weights(problem: Problem) -> dict[str, float]:
    """Relation -> weight with which it becomes edges, on average 1; ``edges`` have one, too, where there are any.

    In proportion to the fitted weights of its views, and an equal share of those of all links together.
    """
    graph = problem.graph
    names = [relation.name for relation in graph.relations if relation.members.max(initial=0) > 1]
    names += [EDGES] if graph.num_edges else []
    if len(names) < 2:
        return dict.fromkeys(names, 1.0)
    views = MultiViewEnsemble().view_weights(problem)
    found = relation_weights(views)
    found[EDGES] = sum(weight for name, weight in views.items() if name in VIEWS and VIEWS[name].needs_edges)
    each = {name: found.get(name, 0.0) + found.get(ALL, 0.0) / len(names) for name in names}
    total = sum(each.values())
    return {name: weight * len(names) / total if total else 1.0 for name, weight in each.items()}


def fitted_weights(state: State) -> dict[str, float]:
    """View -> weight of a fitted ensemble; empty for the state of any other learner."""
    found = {name.removesuffix(SHARE): w for name, w in state.items() if name.endswith(SHARE)}
    bad = [name for name, w in found.items() if np.size(w) != 1]
    if bad:
        raise RunError(f"the model is damaged: the weight of the view {bad[0]!r} is not a number")
    return {name: float(np.reshape(w, ())) for name, w in found.items()}


def fitted_maps(state: State) -> ViewMaps:
    """What the views of a fitted ensemble have fitted; empty for the state of any other learner."""
    return ViewMaps(under(MAPS, state))


def carried_over(state: State, graph: Graph) -> tuple[Views, State, dict[str, float]]:
    """The views of ``graph`` by the maps of a fitted ensemble, its state, and view -> weight of those it allows."""
    views, weights = Views(graph, fitted_maps(state)), fitted_weights(state)
    kept = views.carried_over(weights)
    return views, state, {name: weights[name] / sum(weights[n] for n in kept) for name in kept}


def subsample(targets: Targets, most: int, stage: int | None = None) -> Targets:
    """Every k-th pseudo-label, at most ``most`` of them, with weights of the same sum; all true labels.

    With a ``stage``, those of smallest (node + stage) · :data:`SCATTER` mod 2³²: as even, but all others stay where one
    node takes the place of another, while the last bits of a view may change every k-th.
    """
    pseudo = np.arange(targets.true, targets.nodes.size)
    if pseudo.size <= most:
        return targets
    if stage is None:
        kept = pseudo[:: -(-pseudo.size // most)]
    else:
        place = (targets.nodes[pseudo].astype(np.uint32) + np.uint32(stage)) * SCATTER
        kept = np.sort(pseudo[np.argsort(place, kind="stable")[:most]])
    weights = targets.weights[kept] * (targets.weights[pseudo].sum() / max(targets.weights[kept].sum(), SMALLEST))
    rows = np.concatenate([np.arange(targets.true), kept])
    weights = np.concatenate([targets.weights[: targets.true], weights])
    return Targets(targets.nodes[rows], targets.labels[rows], weights, targets.true)


def evened(targets: Targets) -> Targets:
    """The true labels of a class with n_c of them weigh √n_c in all, as a share of all true labels (experiment 027).

    With few labels, numbers that differ by chance favour a class, and every stage adds to it.
    """
    weights, labels = targets.weights[: targets.true], targets.labels[: targets.true]
    by_class = np.bincount(labels, weights)
    even = weights / np.sqrt(np.maximum(by_class, SMALLEST))[labels]
    even *= weights.sum() / max(even.sum(), SMALLEST)
    return replace(targets, weights=np.concatenate([even, targets.weights[targets.true :]]))


def disagreement(log_probs: Mapping[str, np.ndarray], weights: Weights) -> np.ndarray:
    """B_u = H(Σ_v w_v p_vu) - Σ_v w_v H(p_vu), (N,) float32."""
    mixed: np.ndarray = np.zeros(1, dtype=np.float32)
    own = mixed
    for name, log_p in log_probs.items():
        p = np.exp(log_p)
        mixed, own = mixed + weights[name] * p, own + weights[name] * row_sum(p * log_p)[:, 0]
    return np.maximum(entropy(mixed) + own, 0).astype(np.float32)


def combine(log_probs: Mapping[str, np.ndarray], weights: Weights, large: bool = False) -> np.ndarray:
    """log softmax(Σ_v w_v L_v), (N, C) float32."""
    total = sum(np.float32(weights[name]) * log_p for name, log_p in log_probs.items())
    return log_softmax_float32(np.asarray(total), large)


def evaluate(views: Views, state: State, weights: Weights, gains: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """:func:`combine` and :func:`disagreement` of all nodes, (N, C) and (N,), a block of rows at a time.

    So no (N, C) array is held per view. Each of several shards computes its own rows. Without ``gains``, the second is
    NaN, and log p takes one softmax: it is that of Σ_v w_v (Z_v W_v + b_v).
    """
    z, linear = {name: views[name] for name in weights}, {name: linear_of(state, name) for name in weights}
    count, width = next(iter(z.values())).shape[0], max(rows.shape[1] for rows in z.values())
    classes = next(iter(linear.values()))[1].size  # of the labels so far; views outlive a change of classes
    log_p = np.empty((count, classes), dtype=np.float32)
    gain = np.full(count, np.nan, dtype=np.float32)
    weighted = {name: tuple(np.float32(weights[name]) * part for part in linear[name]) for name in z}

    def work(part: slice) -> None:
        for rows in row_blocks(part, width, NARROW_BYTES if views.large else None):
            if gains:
                each = {name: linear_log_probs(z[name][rows], *linear[name], views.large) for name in z}
                log_p[rows], gain[rows] = combine(each, weights, views.large), disagreement(each, weights)
            else:
                total = sum(as_float32(z[name][rows]) @ w + b for name, (w, b) in weighted.items())
                log_p[rows] = log_softmax_float32(np.asarray(total), part=True)
        for rows_of_all in z.values():
            release(rows_of_all)

    where_many(work, count)
    log_p, gain = (views.shards.all_rows(own, views.graph.num_nodes) for own in (log_p, gain))
    return log_p, gain


def linear_of(state: State, name: str) -> tuple[np.ndarray, np.ndarray]:
    """W and b of a view."""
    return state[f"{name}.weight"], state[f"{name}.bias"]


def _fitted(
    problem: Problem, views: Views, names: Iterable[str], targets: Targets
) -> Iterator[tuple[str, tuple[np.ndarray, np.ndarray]]]:
    """W and b of every view; each of several shards has its own rows, unless there are no more of them than columns."""
    regression, nodes, shards = SoftmaxRegression(problem.graph.num_classes), targets.nodes, views.shards
    z = {name: views[name] for name in names}

    def fit(name: str) -> tuple[np.ndarray, np.ndarray]:
        if shards.size == 1 or nodes.size <= z[name].shape[1]:
            rows = shards.at(z[name], nodes, views.graph.num_nodes)
            release(z[name])
            return regression.fit(rows, targets.labels, targets.weights)
        part = shards.rows(views.graph.num_nodes)
        own = (nodes >= part.start) & (nodes < part.stop)
        return regression.fit(z[name][nodes[own] - part.start], targets.labels[own], targets.weights[own], shards)

    return zip(z, in_threads(fit, z) if views.large and shards.size == 1 else map(fit, z), strict=True)
