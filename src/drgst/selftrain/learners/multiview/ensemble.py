"""The learner of drgst-plus: an ensemble of linear classifiers over the representations of several views."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar
from zlib import crc32

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from drgst.errors import GraphError
from drgst.graph.core import Graph
from drgst.graph.transforms.propagate import smooth_log_probs
from drgst.graph.transforms.softmax import log_softmax
from drgst.nn.losses import NodeLoss
from drgst.nn.training import OnEpoch
from drgst.selftrain.learners.base import Trained, untrained
from drgst.selftrain.learners.multiview.choice import ViewChoice, view_choice
from drgst.selftrain.learners.multiview.prior import match_prior
from drgst.selftrain.learners.multiview.regression import SoftmaxRegression, linear_log_probs
from drgst.selftrain.learners.multiview.views import ViewSet, make_views
from drgst.selftrain.problem import Problem, Targets
from drgst.selftrain.settings import Settings
from drgst.uncertainty.calibration import apply_matrices, fit_matrices, fit_scales_and_bias, log_loss, own_and_smoothed

EMBEDDING_COLUMNS = 64
SCALE_LABELS = 10  # validation labels per class, on average, from which they set scales and a shift
MIXING_LABELS = 25  # validation labels per class, on average, from which they also set mixing matrices
MAX_PSEUDO_LABELS = 20_000  # that classifiers are fitted to

ViewLogProbs = list[list[np.ndarray]]  # log p of each classifier of each view, (N, C) each


@dataclass(frozen=True)
class MultiViewEnsemble:
    """log p_u = Σ_g s_g(u) L_g(u), L_g = mean over the representations Z of view g of log softmax(Z W + b), (N, C).

    W and b are fitted by softmax regression; s_g(u) is the normalised weight of view g at u. The views are chosen once
    per run (:func:`~.choose_view`). With validation labels of every class, ten per class on average, p becomes
    softmax(Σ_g a_g s_g L_g + b) with a and b of :func:`~drgst.uncertainty.calibration.fit_scales_and_bias`; with 25 per
    class then softmax(z W_1 + z̄ W_2 + c) of this z = log p and of z̄, smoothed over the view's edges
    (:func:`~drgst.uncertainty.calibration.fit_matrices`). Of several l2 that of highest validation accuracy is taken.
    Information gain is the disagreement of the classifiers: B_u = H(Σ_m s_m p_um) - Σ_m s_m H(p_um). Pseudo-labels are
    selected by p smoothed over the view's edges, with the class prior that p expects (:mod:`~.prior`); the result is p
    itself. Classifiers are fitted to 20,000 pseudo-labels at most, with less l2 for many classes (:func:`scale_l2`).
    It predicts on the graph it was fitted on only.
    """

    view: str = "auto"  # or one of :func:`~drgst.selftrain.learners.multiview.views.make_views`
    l2: tuple[float, ...] = (3e-4, 3e-3, 3e-2)  # the first where there are no validation labels
    representations: tuple[int, ...] = ()  # which of a view are used; all, where it has none of these
    smoothed: bool = True  # whether pseudo-labels are selected by smoothed log-probabilities
    align_prior: bool = True  # whether they are selected with the class prior that p expects
    calibrated: bool = True  # whether validation labels, where there are any, set a and b
    mixed: bool = True  # whether they also set matrices, where there are enough
    max_pseudo_labels: int = MAX_PSEUDO_LABELS
    reads: ClassVar[tuple[str, ...]] = ()

    def train(
        self, problem: Problem, targets: Targets, loss: NodeLoss, _seed: tuple[int, ...], _on_epoch: OnEpoch | None
    ) -> Trained:
        """Fit every classifier to the targets."""
        began = time.perf_counter()
        choice, classes = self.choice(problem), problem.graph.num_classes
        candidates = self.l2 if problem.split.val.size else self.l2[:1]
        regressions = [SoftmaxRegression(classes, scale_l2(l2, classes), loss) for l2 in candidates]
        targets = subsample(targets, self.max_pseudo_labels)
        best = max((self._fit(choice, problem, targets, r) for r in regressions), key=lambda fit: fit.score)
        logits = best.log_p.astype(np.float32)
        return Trained(
            logits,
            np.ascontiguousarray(choice.views.representations[0][:, :EMBEDDING_COLUMNS]),
            best.state | {"size": torch.tensor(_fingerprint(problem.graph))},
            untrained(problem, logits, "softmax regression is fitted"),
            time.perf_counter() - began,
            lambda _rng, _exact: disagreement(best.view_log_probs, choice.views.weights()),
            selection_logits=self._selection_logits(best.log_p, choice.views.smoother, problem.split.pool),
            note=f"{choice.reason} {best.note}".rstrip(),
        )

    def choice(self, problem: Problem) -> ViewChoice:
        """The views of this problem; chosen once and kept for its stages."""
        return view_choice(problem, self.view, scale_l2(self.l2[0], problem.graph.num_classes))

    def _fit(self, choice: ViewChoice, problem: Problem, targets: Targets, regression: SoftmaxRegression) -> Fit:
        """Every classifier with the l2 of ``regression``, combined and calibrated."""
        state: dict[str, Tensor] = {}
        for g, view in enumerate(choice.views.views):
            problem.step("view", g + 1, len(choice.views.views))
            count = len(view.representations)
            for i in [i for i in self.representations if i < count] or range(count):
                rows = view.representations[i][targets.nodes]
                key = f"{choice.name}.{g}.{i}"
                state[f"{key}.weight"], state[f"{key}.bias"] = regression.fit(rows, targets.labels, targets.weights)
        log_probs = view_log_probs(choice.name, choice.views, state)
        fit = Fit(state, log_probs, combine(log_probs, choice.views, state))
        val = problem.split.val
        if not val.size:
            return fit
        labels = problem.graph.labels[val]
        fit = replace(fit, note=f"Set by validation labels: l2 {regression.l2:g}")
        # a class without a validation label would be shifted away
        if self.calibrated and not np.setdiff1d(targets.labels[: targets.true], labels).size:
            fit = self._calibrate(fit, choice, val, labels)
        accuracy = float((fit.log_p[val].argmax(axis=1) == labels).mean())
        return replace(fit, score=(accuracy, -log_loss(fit.log_p[val], labels)), note=f"{fit.note}.")

    def _calibrate(self, fit: Fit, choice: ViewChoice, val: np.ndarray, labels: np.ndarray) -> Fit:
        """Scales and a shift, then mixing matrices, as far as there are enough validation labels."""
        views, classes = choice.views, fit.log_p.shape[1]
        if val.size < SCALE_LABELS * classes:
            return fit
        scales, shift = fit_scales_and_bias(weighted_log_probs(fit.view_log_probs, views)[:, val], labels)
        state = fit.state | {"scale": torch.from_numpy(scales), "shift": torch.from_numpy(shift)}
        log_p = combine(fit.view_log_probs, views, state)
        each = ", ".join(f"{part} {scale:.1f}" for part, scale in zip(choice.name.split("+"), scales, strict=True))
        note = f"{fit.note}, scale of {each}, shift of log p from {shift.min():+.1f} (class {shift.argmin()}) "
        note += f"to {shift.max():+.1f} (class {shift.argmax()})"
        if self.mixed and val.size >= MIXING_LABELS * classes:
            inputs = own_and_smoothed(log_p, views.smoother)
            matrices, offset = fit_matrices(inputs[:, val], labels)
            state |= {"matrices": torch.from_numpy(matrices), "offset": torch.from_numpy(offset)}
            log_p = apply_matrices(inputs, matrices, offset)
            diagonals = (float(np.trace(matrix)) / classes for matrix in matrices)
            weights = (f"{name} log p {w:.1f}" for name, w in zip(("own", "smoothed"), diagonals, strict=False))
            note += f", mean weight of {' and of '.join(weights)}"
        return replace(fit, state=state, log_p=log_p, note=note)

    def _selection_logits(self, log_p: np.ndarray, s: sp.csr_array | None, pool: np.ndarray) -> np.ndarray | None:
        """log p smoothed over the view's edges, with the class prior that p expects on the pool."""
        log_q = smooth_log_probs(log_p, s) if self.smoothed and s is not None else log_p
        if self.align_prior:
            log_q = match_prior(log_q, log_p, pool)
        return None if log_q is log_p else log_q.astype(np.float32)

    def predict(self, state: Mapping[str, Tensor], graph: Graph, _settings: Settings) -> np.ndarray:
        """log p of every node of the graph that the ensemble was fitted on, (N, C)."""
        if state["size"].tolist() != _fingerprint(graph):
            nodes, edges = (int(v) for v in state["size"][:2])
            raise GraphError(
                "drgst-plus predicts only on the graph it was fitted on, "
                f"with {nodes:,} nodes and {edges:,} edges: run it on the whole of the new one"
            )
        name = next(key.split(".")[0] for key in state if key.endswith(".bias"))
        views = make_views(graph, [name])[name]
        return combine(view_log_probs(name, views, state), views, state).astype(np.float32)


