"""The learner of drgst-plus: linear readers of several lenses that speak as one."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from zlib import crc32

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from drgst.backbone.objective import NodeLoss
from drgst.backbone.training import OnEpoch
from drgst.errors import GraphError
from drgst.graph.core import Graph
from drgst.selftrain.beliefs import softmax
from drgst.selftrain.learner import Problem, Targets, Trained
from drgst.selftrain.plus.lenses import View, views_of
from drgst.selftrain.plus.panel import SHELF, Panel
from drgst.selftrain.plus.regression import fit_linear, log_softmax, read
from drgst.selftrain.propagation import untrained
from drgst.selftrain.settings import Settings
from drgst.selftrain.smooth import spread
from drgst.uncertainty.bias import best_scale_and_shift
from drgst.uncertainty.temperature import log_loss

SHOWN = 64  # columns of the embedding
ENOUGH = 10  # validation labels a class, on average, from which they set a scale and a shift
SMOOTHED = 5  # rounds of smoothing before pseudo-labels are chosen


@dataclass(frozen=True)
class Committee:
    """log p = mean over lenses Z of log softmax(Z W + b), W and b by softmax regression, (N, C).

    The view is chosen once a run (:func:`~drgst.selftrain.plus.panel.choose`). Where there are validation labels,
    ten a class or more, p becomes softmax(a log p + b) with a and b of
    :func:`~drgst.uncertainty.bias.best_scale_and_shift`, and of several l2 the one that is then right most often
    on them is taken. Information gain is what the readers differ by: B_u = H(mean_m p_um) - mean_m H(p_um).
    Pseudo-labels are chosen by p smoothed over the view's edges; the result is p itself. It knows one graph: it
    can't predict on another.
    """

    view: str = "auto"  # or topology, knn, features, hops, structure
    l2: tuple[float, ...] = (3e-4, 3e-3, 3e-2)  # the first where there are no validation labels
    lenses: tuple[int, ...] = ()  # which of the view's lenses are read; none: all
    smoothed: bool = True  # whether pseudo-labels are chosen by smoothed beliefs
    calibrated: bool = True  # whether validation labels, where there are, set a and b

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
        panel = SHELF.panel(problem, self.view, self.l2[0])
        tried = self.l2 if problem.split.val.size else self.l2[:1]
        best = max((self._read(panel, problem, targets, loss, l2) for l2 in tried), key=lambda r: r.merit)
        logits = best.log_p.astype(np.float32)
        return Trained(
            logits,
            np.ascontiguousarray(panel.view.lenses[0][:, :SHOWN]),
            best.state | {"size": torch.tensor(_size(problem.graph))},
            untrained(problem, logits, "softmax regression is fitted"),
            time.perf_counter() - began,
            lambda _, exact: disagreement(best.heard),  # noqa: ARG005
            opinion=_smoothed(logits, panel.view.smoother) if self.smoothed else None,
            note=f"{panel.reason} {best.words}".rstrip(),
        )

    def _read(self, panel: Panel, problem: Problem, targets: Targets, loss: NodeLoss, l2: float) -> Reading:
        """Every reader fitted with this l2, and what they say together."""
        state: dict[str, Tensor] = {}
        for i in self.lenses or range(len(panel.view.lenses)):
            rows = panel.view.lenses[i][targets.nodes]
            fitted = fit_linear(rows, targets.labels, targets.weights, problem.graph.num_classes, l2, loss)
            state[f"{panel.name}.{i}.weight"], state[f"{panel.name}.{i}.bias"] = fitted
        heard = _heard(panel.name, panel.view, state)
        log_p = np.mean(heard, axis=0)
        val = problem.split.val
        if not val.size:
            return Reading(state, heard, log_p)
        labels = problem.graph.labels[val]
        words = f"Validation labels chose an l2 of {l2:g}"
        if self.calibrated and val.size >= ENOUGH * problem.graph.num_classes:
            scale, shift = best_scale_and_shift(log_p[val], labels)
            state["scale"], state["shift"] = torch.tensor(scale, dtype=torch.float64), torch.from_numpy(shift)
            log_p = _together(heard, state)
            words += f" and shifted log p by {shift.min():+.1f} (class {shift.argmin()})"
            words += f" to {shift.max():+.1f} (class {shift.argmax()})"
        right = float((log_p[val].argmax(axis=1) == labels).mean())
        return Reading(state, heard, log_p, (right, -log_loss(log_p[val], labels)), f"{words}.")

    def predict(self, state: Mapping[str, Tensor], graph: Graph, settings: Settings) -> np.ndarray:  # noqa: ARG002
        """log p of every node of the graph that the committee was fitted on, (N, C)."""
        if state["size"].tolist() != _size(graph):
            nodes, edges = (int(v) for v in state["size"][:2])
            raise GraphError(
                "drgst-plus predicts only on the graph it was fitted on, "
                f"with {nodes:,} nodes and {edges:,} edges: run it on the whole of the new one"
            )
        name = next(key.split(".")[0] for key in state if key.endswith(".bias"))
        return _together(_heard(name, views_of(graph, [name])[name], state), state).astype(np.float32)


@dataclass(frozen=True, eq=False)
class Reading:
    """What readers of one l2 say."""

    state: dict[str, Tensor]
    heard: list[np.ndarray]  # log p of each
    log_p: np.ndarray  # of all together, (N, C)
    merit: tuple[float, float] = (0.0, 0.0)  # accuracy on validation nodes, then log-likelihood
    words: str = ""  # what validation labels decided


def disagreement(heard: list[np.ndarray]) -> np.ndarray:
    """B_u = H(mean_m p_um) - mean_m H(p_um), (N,) float32; ``heard`` holds log p of each reader."""
    p = np.mean([np.exp(log_p) for log_p in heard], axis=0)
    own = np.mean([-(np.exp(log_p) * log_p).sum(axis=1) for log_p in heard], axis=0)
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


def _heard(name: str, view: View, state: Mapping[str, Tensor]) -> list[np.ndarray]:
    """log p of each reader, (N, C) each."""
    return [
        read(z, state[f"{name}.{i}.weight"], state[f"{name}.{i}.bias"])
        for i, z in enumerate(view.lenses)
        if f"{name}.{i}.bias" in state
    ]


def _together(heard: list[np.ndarray], state: Mapping[str, Tensor]) -> np.ndarray:
    """log softmax(a mean_m log p_m + b), (N, C); the bare mean where nothing was calibrated."""
    log_p = np.mean(heard, axis=0)
    return log_softmax(state["scale"].numpy() * log_p + state["shift"].numpy()) if "scale" in state else log_p


def _smoothed(log_p: np.ndarray, s: sp.csr_array | None) -> np.ndarray | None:
    """log of G⁵, G⁰ = p, Gᵗ⁺¹ = 0.2 p + 0.8 Â Gᵗ, rows made to sum to 1, (N, C); None where the view has no edges."""
    if s is None:
        return None
    p = np.maximum(spread(s, softmax(log_p), 0.8, SMOOTHED), 1e-12)
    return np.log(p / p.sum(axis=1, keepdims=True))
