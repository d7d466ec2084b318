"""The learner of drgst-plus: an ensemble of linear classifiers, one per view of the graph."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from drgst.errors import RunError, SettingError
from drgst.graph.core import Graph
from drgst.nn.losses import NodeLoss, cross_entropy
from drgst.nn.training import OnEpoch
from drgst.selftrain.learners.base import Ablation, Trained, untrained
from drgst.selftrain.learners.multiview.blocks import ensemble_in_blocks
from drgst.selftrain.learners.multiview.prior import SAMPLED_NODES, match_prior
from drgst.selftrain.learners.multiview.regression import SoftmaxRegression, linear_log_probs
from drgst.selftrain.learners.multiview.stacking import view_weights
from drgst.selftrain.learners.multiview.view_maps import ViewMaps
from drgst.selftrain.learners.multiview.views import LEADING_COLUMNS, PROPAGATED, Views, matching_views
from drgst.selftrain.problem import Problem, Targets
from drgst.selftrain.settings import Settings
from drgst.transforms.propagate import smooth_log_probs
from drgst.transforms.rank_normalise import describe_features
from drgst.transforms.softmax import DOUBLE_ROWS, entropy, log_softmax_float32
from drgst.uncertainty.class_prior import class_shares, parse_shares

MIN_WEIGHT = 0.01  # of a view that is used
MAPS = "map."  # prefix of the maps of views in a state
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
    reads: ClassVar[tuple[str, ...]] = ()
    kinds: ClassVar[tuple[str, ...]] = ("view",)

    def train(
        self, problem: Problem, targets: Targets, loss: NodeLoss, _seed: tuple[int, ...], _on_epoch: OnEpoch | None
    ) -> Trained:
        """Fit the classifier of every view to the targets."""
        if loss is not cross_entropy:
            raise SettingError("the multi-view ensemble is fitted by cross-entropy; it takes no other correction")
        began = time.perf_counter()
        views, weights = self.views(problem), self.view_weights(problem)
        targets = evened(subsample(targets, self.max_pseudo_labels))
        regression = SoftmaxRegression(problem.graph.num_classes)
        state: dict[str, Tensor] = {}
        for number, (name, share) in enumerate(weights.items(), 1):
            problem.step("view", number, len(weights))
            weight, bias = _fitted(regression, views, name, targets)
            state |= {f"{name}.weight": torch.from_numpy(weight), f"{name}.bias": torch.from_numpy(bias)}
            state[f"{name}.share"] = torch.tensor(share, dtype=torch.float64)
        log_p, gain = _evaluated(views, state, weights)
        first = max(weights, key=lambda name: weights[name])
        return Trained(
            log_p,
            views.leading(first, LEADING_COLUMNS),
            state | {MAPS + name: torch.from_numpy(array) for name, array in self._maps(views, weights).items()},
            untrained(problem, log_p, "softmax regression is fitted"),
            time.perf_counter() - began,
            lambda _rng, _exact: gain(),
            selection_logits=self._selection_logits(log_p, views, weights, problem),
            note=self._describe(problem, weights),
        )

    def views(self, problem: Problem) -> Views:
        """The views of the problem's graph, made once."""
        make = lambda: Views(problem.graph, shards=problem.shards)  # noqa: E731
        views: Views = problem.graph_cache.get(problem.graph, "views", make)
        return views

    def view_weights(self, problem: Problem) -> dict[str, float]:
        """View -> weight, fitted once per problem; views below 0.01 are left out."""
        if self.weights:
            return dict(self.weights)
        key = ("view weights", self.view)
        if key not in problem.cache:
            train, views = problem.split.train, self.views(problem)
            names, rows = matching_views(problem.graph, self.view), {}
            for number, name in enumerate(names, 1):
                problem.step(f"making the view {name}", number, len(names))
                rows[name] = views.shards.at(views[name], train, problem.graph.num_nodes)
            labels, default = problem.graph.labels[train], views.default_weights()
            weights = view_weights(rows, labels, default, SoftmaxRegression(problem.graph.num_classes))
            kept = {name: w for name, w in weights.items() if w >= MIN_WEIGHT}
            problem.cache[key] = {name: w / sum(kept.values()) for name, w in kept.items()}
        return dict(problem.cache[key])

    def predict(self, state: Mapping[str, Tensor], graph: Graph, _settings: Settings) -> np.ndarray:
        """log p of every node of a graph with the same features, (N, C), with the maps of the fitted graph.

        Its first nodes may be those of the fitted graph, with new nodes after them; then all views are carried over.
        """
        return combine(*self._applied(state, graph))

    def _applied(self, state: Mapping[str, Tensor], graph: Graph) -> tuple[dict[str, np.ndarray], dict[str, float]]:
        """View -> L_v on ``graph``, and view -> weight, of the views that it allows."""
        arrays = {name.removeprefix(MAPS): t.numpy() for name, t in state.items() if name.startswith(MAPS)}
        views = Views(graph, ViewMaps(arrays))
        shares = {k.removesuffix(".share"): float(v) for k, v in state.items() if k.endswith(".share")}
        old = [name for name in shares if name in PROPAGATED and f"{name}.map" not in arrays]
        if old:
            raise RunError(
                f"the model was fitted by an earlier version, which had another view {old[0]!r}; fit it again"
            )
        kept = views.carried_over(shares)
        total = sum(shares[name] for name in kept)
        return {n: _log_probs(views, n, state) for n in kept}, {n: shares[n] / total for n in kept}

    def ablations(self, state: Mapping[str, Tensor], graph: Graph, _settings: Settings, node: int) -> list[Ablation]:
        """log softmax(Σ_{v ≠ g} w_v L_v) of the node without each view g, with the other weights as they are."""
        each, weights = self._applied(state, graph)
        found = []
        for name in each if len(each) > 1 else ():
            rest = {v: log_p[node : node + 1] for v, log_p in each.items() if v != name}
            top = each[name][node]
            alone = f"alone {graph.class_names[int(top.argmax())]} {np.exp(top.max()):.2f}, weight {weights[name]:.2f}"
            found.append(Ablation("view", name, combine(rest, weights)[0], alone))
        return found

    def _maps(self, views: Views, weights: Weights) -> dict[str, np.ndarray]:
        """The maps that the used views need."""
        used = {*weights, *(("features",) if any(n not in ("structure", "neighbours") for n in weights) else ())}
        return {name: a for name, a in views.maps.arrays.items() if name.split(".")[0] in {"nodes", *used}}

    def _selection_logits(self, log_p: np.ndarray, views: Views, weights: Weights, problem: Problem) -> np.ndarray:
        """log p smoothed over the edges of the views, with the class prior that is stated or that p expects."""
        s = views.smoother(weights) if self.smoothed else None
        log_q = log_p if s is None else smooth_log_probs(log_p, s)
        if self.align_prior:
            names = problem.graph.class_names
            shares = None if self.prior is None else class_shares(parse_shares(self.prior), names)
            log_q = match_prior(log_q, log_p, problem.split.pool, shares)
        return log_q.astype(np.float32)

    def _describe(self, problem: Problem, weights: Weights) -> str:
        ordered = sorted(weights.items(), key=lambda item: -item[1])
        text = f"View weights: {', '.join(f'{name} {share:.2f}' for name, share in ordered)}."
        words = problem.graph_cache.get(problem.graph, "words", lambda: describe_features(problem.graph.features))
        return f"{text} {words}".rstrip()


