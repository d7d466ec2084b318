"""A session: a source, its labels, and the model that is refitted in the background as labels are added."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import numpy as np

from drgst.decide.explain import explain
from drgst.decide.labels.forecast import forecast
from drgst.decide.labels.state import representation
from drgst.errors import DrgstError, RunError, nearest, unknown
from drgst.report.nodes import Sample, graph_data, node_predictions, place_data
from drgst.report.page import FORMAT, facts_data, model_data, reasons_data, repeat_command
from drgst.report.serve.asking import Asking
from drgst.report.serve.label_file import LabelFile
from drgst.report.serve.refit import Document, Overtaken, Progress, Publish, curve_point, preview
from drgst.report.serve.source import Source
from drgst.report.summary import found_data
from drgst.report.tsne import positions, principal_components, to_square
from drgst.runs.added_labels import AddedLabel
from drgst.runs.folder import RunFolder
from drgst.runs.lock import locked
from drgst.runs.result import Result
from drgst.runs.run import Run
from drgst.selftrain.problem import GraphCache
from drgst.selftrain.views.graph_views import Views
from drgst.threads import limit_threads

_log = logging.getLogger("drgst")
LABELS = "labels.csv"
TICK = 0.2  # seconds after which a request that waits looks whether the server ends
NO_MODEL = "there is no model yet: label nodes of two classes"
PAUSE = 0.7  # seconds without a label after which the model is fitted completely
BEHIND = 10  # changes after which it is fitted without a pause, and to its end


class Session:
    """The state of the workbench on one source. Methods are called by the server; fits run in one thread of its own."""

    def __init__(self, source: Source) -> None:
        self.source, self.cache = source, GraphCache()
        self.publish: Publish = lambda _event, _content: None
        self._ends: Callable[[], bool] = lambda: False
        self._lock, self._held = threading.RLock(), ExitStack()
        self._held.enter_context(locked(source.folder))
        self.file = LabelFile(source.folder / LABELS, source.earlier)
        self.classes = list(dict.fromkeys([*source.classes, *(label.label for label in self.file.labels.values())]))
        self.ids = [str(name) for name in source.graph.node_ids.tolist()]
        self.place = {name: k for k, name in enumerate(self.ids)}
        self.sample = Sample.of(len(self.ids), self._labelled(), 0)
        self.result: Result | None = source.result  # of the last complete fit
        self.asking = Asking(Views.of(source.graph, self.cache), self.sample)
        self.curve: list[Document] = []
        self.error = ""
        self.version = 0  # of the labels
        self.fitted = self.previewed = self.tried = -1  # the versions that the model, its preview and a fit had
        self._ready = threading.Event()
        self._model: Document = {"model": None, "facts": None}
        self._positions: Document = {}
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, daemon=True)

    # The thread of fits

    def start(self, publish: Publish, ends: Callable[[], bool]) -> None:
        """Fit in the background; that thread calls ``publish`` with what happens, until the server ``ends``."""
        self.publish, self._ends = publish, ends
        self._thread.start()
        self._jobs.put(self._refit)
        self._jobs.put(self._place)

    def close(self) -> None:
        """Release the labels file; a running fit is abandoned."""
        self._jobs.put(None)
        self._held.close()

    def _work(self) -> None:
        job: Callable[[], None] | None = self._refit
        while job is not None:
            try:
                job = self._jobs.get(timeout=None if self.tried == self.version else PAUSE)
            except queue.Empty:
                job = self._refit
            try:
                if job is not None:
                    job()
            except Overtaken:
                continue
            except Exception as error:  # the page shows it, and the next label may be fitted
                self.error = str(error) if isinstance(error, DrgstError) else f"{type(error).__name__}: {error}"
                if not isinstance(error, DrgstError):
                    _log.exception("a fit of the workbench failed")
                self.publish("error", {"message": self.error})
            self._ready.set()

    def _follow(self) -> None:
        """After a change of the labels: a preview, or a complete fit where there is none or many labels wait."""
        version, run = self._run()
        if version in (self.previewed, self.fitted):
            return
        quick = None if self.result is None or run is None else preview(run, self.result)
        if quick is None or version - self.fitted >= BEHIND:
            self._refit()
            return
        nodes = node_predictions(quick, self.sample, [len(quick.history) - 1])
        found = {"nodes": {**nodes, "truth": None}, "found": found_data(quick)}
        self._model = {**self._model, "model": {**self._model["model"], **found}}
        self.previewed = version
        self.publish("fitted", {})

    def _refit(self) -> None:
        """Fit to the current labels, unless that was done, and choose what to ask next."""
        version, run = self._run()
        if version == self.fitted:
            return
        self.tried = version
        loaded = self.fitted < 0 and self.result is not None and self.file.gives(self.source.earlier)
        if run is not None and not loaded:
            self.publish("progress", {"text": "fitting"})
            self.result = run.execute(Progress(self.publish, lambda: version < self.version < self.fitted + BEHIND))
        elif run is None:
            self.result = None
        self._show()
        self.publish("fitted", {})
        self.asking.choose(self.result, self._labelled())
        self.fitted, self.error = version, ""
        self.publish("chosen", {})

    def _run(self) -> tuple[int, Run | None]:
        """The version of the labels, and the run with them."""
        with self._lock:  # the run reads the file
            return self.version, self.source.run(list(self.file.labels.values()), self.file.path, self.cache)

    def _show(self) -> None:
        """What the page is given of the model."""
        self._positions = self._positions or place_data(to_square(principal_components(self._rows())[:, :2]))
        if self.result is None:
            self._model = {"model": None, "facts": None}
            return
        model = model_data(self.result, self.sample, None, [self.result.history.stages.index(self.result.stage)])
        model["nodes"]["truth"] = None  # labels that were hidden from the run must not be shown
        self._model = {"model": model, "facts": facts_data(self.result, f"{self.source.command} {self.file.path}")}
        self.curve.append(curve_point(self.result))

    def _ask(self) -> None:
        """Choose the nodes to ask about next."""
        self.asking.choose(self.result, self._labelled())
        self.publish("chosen", {})

    def _labelled(self) -> np.ndarray:
        """The nodes of the labels file, sorted."""
        return np.array(sorted(self.place[name] for name in self.file.labels if name in self.place), dtype=np.int64)

    @limit_threads(1)
    def _place(self) -> None:
        """Positions on the map, once: a refit must not move nodes."""
        self._positions = place_data(positions(self._rows(), 0))
        self.publish("placed", self._positions)

    def _rows(self) -> np.ndarray:
        if self.source.result is not None:
            return self.source.result.stage.embedding[self.sample.nodes]
        views = Views.of(self.source.graph, self.cache)
        return representation(views, views.default_weights())[self.sample.nodes]

    # What the page is given

    def page(self) -> Document:
        """Everything that the page shows, as soon as the first model is fitted."""
        self._wait(self._ready)
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
            known = {self.place[each.id]: each for each in self.file.labels.values() if each.id in self.place}
            labels = [self.classes.index(each.label) for each in known.values()]
            last = next(reversed(self.file.labels.values()), None)
            return {
                "classes": self.classes,
                "labelled": list(zip(self.sample.places([*known]), labels, strict=True)),
                "last": None if last is None else [last.id, last.label],
                "file": str(self.file.path),
                "queue": self.asking.queue(self._labelled()),
                "note": self.asking.note,
                "curve": self.curve,
                "fitted": self.fitted == self.version,
                "previewed": self.previewed == self.version,
                "error": self.error,
                "version": self.version,
            }

    # What the user does

    def label(self, place: int, label: str) -> Document:
        """Give a node a label; a label that it has already is changed."""
        node = self._node(place)
        if label not in self.classes:
            raise RunError(unknown("class", label, self.classes))
        split = None if self.result is None else self.result.split
        if split is not None and node in np.concatenate([split.val, split.test]):
            raise RunError(f"node {self.ids[node]!r} is a validation or test node, so it can't be labelled")
        known = self.source.graph.labels[node] >= 0 and (split is None or node in split.train)
        by, probability = ("", None) if known else self.asking.chosen_by(node)
        return self._changed(lambda: self.file.give(AddedLabel(self.ids[node], label, by, probability)))

    def skip(self, place: int) -> Document:
        """Ask about another node instead."""
        self.asking.skipped.add(self._node(place))
        self._more()
        return self.state()

    def undo(self) -> Document:
        """Undo the last label."""
        if not self.file.labels:
            raise RunError("there is no label to undo")
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

        def job() -> None:
            try:
                found.update(reasons_data(explain(self.known(), self.ids[node], self.source.schema)))
            except DrgstError as error:
                found["error"] = str(error)
            finally:
                done.set()

        self._jobs.put(job)
        self._wait(done)
        return found

    def forecast(self) -> None:
        """Estimate in the background what further labels gain."""

        def job() -> None:
            self.publish("progress", {"text": "fitting parts of the labels"})
            self.publish("forecast", {"sentences": forecast(self.known()).sentences()})

        self._jobs.put(job)

    def save(self) -> Document:
        """Write the run with the current labels to a folder of its own, in the background."""
        folder = RunFolder(self.source.folder / f"after-{len(self.file.labels)}-labels")

        def job() -> None:
            _, run = self._run()
            if run is None:
                raise RunError(NO_MODEL)
            folder.check_free(False, folder.finished)
            run.execute(Progress(self.publish), folder)
            self.publish("saved", {"folder": str(folder), "command": repeat_command(folder.path)})

        self._jobs.put(job)
        return {"folder": str(folder)}

    def _wait(self, event: threading.Event) -> None:
        while not event.wait(TICK):
            if self._ends():
                raise RunError("the server has ended")

    def _changed(self, change: Callable[[], Any]) -> Document:
        with self._lock:
            change()
            self.version += 1
        self._jobs.put(self._follow)
        self._more()
        return self.state()

    def _more(self) -> None:
        """Ask for more suggestions where the queue is empty."""
        if not self.asking.queue(self._labelled()):
            self._jobs.put(self._ask)

    def known(self) -> Result:
        """The last complete fit."""
        if self.result is None:
            raise RunError(NO_MODEL)
        return self.result

    def _node(self, place: int) -> int:
        if not 0 <= place < self.sample.nodes.size:
            raise RunError(f"there is no node {place} on the page")
        return int(self.sample.nodes[place])
