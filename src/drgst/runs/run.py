"""A run: made from a config, from the arguments of an estimator or from a task of the laboratory, then executed."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from drgst.datasets.load import open_graph
from drgst.datasets.registry import DATASETS
from drgst.errors import NoLabels, RunError, SplitError
from drgst.graph.core import Graph
from drgst.graph.split import Split
from drgst.memory import check_memory, return_freed_memory
from drgst.recipes import find_recipe
from drgst.recipes.registry import RecipeSpec, resolve
from drgst.runs.config import RunConfig
from drgst.runs.config_file import versions
from drgst.runs.fingerprint import data_fingerprint, known_fingerprint
from drgst.runs.folder import CONFIG, RunFolder, finished_run, table_schema
from drgst.runs.metrics import stage_row
from drgst.runs.model import Model, needs_edges
from drgst.runs.predictions import Predictions
from drgst.runs.result import Result
from drgst.selftrain.callbacks import Callback
from drgst.selftrain.engine import self_train
from drgst.selftrain.history import History, result_stage
from drgst.selftrain.persist import save_stage
from drgst.selftrain.problem import GraphCache, Problem
from drgst.selftrain.recipe import AnyRecipe
from drgst.selftrain.views.ensemble import edge_weights
from drgst.shards import Shards
from drgst.threads import default_threads, limit_threads
from drgst.transforms.incidence import with_links_as_edges
from drgst.uncertainty.class_prior import class_shares, parse_shares

if TYPE_CHECKING:
    from drgst.tables.build import TableGraph

_log = logging.getLogger("drgst")
Opener = Callable[[str], Graph]
LARGE_NODES = 30_000  # above which freed memory is given back to the system, which would cost a small run time


@dataclass(frozen=True, eq=False)
class Run:
    """A run that is ready to be executed; ``config`` describes all of it."""

    config: RunConfig
    graph: Graph  # with all labels: for metrics after the run, never for the run
    problem: Problem  # what the run may know
    recipe: AnyRecipe
    relations: Mapping[str, float] | None = None  # weights with which they have become edges, where they have
    validation_trains: int = 0  # how many of the training labels are validation labels of the split
    tables: TableGraph | None = None  # the tables that the graph was made of, whose schema is saved with the run

    @property
    def split(self) -> Split:
        """Training, validation, test and pool nodes."""
        return self.problem.split

    @classmethod
    def of(
        cls, graph: Graph, config: RunConfig, split: Split | None = None, recipe: AnyRecipe | RecipeSpec | None = None
    ) -> Run:
        """The run that ``config`` describes on ``graph``.

        ``split`` and ``recipe`` are a split and a recipe of the user's own, instead of those of ``config``.
        """
        graph, split, sampled = config.labelled(graph, split)
        if not split.train.size:
            raise SplitError(f"the split of {graph.name} has no training node: its training mask or list is empty")
        settings, parts = resolve(recipe or str(config.recipe), graph, split, config.settings)
        trains = split.val.size if settings.val_labels == "train" else 0
        if trains:
            split = split.with_validation_as_training()
        if settings.prior is not None:
            class_shares(parse_shares(settings.prior), graph.class_names)  # refuse an unknown class before training
        width = 4 * settings.hidden if "hidden" in settings.names else graph.num_classes  # weights, gradient, moments
        check_memory(4 * graph.num_features * width, f"{graph.name}: a model of {graph.num_features:,} features")
        problem = replace(Problem.of(graph, split, settings, cast(int, config.seed)), sampled=sampled)
        weights = edge_weights(problem) if needs_edges(graph, parts) else None
        if weights is not None:
            problem = replace(problem, graph=with_links_as_edges(problem.graph, weights), graph_cache=GraphCache())
            said = ", ".join(f"{name} {weight:.2f}" for name, weight in weights.items())
            message = "this recipe takes edges: the weighted sum of relations (%s) has become %s edges"
            _log.warning(message, said, f"{problem.graph.num_edges:,}")
        count = config.threads or default_threads(graph.num_entries)
        config = replace(config, data=config.data or graph.name, threads=count, settings=settings.as_dict())
        config = replace(config, versions=versions())
        return cls(config, graph, problem, parts, relations=weights, validation_trains=trains)

    def sharing(self, cache: GraphCache) -> Run:
        """This run with ``cache``, which keeps what no label changes (views, neighbours) for further runs on the graph.

        The result is bit-identical to that of a run of its own. ``result.run.problem.graph_cache`` is that of a run.
        """
        return replace(self, problem=replace(self.problem, graph_cache=cache))

    @classmethod
    def from_config(cls, config: RunConfig, opener: Opener = open_graph) -> Run:
        """Open the data, choose the split and resolve the settings.

        Data, labels or a recipe of your own that are not those of the fingerprints in ``config`` are refused.
        """
        config = config.with_defaults()
        recipe, data = str(config.recipe), str(config.data)
        source = find_recipe(recipe).source_sha256
        if source:
            message = f"the recipe {recipe} has changed since the config was written"
            config = replace(config, recipe_sha256=_same(config.recipe_sha256, source, message))
        try:
            graph = opener(data) if config.labels is None else open_graph(data, labels=config.labels)
        except NoLabels:  # the classes are those of the added labels
            if not config.add_labels:
                raise
            graph = open_graph(data, classes=config.added_classes())
        message = f"{data} is not the graph that the config was written for: its contents have changed"
        config = replace(config, data_sha256=_same(config.data_sha256, data_fingerprint(graph), message))
        run = cls.of(graph, config)
        run.problem.check_device()  # before a folder is made
        message = f"the labels or the split of {data} are not those that the config was written for"
        known = _same(config.known_sha256, known_fingerprint(run.problem), message)
        return replace(run, config=replace(run.config, known_sha256=known))

    def execute(
        self, callback: Callback | None = None, folder: RunFolder | None = None, resume: bool = False
    ) -> Result:
        """Train stage by stage; with a ``folder``, write every stage and the result to it.

        With ``resume``, finished stages are read from the folder, and the result is bit-identical to that of an
        uninterrupted run.
        """
        callback = callback or Callback()
        if self.graph.num_nodes > LARGE_NODES:
            return_freed_memory()
        if folder is None:
            return self._trained(callback, History())
        with folder.locked():
            result = self._trained(Checkpointer(folder, self, callback), self._start(folder, resume), str(folder))
            result.save(folder)
            return result

    def execute_shared(self, shards: Shards, folder: RunFolder | None) -> None:
        """The part of one process of several that share the run; the first reads and writes the ``folder``."""
        shape = (self.graph.num_nodes, self.graph.num_classes)
        history = shards.first(folder.history(shape) if folder else None)
        run = replace(self, problem=replace(self.problem, shards=shards))
        if self.graph.num_nodes > LARGE_NODES:
            return_freed_memory()
        result = run._trained(Checkpointer(folder, run, Callback()) if folder else Callback(), history, str(folder))
        if folder:
            result.save(folder)

    def _trained(self, callback: Callback, history: History, folder: str = "") -> Result:
        began = time.perf_counter() - history.seconds
        try:
            callback.begin(self.facts())
            with limit_threads(cast(int, self.config.threads)):
                history = self_train(replace(self.problem, step=callback.step), self.recipe, callback, history)
            result = Result.of(self, history, time.perf_counter() - began, folder)
            callback.end(result.summary())
        finally:
            callback.close()
        warning = "" if self.graph.name in DATASETS else result.prior_warning()
        if warning:
            _log.warning("%s", warning)
        return result

    def facts(self) -> dict[str, Any]:
        """What a callback is given before the run starts."""
        settings = self.problem.settings
        stages = settings.stages if "stages" in settings.names else None
        plain = {"dataset": self.graph.name, "recipe": self.config.recipe, "seed": self.problem.seed}
        return {**plain, "stages": stages, "settings": settings.as_dict()}

    def _start(self, folder: RunFolder, resume: bool) -> History:
        """The stages that are already in ``folder``."""
        if not (resume and folder.exists):
            folder.start(self)
            return History()
        folder.sweep()
        old, new = folder.config().versions, self.config.versions
        changed = [f"{name} {old.get(name)} is now {new[name]}" for name in new if old.get(name) != new[name]]
        if changed:
            _log.warning("the run was started with other versions (%s): its last bits may differ", "; ".join(changed))
        return folder.history((self.graph.num_nodes, self.graph.num_classes))


class Checkpointer(Callback):
    """Writes each stage to the run folder when it ends, then calls ``inner``."""

    def __init__(self, folder: RunFolder, run: Run, inner: Callback) -> None:
        self.folder, self.run, self.inner = folder, run, inner
        self.rows: list[dict[str, Any]] = []  # of the stages so far
        for name in ("begin", "training", "epoch", "step", "end", "close"):
            setattr(self, name, getattr(inner, name))

    def stage(self, history: History) -> None:
        """Write the stage, and the history so far in readable form."""
        self.folder.check_intact(len(history) - 1)
        before = history[-2] if len(history) > 1 else None
        save_stage(history[-1], self.folder.stage_path(history[-1].number), before)
        fresh = history.stages[len(self.rows) :]
        self.rows += [stage_row(stage, self.run.graph, self.run.split) for stage in fresh]
        self.folder.write_history(self.rows, history.stages)
        self.inner.stage(history)


def load_result(path: str | Path, opener: Opener = open_graph) -> Result:
    """The finished run in the folder ``path``; its stages and its data set are not read before they are needed."""
    folder = finished_run(path)
    summary, config, model = folder.summary(), folder.config(), Model.load(folder.path)
    ids, p = folder.node_ids(), model.arrays["probabilities"]
    if len(ids) != len(p) or not model.arrays.keys() >= {"candidates", "given"}:
        raise RunError(f"{folder} was edited: its files are not of the same graph")
    opened = partial(Run.from_config, config, opener), partial(_history, folder, model, summary["stages"])
    return Result(
        config, model, ids, *opened, summary["seconds"], summary.get("peak_memory_mb"), str(folder), saved=summary
    )


def predict(path: str | Path, graph: str | None = None) -> Predictions:
    """The predictions of the run in ``path`` for its own graph, or of its model for another graph."""
    if graph is None:
        return load_result(path).predictions
    model = Model.load(path)
    return model.predict(open_graph(graph, classes=model.class_names))


def predict_tables(path: str | Path, nodes: Any, edges: Any = None, alone: bool = False) -> Predictions:
    """The predictions of the run in ``path`` for the nodes of later tables, which join the graph of the run by edges.

    The columns are read as in fitting. ``alone``: the new nodes and their edges form a graph of their own.
    """
    folder = finished_run(path)
    source = str(folder.config().data)
    schema, model = table_schema(source), Model.load(folder.path)
    if schema is None:
        raise RunError(f"the run in {path} was not made of tables by drgst classify: name a GRAPH instead of --nodes")
    tables = schema.apply(nodes, edges, base=None if alone else open_graph(source))
    unlinked = ("no edges are given (--edges): the new rows have none, unlike the rows of the run",)
    notes = (*tables.notes, *(unlinked if schema.relations and edges is None else ()))
    return replace(model.predict(tables.graph, tables.new), notes=notes)


def _history(folder: RunFolder, model: Model, stages: int) -> History:
    """The stages of a finished run, of which the result is that of ``model``."""
    p = model.arrays["probabilities"]
    history = folder.history(p.shape)
    if len(history) - 1 != stages:
        raise RunError(
            f"stage {len(history)} of the run in {folder} is missing or damaged; "
            f"make the run again with: drgst run --config {folder / CONFIG} --out ANOTHER-FOLDER"
        )
    result = replace(
        result_stage(history, model.settings.keep),
        postprocessed=model.arrays.get("postprocessed"),
        out_of_fold=model.arrays.get("out_of_fold"),
        state=model.state,
        note=model.note,
    )
    if (result.probabilities != p).any():
        raise RunError(f"{folder} was edited, or written by another version: its stages and its model do not agree")
    return history.ended(model.stop_reason).with_result(result)


def _same(expected: str | None, found: str, message: str) -> str:
    """``found``; raises an error if another fingerprint is ``expected``."""
    if expected not in (None, found):
        raise RunError(message)
    return found