def subsample(targets: Targets, most: int) -> Targets:
    """Every k-th pseudo-label, at most ``most`` of them, with weights of the same sum; all true labels."""
    pseudo = np.arange(targets.true, targets.nodes.size)
    if pseudo.size <= most:
        return targets
    kept = pseudo[:: -(-pseudo.size // most)]
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
    p = sum(weights[name] * np.exp(log_p) for name, log_p in log_probs.items())
    own = sum(weights[name] * (np.exp(log_p) * log_p).sum(axis=1) for name, log_p in log_probs.items())
    return np.asarray(np.maximum(entropy(np.asarray(p)) + own, 0), dtype=np.float32)


def combine(log_probs: Mapping[str, np.ndarray], weights: Weights) -> np.ndarray:
    """log softmax(Σ_v w_v L_v), (N, C) float32."""
    total = sum(np.float32(weights[name]) * log_p for name, log_p in log_probs.items())
    return log_softmax_float32(np.asarray(total))


def _evaluated(
    views: Views, state: Mapping[str, Tensor], weights: Weights
) -> tuple[np.ndarray, Callable[[], np.ndarray]]:
    """log p, (N, C), and what computes the disagreement of the views; each shard computes its own rows."""
    if views.graph.num_nodes > DOUBLE_ROWS or views.shards.size > 1:
        found = ensemble_in_blocks({name: views[name] for name in weights}, state, weights)
        log_p, gain = (views.shards.all_rows(own, views.graph.num_nodes) for own in found)
        return log_p, lambda: gain
    each = {name: _log_probs(views, name, state) for name in weights}
    return combine(each, weights), lambda: disagreement(each, weights)


def _fitted(regression: SoftmaxRegression, views: Views, name: str, targets: Targets) -> tuple[np.ndarray, np.ndarray]:
    """W and b of a view; each of several shards has its own rows, unless there are no more of them than columns."""
    z, nodes, shards = views[name], targets.nodes, views.shards
    if shards.size == 1 or nodes.size <= z.shape[1]:
        return regression.fit(shards.at(z, nodes, views.graph.num_nodes), targets.labels, targets.weights)
    rows = shards.rows(views.graph.num_nodes)
    own = (nodes >= rows.start) & (nodes < rows.stop)
    return regression.fit(z[nodes[own] - rows.start], targets.labels[own], targets.weights[own], shards)


def _log_probs(views: Views, name: str, state: Mapping[str, Tensor]) -> np.ndarray:
    return linear_log_probs(views[name], state[f"{name}.weight"].numpy(), state[f"{name}.bias"].numpy())
