"""A finished run: its stages, predictions and metrics."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from drgst.errors import RunError, nearest
from drgst.files import write_text
from drgst.graph.core import Graph
from drgst.graph.split import Split
from drgst.memory import peak_memory_mb
from drgst.recipes.presets import labels_per_class
from drgst.runs.config import RunConfig
from drgst.runs.folder import PARQUET, PREDICTIONS, SUMMARY, RunFolder
from drgst.runs.metrics import METRICS, Metrics, accuracy, finite, run_metrics, stage_row, wilson
from drgst.runs.model import Model, recipe_version
from drgst.runs.predictions import Predictions
from drgst.selftrain.history import History, Stage, result_stage
from drgst.selftrain.learners.network import Network
from drgst.selftrain.problem import FEWEST_MEASURED
from drgst.selftrain.recipe import AnyRecipe, find_setting
from drgst.selftrain.slots.postprocess import never_held_out
from drgst.selftrain.views.ensemble import fitted_maps
from drgst.transforms.softmax import softmax

if TYPE_CHECKING:
    from drgst.runs.run import Run

T = TypeVar("T")
CSV_NODES = 1_000_000  # up to which predictions are written as CSV, else as Parquet
BALANCED = 1.5  # largest number of labels per class over the smallest, up to which labels count as balanced
UNEQUAL = 4.0  # the same ratio of predicted class shares, from which these count as unequal


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """Everything that is known of a finished run, whether it was just executed or read from its folder.

    A result that was read from a folder has its metrics from there. It reads the stages when ``history`` is first used,
    and opens the data set when ``run``, ``graph`` or ``split`` is. ``node_ids`` are those of the graph: whole numbers,
    or texts.
    """

    config: RunConfig
    model: Model  # with the arrays of the result: probabilities, gain, labeled_stage, …
    node_ids: list[Any]
    open_run: Callable[[], Run]
    open_history: Callable[[], History]
    seconds: float
    peak_memory_mb: float | None = None
    folder: str = ""
    saved: Mapping[str, Any] | None = None  # ``summary.json`` of a result that was read from its folder

    def __repr__(self) -> str:
        facts = f"{len(self.node_ids):,} nodes, {len(self.model.class_names)} classes, {self.seconds:.1f} s"
        return f"Result({self.model.recipe!r} on {str(self.config.data)!r}: {facts})"

    @classmethod
    def of(cls, run: Run, history: History, seconds: float, folder: str = "") -> Result:
        """The result of ``run``, which ended with ``history``."""
        graph, settings = run.graph, run.problem.settings
        stage = result_stage(history, settings.keep)
        arrays = {
            "probabilities": stage.probabilities,
            "gain": stage.all_gain,
            "labeled_stage": history.entered(graph.num_nodes, run.split.train),
            "candidates": candidates(run.split),
            "transition": stage.transition,
            "postprocessed": stage.postprocessed,
            "out_of_fold": stage.out_of_fold,
            "given": run.problem.graph.labels,
            "sampled": None if run.problem.sampled is None else run.problem.sampled[run.split.train].astype(np.int64),
        }
        maps = fitted_maps(stage.state)
        if not maps.arrays:  # of a learner without views, whose state does not know the nodes
            maps.fitted_nodes(graph)
            arrays |= maps.arrays
        columns = run.recipe.learner.columns(graph, settings) if isinstance(run.recipe.learner, Network) else None
        model = Model(
            recipe=str(run.config.recipe),
            parts=run.recipe,
            settings=settings,
            class_names=graph.class_names,
            num_features=graph.num_features,
            state=dict(stage.state),
            arrays={name: array for name, array in arrays.items() if array is not None},
            seed=run.problem.seed,
            stop_reason=history.stop_reason,
            note=stage.note,
            input_features=None if columns == graph.num_features else columns,
            relations=run.relations,
            version=recipe_version(str(run.config.recipe)),
        )
        run = replace(run, problem=replace(run.problem))  # without the tensors and views that it has prepared
        opened = partial(_itself, run), partial(_itself, history)
        return cls(run.config, model, graph.node_ids.tolist(), *opened, seconds, peak_memory_mb(), folder)

    @cached_property
    def run(self) -> Run:
        """The run that led to this result."""
        return self.open_run()

    @cached_property
    def history(self) -> History:
        """All stages."""
        return self.open_history()

    @property
    def graph(self) -> Graph:
        """With all known labels, also those that were hidden from the run."""
        return self.run.graph

    @property
    def split(self) -> Split:
        """Training, validation, test and pool nodes."""
        return self.run.split

    @cached_property
    def stage(self) -> Stage:
        """The stage whose model is the result."""
        return result_stage(self.history, self.model.settings.keep)

    @property
    def recipe(self) -> AnyRecipe:
        """The parts."""
        return self.model.parts

    @property
    def probabilities(self) -> np.ndarray:
        """(N, C), calibrated and post-processed as the recipe defines."""
        return self.model.arrays["probabilities"]

    @cached_property
    def out_of_fold(self) -> np.ndarray | None:
        """(M, C) probabilities of the training nodes by runs without their labels; None where there are none.

        NaN for a label that was never held out, the only one of its class. They do not follow a stated class prior:
        training nodes have the shares of the labels.
        """
        logits = self.model.arrays.get("out_of_fold")
        return None if logits is None else softmax(logits)

    @property
    def held_out(self) -> np.ndarray:
        """Which training labels have out-of-fold probabilities, (M,)."""
        p = self.out_of_fold
        return np.zeros(self.train.size, dtype=bool) if p is None else np.isfinite(p).all(axis=1)

    @property
    def never_held_out(self) -> str:
        """How many training labels have no out-of-fold probabilities although others have; "" where none."""
        return "" if self.out_of_fold is None else never_held_out(int((~self.held_out).sum()))

    @property
    def folds(self) -> int | None:
        """The number of folds of the out-of-fold probabilities; None where there are none."""
        number = None if self.out_of_fold is None else find_setting(self.recipe, "folds")
        return None if number is None else min(number, int(np.bincount(self.train_labels).max()))

    @property
    def sampled(self) -> np.ndarray:
        """Which training labels are a random sample as far as is known, (M,); the others were asked for."""
        mask = self.model.arrays.get("sampled")
        return np.ones(self.train.size, dtype=bool) if mask is None else mask > 0

    @property
    def measured(self) -> np.ndarray:
        """The training labels that measure the accuracy, (M,): those of a sample that were held out.

        None where labels were asked for and fewer than 10 others were held out. Labels that were asked for are no
        sample: accuracy on them can be far too high.
        """
        found = self.held_out & self.sampled
        return found if self.sampled.all() or found.sum() >= FEWEST_MEASURED else np.zeros_like(found)

    @property
    def oof_accuracy(self) -> float | None:
        """Accuracy of the out-of-fold predictions of the ``measured`` labels; None where there are none."""
        p = self.out_of_fold
        return None if p is None else finite(accuracy(p.argmax(axis=1), np.where(self.measured, self.train_labels, -1)))

    @property
    def oof_words(self) -> str:
        """The out-of-fold accuracy in words, or why it is not known; "" without out-of-fold predictions."""
        count, value = int(self.measured.sum()), self.oof_accuracy
        if self.out_of_fold is None or not self.held_out.any():
            return ""
        if value is None:
            return (
                "the accuracy is unknown, because the labels were asked for, not sampled; label 10 to 20 random "
                "nodes to measure it (drgst suggest RUN --by random)"
            )
        words = f"{self.folds}-fold out-of-fold accuracy"
        if self.sampled.all():
            return f"{words}: {value:.1%}{self.never_held_out}"
        low, high = wilson(round(value * count), count)
        interval = f"95 % interval {low:.0%} to {high:.0%}"
        return f"{words} of the {count:,} labels that were not asked for: {value:.1%} ({interval})"

    @cached_property
    def train(self) -> np.ndarray:
        """The training nodes, (M,), sorted. Validation nodes whose labels only stop the training are not among them."""
        return np.flatnonzero(self.model.arrays["labeled_stage"] == 0)

    @property
    def train_labels(self) -> np.ndarray:
        """The labels of the training nodes, (M,)."""
        return self.model.arrays["given"][self.train]

    @property
    def unlabelled(self) -> np.ndarray:
        """The nodes whose label the run was not given."""
        return np.flatnonzero(self.model.arrays["given"] < 0)

    @property
    def epochs(self) -> int:
        """Of all stages."""
        return sum(stage.epochs for stage in self.history.stages)

    @cached_property
    def metrics(self) -> Metrics:
        """Metrics of the result and of its teacher; None where no label is known."""
        if self.saved is not None and self.saved.keys() >= METRICS.keys():
            return {name: self.saved[name] for name in METRICS}
        return run_metrics(self.probabilities, self.history[0].probabilities, self.graph, self.split)

    @cached_property
    def _rows(self) -> list[dict[str, Any]]:
        if self.saved is None:
            return [stage_row(stage, self.graph, self.split) for stage in self.history.stages]
        return RunFolder(self.folder).rows(self.history.stages)

    def rows(self) -> list[dict[str, Any]]:
        """One row per stage: its figures, the precision of its pseudo-labels and its test accuracy."""
        return [dict(row) for row in self._rows]

    def prior_warning(self) -> str:
        """A warning if labels are balanced, predicted class shares are not, and no prior is stated; else ""."""
        given, rest = self.model.arrays["given"], self.unlabelled
        counts = np.bincount(given[given >= 0], minlength=len(self.model.class_names))
        if self.model.settings.prior is not None or not rest.size or counts.max() > BALANCED * counts.min():
            return ""
        shares = self.probabilities[rest].mean(axis=0)
        rare = int(shares.argmin())
        if shares.max() < UNEQUAL * shares[rare]:
            return ""
        name = self.model.class_names[rare]
        return (
            f"the labels are balanced, but the run predicts a share of {shares[rare]:.1%} for class {name!r}: "
            f"probabilities of rare classes can be too high; state the share that you know with --prior {name}=SHARE"
        )

    @cached_property
    def _places(self) -> dict[str, int]:
        return {str(name): place for place, name in enumerate(self.node_ids)}

    def index_of(self, node: Any) -> int:
        """The index of the node with that id; ids are compared as text."""
        if str(node) not in self._places:
            raise RunError(f"the run has no node {str(node)!r}{nearest(str(node), list(self._places)[:10_000])}")
        return self._places[str(node)]

    def summary(self) -> dict[str, Any]:
        """The facts and metrics of the run as plain values, for ``summary.json`` and ``--json``."""
        return dict(self._summary if self.saved is None else self.saved)

    @cached_property
    def _summary(self) -> dict[str, Any]:
        config, split = self.config, self.split
        return {
            "dataset": self.graph.name,
            "recipe": config.recipe,
            "per_class": config.per_class or labels_per_class(self.graph.labels[split.train]),
            "seed": config.seed,
            **self.metrics,
            "oof_accuracy": self.oof_accuracy,
            "oof_folds": self.folds,
            "oof_labels": int(self.measured.sum()),
            "stages": len(self.history) - 1,
            "result_stage": self.stage.number,
            "stop_reason": self.history.stop_reason,
            "seconds": round(self.seconds, 3),
            "epochs": self.epochs,
            "peak_memory_mb": self.peak_memory_mb,
            "sizes": {part: int(getattr(split, part).size) for part in ("train", "val", "test", "pool")},
            "versions": dict(config.versions),
        }

    @property
    def predictions(self) -> Predictions:
        """The predictions of all nodes, as ``predictions.csv`` has them."""
        return Predictions(self.node_ids, self.model.class_names, self.model.arrays)

    def save(self, folder: RunFolder) -> None:
        """Write the result to ``folder``, the summary last."""
        folder.check_intact(len(self.history))
        folder.write_history(self._rows, self.history.stages)
        self.predictions.write(folder / (PARQUET if len(self.node_ids) > CSV_NODES else PREDICTIONS))
        self.model.save(folder.path)
        write_text(folder / SUMMARY, json.dumps(self._summary, indent=2, allow_nan=False) + "\n")


def _itself(value: T) -> T:
    """``value``. A function of the module, so that a result can be pickled."""
    return value


def candidates(split: Split) -> np.ndarray:
    """Nodes that the user might label next: the pool nodes, whose labels the run was not given, but no test node."""
    return np.setdiff1d(split.pool, split.test)