@dataclass(frozen=True, eq=False)
class Fit:
    """The classifiers fitted with one l2."""

    state: dict[str, Tensor]
    view_log_probs: ViewLogProbs
    log_p: np.ndarray  # of the ensemble, (N, C)
    score: tuple[float, float] = (0.0, 0.0)  # validation accuracy, then log-likelihood
    note: str = ""  # what validation labels set


def scale_l2(l2: float, classes: int) -> float:
    """λ · min(1, 10 / C): the loss of one class is 1/C of the whole, but W has as many entries for it as ever."""
    return l2 * min(1.0, 10 / classes)


def subsample(targets: Targets, most: int) -> Targets:
    """Every k-th pseudo-label, at most ``most`` of them, with weights of the same sum; all true labels."""
    pseudo = np.arange(targets.true, targets.nodes.size)
    if pseudo.size <= most:
        return targets
    kept = pseudo[:: -(-pseudo.size // most)]
    weights = targets.weights[kept] * (targets.weights[pseudo].sum() / max(targets.weights[kept].sum(), 1e-12))
    rows = np.concatenate([np.arange(targets.true), kept])
    weights = np.concatenate([targets.weights[: targets.true], weights])
    return Targets(targets.nodes[rows], targets.labels[rows], weights, targets.true)


def disagreement(log_probs: ViewLogProbs, weights: np.ndarray) -> np.ndarray:
    """B_u = H(Σ_m s_m p_um) - Σ_m s_m H(p_um), (N,) float32, over the classifiers m, which share their view's s_g."""
    p, own = np.zeros_like(log_probs[0][0]), np.zeros(log_probs[0][0].shape[0])
    for view, weight in zip(log_probs, weights, strict=True):
        p += weight[:, None] * np.mean([np.exp(log_p) for log_p in view], axis=0)
        own -= weight * np.mean([(np.exp(log_p) * log_p).sum(axis=1) for log_p in view], axis=0)
    entropy = -(p * np.log(np.maximum(p, 1e-12))).sum(axis=1)
    return np.maximum(entropy - own, 0).astype(np.float32)


def view_log_probs(name: str, views: ViewSet, state: Mapping[str, Tensor]) -> ViewLogProbs:
    """log p of every classifier that is in ``state``, by view."""
    keys = [[(z, f"{name}.{g}.{i}") for i, z in enumerate(v.representations)] for g, v in enumerate(views.views)]
    return [
        [linear_log_probs(z, state[f"{k}.weight"], state[f"{k}.bias"]) for z, k in view if f"{k}.bias" in state]
        for view in keys
    ]


def weighted_log_probs(log_probs: ViewLogProbs, views: ViewSet) -> np.ndarray:
    """s_g L_g, (G, N, C)."""
    return np.stack([w[:, None] * np.mean(view, axis=0) for view, w in zip(log_probs, views.weights(), strict=True)])


def combine(log_probs: ViewLogProbs, views: ViewSet, state: Mapping[str, Tensor]) -> np.ndarray:
    """log p of the ensemble, (N, C): Σ_g s_g L_g, then with a and b, then with W and c, where ``state`` has them."""
    weighted = weighted_log_probs(log_probs, views)
    if "scale" not in state:
        return np.asarray(weighted.sum(axis=0))
    log_p = log_softmax(np.tensordot(state["scale"].numpy(), weighted, 1) + state["shift"].numpy())
    if "matrices" not in state:
        return log_p
    return apply_matrices(own_and_smoothed(log_p, views.smoother), state["matrices"].numpy(), state["offset"].numpy())


def _fingerprint(graph: Graph) -> list[int]:
    """Nodes, edges, features, and a checksum of both matrices."""
    x = graph.features
    parts = (x,) if isinstance(x, np.ndarray) else (x.data, x.indices, x.indptr)
    check = 0
    for part in (graph.adjacency.indices, graph.adjacency.data, *parts):
        check = crc32(np.ascontiguousarray(part).view(np.uint8).data, check)
    return [graph.num_nodes, graph.num_edges, graph.num_features, check]
