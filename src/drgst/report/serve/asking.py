"""The queue of the workbench: which nodes the user is asked to label, and how each was chosen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from drgst.decide.labels.registry import FIRST, default_chooser, find_chooser
from drgst.decide.labels.state import first_state, label_rng, run_state
from drgst.decide.labels.suggest import Suggestions, suggest_nodes
from drgst.report.nodes import Sample
from drgst.report.page import suggested_data
from drgst.report.serve.refit import Document
from drgst.runs.result import Result, candidates
from drgst.selftrain.views.graph_views import Views
from drgst.threads import limit_threads

QUEUE = 20  # nodes that are suggested at a time
BY_HAND = ("hand", None)  # of a node that nobody suggested


class Asking:
    """The suggestions of ``drgst suggest`` for a graph, without the nodes that are labelled or were skipped."""

    def __init__(self, views: Views, sample: Sample) -> None:
        self.views, self.sample = views, sample
        self.skipped: set[int] = set()
        self._drawn: dict[int, tuple[str, float | None]] = {}  # node -> chooser and probability with which it was asked
        self._found: Suggestions | None = None
        self._result: Result | None = None

    @limit_threads(1)
    def choose(self, result: Result | None, labelled: np.ndarray) -> None:
        """Suggest nodes by a model, or by the graph alone where there is none."""
        free = np.flatnonzero(self.views.graph.labels < 0) if result is None else candidates(result.split)
        free = np.setdiff1d(np.intersect1d(free, self.sample.nodes), [*labelled, *self.skipped])
        if result is None:
            state = replace(first_state(self.views, free, label_rng(0)), labelled=labelled)
            found = suggest_nodes(state, find_chooser(FIRST), QUEUE, ())
        else:
            chooser = find_chooser(default_chooser(result.model.recipe, int(result.sampled.sum())))
            state = run_state(result, self.views, free, label_rng(result.model.seed))
            found = suggest_nodes(state, chooser, QUEUE, result.model.class_names)
        self._drawn |= {row["node"]: (row["chosen_by"], row["probability"]) for row in found.rows(None)}
        self._found, self._result = found, result

    def chosen_by(self, node: int) -> tuple[str, float | None]:
        """The chooser that suggested the node, and with which probability."""
        return self._drawn.get(node, BY_HAND)

    @property
    def note(self) -> str:
        """Why this chooser is used."""
        return "" if self._found is None else self._found.note

    def queue(self, labelled: np.ndarray) -> list[Document]:
        """The suggestions that are left, by place on the page."""
        if self._found is None:
            return []
        p, done = None if self._result is None else self._result.probabilities, {*labelled.tolist(), *self.skipped}
        rows = suggested_data(self._found, p, self.sample)["rows"]
        return [row for row, node in zip(rows, self._found.nodes.tolist(), strict=True) if node not in done]
