"""One piece of work: a source, its labels, and the model that is refitted in the background as they are given."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np

from drgst.decide.explain import explain
from drgst.decide.labels.forecast import forecast
from drgst.decide.labels.registry import FIRST, default_chooser, find_chooser
from drgst.decide.labels.represent import first_state, label_rng, representation, run_state
from drgst.decide.labels.suggest import Suggestions, suggest_nodes
from drgst.errors import DrgstError, RunError, nearest, unknown
from drgst.report.nodes import Sample, graph_data, place_data
from drgst.report.page import FORMAT, facts_data, model_data, reasons_data, repeat_command, suggested_data
from drgst.report.serve.label_file import LabelFile
from drgst.report.serve.source import Source
from drgst.report.tsne import positions, principal_components, to_square
from drgst.runs.added_labels import AddedLabel
from drgst.runs.folder import RunFolder
from drgst.runs.lock import locked
from drgst.runs.metrics import wilson
from drgst.runs.result import Result, candidates
from drgst.selftrain.callbacks import Callback
from drgst.selftrain.history import History
from drgst.selftrain.problem import GraphCache
from drgst.selftrain.views.graph_views import Views
from drgst.threads import limit_threads

_log = logging.getLogger("drgst")
LABELS = "labels.csv"
QUEUE = 20  # nodes that are suggested at a time
LONGEST = 600.0  # seconds that a request waits for an explanation
BY_HAND = "hand"  # chosen_by of a node that nobody suggested
Document = dict[str, Any]
Publish = Callable[[str, Document], None]  # event, its content


class Session:
    """The state of the workbench on one source. Methods are called by the server; fits run in one thread of its own."""

    def __init__(self, source: Source) -> None:
        self.source, self.cache = source, GraphCache()
        self.publish: Publish = lambda _event, _content: None
        self._lock, self._held = threading.RLock(), ExitStack()
        self._held.enter_context(locked(source.folder))
        self.file = LabelFile(source.folder / LABELS, source.earlier)
        self.classes = list(dict.fromkeys([*source.classes, *(label.label for label in self.file.labels.values())]))
        self.ids = [str(name) for name in source.graph.node_ids.tolist()]
        self.sample = Sample.of(len(self.ids), self._labelled(), 0)
        self.result: Result | None = source.result
        self.suggested: Suggestions | None = None
        self.asked: dict[int, tuple[str, float | None]] = {}  # node -> chooser and probability with which it was asked
        self.skipped: set[int] = set()
        self.curve: list[Document] = []
        self.error = ""
        self.fitted = -1  # the version of the labels that the model was fitted to
        self.version = 0
        self._ready = threading.Event()
        self._model: Document = {"model": None, "facts": None}
        self._positions: Document = {}
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, daemon=True)

    # The thread of fits

    def start(self, publish: Publish) -> None:
        """Fit in the background; ``publish`` is told what happens, from that thread."""
        self.publish = publish
        self._thread.start()
        self._jobs.put(self._refit)
        self._jobs.put(self._place)

    def close(self) -> None:
        """Release the labels file; a fit that is running is abandoned."""
        self._jobs.put(None)
        self._held.close()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                job()
            except Exception as error:  # the page says it, and the next label may be fitted
                self.error = str(error) if isinstance(error, DrgstError) else f"{type(error).__name__}: {error}"
                if not isinstance(error, DrgstError):
                    _log.exception("a fit of the workbench failed")
                self.publish("error", {"message": self.error})
            self._ready.set()

    def _refit(self) -> None:
        """Fit to the labels of now, unless that is done already, and choose what to ask next."""
        with self._lock:
            version, labels = self.version, list(self.file.labels.values())
        if version == self.fitted:
            return
        run = self.source.run(labels, self.file.path, self.cache)
        loaded = self.fitted < 0 and self.result is not None and _pairs(labels) == _pairs(self.source.earlier)
        if run is not None and not loaded:
            self.publish("progress", {"text": "fitting"})
            self.result = run.execute(_Progress(self.publish))
        elif run is None:
            self.result = None
        with limit_threads(1):
            self.suggested = self._suggest()
        self._show()
        with self._lock:
            for row in self.suggested.rows(None):
                self.asked[row["node"]] = (row["chosen_by"], row["probability"])
            self.fitted, self.error = version, ""
        self.publish("fitted", {})

    def _show(self) -> None:
        """What the page is given of the model."""
        self._positions = self._positions or place_data(to_square(principal_components(self._rows())[:, :2]))
        if self.result is None:
            self._model = {"model": None, "facts": None}
            return
        at = self.result.history.stages.index(self.result.stage)
        model = model_data(self.result, self.sample, None, [at])
        model["nodes"]["truth"] = None  # labels that were hidden from the run are for nobody to see here
        self._model = {"model": model, "facts": facts_data(self.result, f"{self.source.command} {self.file.path}")}
        self.curve.append(curve_point(self.result))

    def _suggest(self) -> Suggestions:
        views = Views.of(self.source.graph, self.cache)
        free = np.setdiff1d(np.intersect1d(self._free(), self.sample.nodes), list(self.skipped))
        rng = label_rng(0 if self.result is None else self.result.model.seed)
        if self.result is None:
            spec = find_chooser(FIRST)
            state = replace(first_state(views, free, rng), labelled=self._labelled())
            return suggest_nodes(state, spec, QUEUE, ())
        spec = find_chooser(default_chooser(self.result.model.recipe, int(self.result.sampled.sum())))
        return suggest_nodes(run_state(self.result, views, free, rng), spec, QUEUE, self.result.model.class_names)

    def _free(self) -> np.ndarray:
        """The nodes that a person may be asked about."""
        nodes = (
            candidates(self.result.split) if self.result is not None else np.flatnonzero(self.source.graph.labels < 0)
        )
        return np.setdiff1d(nodes, self._labelled())

    def _labelled(self) -> np.ndarray:
        """The nodes of the labels file, sorted."""
        place = {name: k for k, name in enumerate(self.ids)}
        return np.array(sorted(place[name] for name in self.file.labels if name in place), dtype=np.int64)

    @limit_threads(1)
    def _place(self) -> None:
        """Positions on the map, once: a refit must not move what a person has learnt to find."""
        self._positions = place_data(positions(self._rows(), 0))
        self.publish("placed", self._positions)

    def _rows(self) -> np.ndarray:
        if self.source.result is not None:
            return self.source.result.stage.embedding[self.sample.nodes]
        views = Views.of(self.source.graph, self.cache)
        return representation(views, views.default_weights())[self.sample.nodes]

    # What the page is given

    def page(self) -> Document:
        """Everything that the page shows, once the first model is fitted."""
        self._ready.wait()
        graph, edge_notes = graph_data(self.source.graph, self.sample)
        columns, column_notes = self.source.columns(self.sample)
        graph_notes = [f"The graph: {note}." for note in self.source.graph.notes]
        return {
            "format": FORMAT,
            "live": True,
            "title": self.source.name,
            "nodes": {**graph, **self._positions},
            "columns": columns,
            "notes": [*self.sample.notes, *edge_notes, *column_notes, *graph_notes],
            "reasons": {},
            **self.model(),
        }

    def model(self) -> Document:
        """What a fit changes."""
        return {**self._model, "state": self.state()}

    def state(self) -> Document:
        """Labels, queue and curve: small, and sent after every change."""
        with self._lock:
            place = {name: k for k, name in enumerate(self.ids)}
            labelled = [
                (self.sample.places([place[each.id]])[0], self.classes.index(each.label))
                for each in self.file.labels.values()
                if each.id in place
            ]
            last = next(reversed(self.file.labels.values()), None)
            return {
                "classes": self.classes,
                "labelled": labelled,
                "last": None if last is None else [last.id, last.label],
                "file": str(self.file.path),
                "queue": self._queue(),
                "note": "" if self.suggested is None else self.suggested.note,
                "curve": self.curve,
                "fitted": self.fitted == self.version,
                "error": self.error,
                "version": self.version,
            }

    def _queue(self) -> list[Document]:
        if self.suggested is None:
            return []
        done = {*self._labelled().tolist(), *self.skipped}
        p = None if self.result is None else self.result.probabilities
        rows = suggested_data(self.suggested, p, self.sample)["rows"]
        nodes = self.suggested.nodes.tolist()
        return [row for row, node in zip(rows, nodes, strict=True) if node not in done]

    # What a person does

    def label(self, place: int, label: str) -> Document:
        """Give a node a label; a label that it has already is changed."""
        node = self._node(place)
        if label not in self.classes:
            raise RunError(unknown("class", label, self.classes))
        split = None if self.result is None else self.result.split
        if split is not None and node in np.concatenate([split.val, split.test]):
            raise RunError(f"node {self.ids[node]!r} is a validation or test node, so it can't be labelled")
        known = self.source.graph.labels[node] >= 0 and (split is None or node in split.train)
        by, probability = ("", None) if known else self.asked.get(node, (BY_HAND, None))
        return self._changed(lambda: self.file.give(AddedLabel(self.ids[node], label, by, probability)))

    def skip(self, place: int) -> Document:
        """Ask about another node instead."""
        self.skipped.add(self._node(place))
        self._more()
        return self.state()

    def undo(self) -> Document:
        """Take the last label back."""
        if not self.file.labels:
            raise RunError("there is no label to take back")
        return self._changed(self.file.take_back)

    def add_class(self, name: str) -> Document:
        """A class that no node has yet."""
        name = name.strip()
        if not name or len(name) > 200 or not name.isprintable():
            raise RunError("a class needs a name of 1 to 200 printable characters")
        if name in self.classes or nearest(name, self.classes):
            raise RunError(f"the class {name!r} exists already or looks like one{nearest(name, self.classes)}")
        with self._lock:
            self.classes.append(name)
        return self.state()

    def explain(self, place: int) -> Document:
        """Why the node is predicted as it is, computed between two fits."""
        node, done = self._node(place), threading.Event()
        found: Document = {}
        schema = None if self.source.tables is None else self.source.tables.schema

        def job() -> None:
            try:
                if self.result is None:
                    raise RunError("there is no model yet: give labels of two classes")
                found.update(reasons_data(explain(self.result, self.ids[node], schema)))
            except DrgstError as error:
                found["error"] = str(error)
            finally:
                done.set()

        self._jobs.put(job)
        done.wait(LONGEST)
        return found or {"error": "the explanation takes too long"}

    def forecast(self) -> None:
        """Estimate in the background what further labels bring."""

        def job() -> None:
            if self.result is None:
                raise RunError("there is no model yet: give labels of two classes")
            self.publish("progress", {"text": "fitting parts of the labels"})
            self.publish("forecast", {"sentences": forecast(self.result).sentences()})

        self._jobs.put(job)

    def save(self) -> Document:
        """Write the run with the labels of now to a folder of its own, in the background."""
        folder = RunFolder(self.source.folder / f"after-{len(self.file.labels)}-labels")

        def job() -> None:
            run = self.source.run(list(self.file.labels.values()), self.file.path, self.cache)
            if run is None:
                raise RunError("there is no model yet: give labels of two classes")
            folder.check_free(False, folder.finished)
            run.execute(_Progress(self.publish), folder)
            self.publish("saved", {"folder": str(folder), "command": repeat_command(folder.path)})

        self._jobs.put(job)
        return {"folder": str(folder)}

    def _changed(self, change: Callable[[], Any]) -> Document:
        with self._lock:
            change()
            self.version += 1
        self._jobs.put(self._refit)
        self._more()
        return self.state()

    def _more(self) -> None:
        """Ask for more suggestions where the queue is empty and no fit is about to."""
        if not self._queue() and self.version == self.fitted:
            with self._lock:
                self.version += 1
            self._jobs.put(self._refit)

    def _node(self, place: int) -> int:
        if not 0 <= place < self.sample.nodes.size:
            raise RunError(f"there is no node {place} on the page")
        return int(self.sample.nodes[place])


class _Progress(Callback):
    """Publishes each step and stage of a fit."""

    def __init__(self, publish: Publish) -> None:
        self.publish = publish

    def step(self, what: str, number: int, total: int) -> None:
        self.publish("progress", {"text": f"{what} {number} of {total}"})

    def stage(self, history: History) -> None:
        self.publish("progress", {"text": f"stage {len(history) - 1} is done"})


def curve_point(result: Result) -> Document:
    """Number of labels, out-of-fold accuracy with its 95 % interval, and the accuracy that the model itself expects.

    Of ``asked`` labels nothing is measured: they are no sample.
    """
    rest, count, accuracy = result.unlabelled, int(result.measured.sum()), result.oof_accuracy
    low, high = wilson(round(accuracy * count), count) if accuracy is not None else (None, None)
    return {
        "labels": int(result.train.size),
        "oof": accuracy,
        "low": low,
        "high": high,
        "expected": float(result.probabilities[rest].max(axis=1).mean()) if rest.size else None,
        "asked": int((~result.sampled).sum()),
    }


def _pairs(labels: Sequence[AddedLabel]) -> set[tuple[str, str]]:
    return {(label.id, label.label) for label in labels}
