"""The learner of drgst-plus: linear readers of several lenses that speak as one."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar
from zlib import crc32

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from drgst.errors import GraphError
from drgst.graph.core import Graph
from drgst.nn.losses import NodeLoss
from drgst.nn.training import OnEpoch
from drgst.selftrain.learners.base import Trained, untrained
from drgst.selftrain.learners.multiview.choice import SHELF, ViewChoice
from drgst.selftrain.learners.multiview.prior import with_shares_of
from drgst.selftrain.learners.multiview.regression import fit_linear, log_softmax, read
from drgst.selftrain.learners.multiview.views import View, views_of
from drgst.selftrain.postprocess.smooth import own_and_around, smoothed_beliefs
from drgst.selftrain.problem import Problem, Targets
from drgst.selftrain.settings import Settings
from drgst.uncertainty.calibration import apply_matrices, fit_matrices, fit_scales_and_bias, log_loss

SHOWN = 64  # columns of the embedding
ENOUGH = 10  # validation labels a class, on average, from which they set scales and a shift
PLENTY = 25  # validation labels a class, on average, from which they also set matrices
MOST = 20_000  # pseudo-labels that readers are fitted to


@dataclass(frozen=True)
class MultiViewEnsemble:
    """log p_u = Σ_g s_g(u) L_g(u), L_g = mean over the lenses Z of circle g of log softmax(Z W + b), (N, C).

    W and b are fitted by softmax regression; s_g(u) is the circle's share of the voices at u. The view is chosen once
    a run (:func:`~.choose`). Where there are validation labels, ten a class on average and
    of every class, p becomes softmax(Σ_g a_g s_g L_g + b) with a and b of
    :func:`~drgst.uncertainty.calibration.fit_scales_and_bias`; where they are 25 a class, then
    softmax(z W_1 + z̄ W_2 + c) of this z = log p and of z̄, which is smoothed over the view's edges
    (:func:`~drgst.uncertainty.calibration.fit_matrices`). Of several l2 the one that is then right most often
    on them is taken. Information gain is what the readers differ by: B_u = H(Σ_m s_m p_um) - Σ_m s_m H(p_um).
    Pseudo-labels are chosen by p smoothed over the view's edges, with class shares held to what p expects
    (:mod:`~.prior`); the result is p itself. Readers of a large graph are fitted to 20,000 of its
    pseudo-labels at most, those of many classes with less l2 (:func:`scale_l2`). It knows one graph only.
    """

    reads: ClassVar[tuple[str, ...]] = ()

    view: str = "auto"  # or one of :func:`~drgst.selftrain.learners.multiview.views.views_of`
    l2: tuple[float, ...] = (3e-4, 3e-3, 3e-2)  # the first where there are no validation labels
    lenses: tuple[int, ...] = ()  # which lenses of a circle are read; all, where it has none of these
    smoothed: bool = True  # whether pseudo-labels are chosen by smoothed beliefs
    align_prior: bool = True  # whether their class shares are held to what p expects
    calibrated: bool = True  # whether validation labels, where there are, set a and b
    mixed: bool = True  # whether they also set matrices, where there are plenty
    most: int = MOST  # pseudo-labels that readers are fitted to

    def train(
        self,
        problem: Problem,
        targets: Targets,
        loss: NodeLoss,
        seed: tuple[int, ...],  # noqa: ARG002
        on_epoch: OnEpoch | None,  # noqa: ARG002
    ) -> Trained:
        """Fit every reader to the targets."""
        began = time.perf_counter()
        panel = self.panel(problem)
        tried = [scale_l2(l2, problem.graph.num_classes) for l2 in (self.l2 if problem.split.val.size else self.l2[:1])]
        targets = subsample(targets, self.most)
        best = max((self._read(panel, problem, targets, loss, l2) for l2 in tried), key=lambda r: r.merit)
        logits = best.log_p.astype(np.float32)
        return Trained(
            logits,
            np.ascontiguousarray(panel.view.lenses[0][:, :SHOWN]),
            best.state | {"size": torch.tensor(_size(problem.graph))},
            untrained(problem, logits, "softmax regression is fitted"),
            time.perf_counter() - began,
            lambda _, exact: disagreement(best.view_log_probs, best.shares),  # noqa: ARG005
            selection_logits=self._selection_logits(best.log_p, panel.view.smoother, problem.split.pool),
            note=f"{panel.reason} {best.words}".rstrip(),
        )

    def panel(self, problem: Problem) -> ViewChoice:
        """The view of this problem; chosen once, kept for its stages."""
        return SHELF.panel(problem, self.view, scale_l2(self.l2[0], problem.graph.num_classes))

    def _read(self, panel: ViewChoice, problem: Problem, targets: Targets, loss: NodeLoss, l2: float) -> Reading:
        """Every reader fitted with this l2, and what they say together."""
        state: dict[str, Tensor] = {}
        for g, circle in enumerate(panel.view.circles):
            for i in [i for i in self.lenses if i < len(circle.lenses)] or range(len(circle.lenses)):
                rows = circle.lenses[i][targets.nodes]
                fitted = fit_linear(rows, targets.labels, targets.weights, problem.graph.num_classes, l2, loss)
                state[f"{panel.name}.{g}.{i}.weight"], state[f"{panel.name}.{g}.{i}.bias"] = fitted
        view = panel.view
        view_log_probs, shares = _view_log_probs(panel.name, view, state), view.shares()
        log_p = _together(view_log_probs, view, state)
        val = problem.split.val
        if not val.size:
            return Reading(state, view_log_probs, shares, log_p)
        labels, classes = problem.graph.labels[val], problem.graph.num_classes
        missed = np.setdiff1d(targets.labels[: targets.true], labels).size  # a class without one would be shifted away
        words = f"Validation labels chose an l2 of {l2:g}"
        if self.calibrated and val.size >= ENOUGH * classes and not missed:
            scales, shift = fit_scales_and_bias(_voices(view_log_probs, shares)[:, val], labels)
            state["scale"], state["shift"] = torch.from_numpy(scales), torch.from_numpy(shift)
            log_p = _together(view_log_probs, view, state)
            words += f", scaled {_scaled(panel.name, scales)} and shifted log p by {shift.min():+.1f} "
            words += f"(class {shift.argmin()}) to {shift.max():+.1f} (class {shift.argmax()})"
            if self.mixed and val.size >= PLENTY * classes:
                opinions = own_and_around(log_p, view.smoother)
                matrices, offset = fit_matrices(opinions[:, val], labels)
                state["matrices"], state["offset"] = torch.from_numpy(matrices), torch.from_numpy(offset)
                log_p = apply_matrices(opinions, matrices, offset)
                words += f"; {_weighed(matrices)}"
        right = float((log_p[val].argmax(axis=1) == labels).mean())
        return Reading(state, view_log_probs, shares, log_p, (right, -log_loss(log_p[val], labels)), f"{words}.")

    def _selection_logits(self, log_p: np.ndarray, s: sp.csr_array | None, pool: np.ndarray) -> np.ndarray | None:
        """What pseudo-labels are chosen by: p smoothed, with class shares as p itself expects them."""
        seen = smoothed_beliefs(log_p, s) if self.smoothed and s is not None else log_p
        if self.align_prior:
            seen = with_shares_of(seen, log_p, pool)
        return None if seen is log_p else seen.astype(np.float32)

    def predict(self, state: Mapping[str, Tensor], graph: Graph, settings: Settings) -> np.ndarray:  # noqa: ARG002
        """log p of every node of the graph that the committee was fitted on, (N, C)."""
        if state["size"].tolist() != _size(graph):
            nodes, edges = (int(v) for v in state["size"][:2])
            raise GraphError(
                "drgst-plus predicts only on the graph it was fitted on, "
                f"with {nodes:,} nodes and {edges:,} edges: run it on the whole of the new one"
            )
        name = next(key.split(".")[0] for key in state if key.endswith(".bias"))
        view = views_of(graph, [name])[name]
        return _together(_view_log_probs(name, view, state), view, state).astype(np.float32)


@dataclass(frozen=True, eq=False)
class Reading:
    """What readers of one l2 say."""

    state: dict[str, Tensor]
    view_log_probs: list[list[np.ndarray]]  # log p of each reader of each circle
    shares: np.ndarray  # of the circles, (G, N) or (G, 1)
    log_p: np.ndarray  # of all together, (N, C)
    merit: tuple[float, float] = (0.0, 0.0)  # accuracy on validation nodes, then log-likelihood
    words: str = ""  # what validation labels decided


def scale_l2(l2: float, classes: int) -> float:
    """λ · min(1, 10 / C): the loss of one class is 1/C of the whole, but W has as many columns for it as ever."""
    return l2 * min(1.0, 10 / classes)


def subsample(targets: Targets, most: int = MOST) -> Targets:
    """Every k-th pseudo-label, at most ``most`` of them, with weights of the same sum; all true labels."""
    pseudo = np.arange(targets.true, targets.nodes.size)
    if pseudo.size <= most:
        return targets
    kept = pseudo[:: -(-pseudo.size // most)]
    weights = targets.weights[kept] * (targets.weights[pseudo].sum() / max(targets.weights[kept].sum(), 1e-12))
    rows = np.concatenate([np.arange(targets.true), kept])
    return Targets(
        targets.nodes[rows],
        targets.labels[rows],
        np.concatenate([targets.weights[: targets.true], weights]),
        targets.true,
    )


def disagreement(view_log_probs: list[list[np.ndarray]], shares: np.ndarray) -> np.ndarray:
    """B_u = H(Σ_m s_m p_um) - Σ_m s_m H(p_um), (N,) float32, over the readers m, who share their circle's s_g."""
    p, own = np.zeros_like(view_log_probs[0][0]), np.zeros(view_log_probs[0][0].shape[0])
    for circle, share in zip(view_log_probs, shares, strict=True):
        p += share[:, None] * np.mean([np.exp(log_p) for log_p in circle], axis=0)
        own -= share * np.mean([(np.exp(log_p) * log_p).sum(axis=1) for log_p in circle], axis=0)
    entropy = -(p * np.log(np.maximum(p, 1e-12))).sum(axis=1)
    return np.maximum(entropy - own, 0).astype(np.float32)


def _size(graph: Graph) -> list[int]:
    """Nodes, edges, features, and a checksum of both matrices: enough to know the graph again."""
    x = graph.features
    parts = (x,) if isinstance(x, np.ndarray) else (x.data, x.indices, x.indptr)
    check = 0
    for part in (graph.adjacency.indices, graph.adjacency.data, *parts):
        check = crc32(np.ascontiguousarray(part).view(np.uint8).data, check)
    return [graph.num_nodes, graph.num_edges, graph.num_features, check]


def _view_log_probs(name: str, view: View, state: Mapping[str, Tensor]) -> list[list[np.ndarray]]:
    """log p of each reader, (N, C) each, by circle."""
    keys = [[(z, f"{name}.{g}.{i}") for i, z in enumerate(c.lenses)] for g, c in enumerate(view.circles)]
    return [
        [read(z, state[f"{key}.weight"], state[f"{key}.bias"]) for z, key in circle if f"{key}.bias" in state]
        for circle in keys
    ]


def _voices(view_log_probs: list[list[np.ndarray]], shares: np.ndarray) -> np.ndarray:
    """s_g L_g, (G, N, C)."""
    return np.stack(
        [share[:, None] * np.mean(circle, axis=0) for circle, share in zip(view_log_probs, shares, strict=True)]
    )


def _together(view_log_probs: list[list[np.ndarray]], view: View, state: Mapping[str, Tensor]) -> np.ndarray:
    """log p of all readers, (N, C), as far as it was calibrated: the bare Σ_g s_g L_g, then a and b, then W and c."""
    voices = _voices(view_log_probs, view.shares())
    if "scale" not in state:
        return np.asarray(voices.sum(axis=0))
    log_p = log_softmax(np.tensordot(state["scale"].numpy(), voices, 1) + state["shift"].numpy())
    if "matrices" not in state:
        return log_p
    return apply_matrices(own_and_around(log_p, view.smoother), state["matrices"].numpy(), state["offset"].numpy())


def _scaled(name: str, scales: np.ndarray) -> str:
    """Such as "topology by 1.3, knn by 0.2"."""
    return ", ".join(f"{part} by {scale:.1f}" for part, scale in zip(name.split("+"), scales, strict=True))


def _weighed(matrices: np.ndarray) -> str:
    """How much a node's own belief and that around it count: the mean of each matrix's diagonal."""
    own, *around = (float(np.trace(matrix)) / len(matrix) for matrix in matrices)
    return f"matrices weigh its own belief {own:.1f}" + "".join(f" and that around it {w:.1f}" for w in around)
