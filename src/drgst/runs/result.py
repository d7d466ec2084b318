"""A finished run: its stages, predictions and metrics."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from drgst.decide.choosers.registry import find_chooser
from drgst.decide.label_state import chooser_note, default_chooser, result_state
from drgst.decide.suggest import Suggestions, suggest_nodes, suggestion_rows
from drgst.errors import RunError, nearest
from drgst.files import plain, write_text
from drgst.graph.core import Graph
from drgst.graph.split import Split
from drgst.nn.inputs import network_columns
from drgst.recipes.presets import labels_per_class
from drgst.runs.config import RunConfig
from drgst.runs.folder import HISTORY, PARQUET, PREDICTIONS, SUMMARY, RunFolder, table_schema
from drgst.runs.memory import peak_memory_mb
from drgst.runs.metrics import Metrics, accuracy, run_metrics, stage_rows
from drgst.runs.model import Model
from drgst.runs.prediction_files import to_csv, write_csv, write_parquet
from drgst.selftrain.history import History, Stage, result_stage
from drgst.selftrain.recipe import AnyRecipe
from drgst.transforms.softmax import softmax

if TYPE_CHECKING:
    from drgst.decide.explain import Explanation
    from drgst.runs.run import Run
    from drgst.tables.schema import TableSchema

SUGGESTED = 20
CSV_NODES = 1_000_000  # up to which predictions are written as CSV, else as Parquet
BALANCED = 1.5  # largest number of labels per class over the smallest, up to which labels count as balanced
UNEQUAL = 4.0  # the same ratio of predicted class shares, from which these count as unequal


@dataclass(frozen=True, eq=False)
class Result:
    """Everything that is known of a finished run, whether it was just executed or read from its folder.

    A result that was read from a folder opens the data set when ``run``, ``graph`` or ``split`` is first used, or a
    metric, which needs the labels.
    """

    config: RunConfig
    history: History
    model: Model  # with the arrays of the result: probabilities, gain, labeled_stage, …
    node_ids: list[Any]
    open_run: Callable[[], Run]
    seconds: float
    peak_memory_mb: float | None = None
    folder: str = ""

    @classmethod
    def of(cls, run: Run, history: History, seconds: float) -> Result:
        """The result of ``run``, which ended with ``history``."""
        graph, settings = run.graph, run.problem.settings
        stage = result_stage(history, settings.keep)
        arrays = {
            "probabilities": stage.probabilities,
            "gain": stage.all_gain,
            "labeled_stage": history.entered(graph.num_nodes, run.split.train),
            "candidates": candidates(graph, run.split),
            "transition": stage.transition,
            "postprocessed": stage.postprocessed,
            "out_of_fold": stage.out_of_fold,
            "given": run.problem.graph.labels,
        }
        columns = network_columns(graph, settings.normalise)
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
            input_features=columns if columns != graph.num_features else None,
        )
        run = replace(run, problem=replace(run.problem))  # without the tensors and views that it has prepared
        return cls(
            run.config, history, model, graph.node_ids.tolist(), partial(_itself, run), seconds, peak_memory_mb()
        )

    @cached_property
    def run(self) -> Run:
        """The run that led to this result."""
        return self.open_run()

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

    @property
    def out_of_fold(self) -> np.ndarray | None:
        """(M, C) probabilities of the training nodes by runs without their labels; None where there are none.

        They do not follow a stated class prior: training nodes have the shares of the labels.
        """
        logits = self.model.arrays.get("out_of_fold")
        return None if logits is None else softmax(logits)

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
        return run_metrics(self.probabilities, self.history[0].probabilities, self.graph, self.split)

    def prior_warning(self) -> str:
        """A sentence where labels are balanced and predicted class shares are not, and no prior is stated; else ""."""
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
            f"probabilities of rare classes are then too high; state the share that you know with --prior {name}=SHARE"
        )

    @cached_property
    def suggested(self) -> Suggestions:
        """The nodes to label next."""
        return self.suggest(SUGGESTED)

    def suggest(self, n: int, by: str | None = None) -> Suggestions:
        """``n`` nodes to label next, fewer where fewer are unlabelled, by a chooser (default: that of the recipe)."""
        name = default_chooser(self.model.recipe) if by is None else find_chooser(by).name
        found = suggest_nodes(result_state(self, name), name, n, self.model.class_names)
        return replace(found, note=chooser_note(self.model.recipe, name))

    def index_of(self, node: Any) -> int:
        """The index of the node with that id; ids are compared as text."""
        texts = [str(each) for each in self.node_ids]
        if str(node) not in texts:
            raise RunError(f"the run has no node {str(node)!r}{nearest(str(node), texts[:10_000])}")
        return texts.index(str(node))

    def explain(self, node: Any, schema: TableSchema | None = None) -> Explanation:
        """Why the node with id ``node`` was predicted as it was (:func:`drgst.decide.explain.explain`).

        ``schema`` names the columns of the tables that the graph was made of; a run folder has its own.
        """
        from drgst.decide.explain import explain

        return explain(self, node, schema or table_schema(str(self.config.data)))

    def suggestion_rows(self, found: Suggestions) -> list[dict[str, Any]]:
        """One dict per suggested node, with the indices of the node and of its predicted class."""
        return suggestion_rows(found, self.probabilities)

    def summary(self) -> dict[str, Any]:
        """The facts and metrics of the run as plain values, for ``summary.json`` and ``--json``."""
        config, split, labels = self.config, self.split, self.graph.labels
        oof, given = self.out_of_fold, labels[split.train]
        return {
            "dataset": self.graph.name,
            "recipe": config.recipe,
            "per_class": config.per_class or labels_per_class(labels[split.train]),
            "seed": config.seed,
            **self.metrics,
            "oof_accuracy": None if oof is None else accuracy(oof.argmax(axis=1), given),
            "stages": len(self.history) - 1,
            "result_stage": self.stage.number,
            "stop_reason": self.history.stop_reason,
            "seconds": round(self.seconds, 3),
            "epochs": self.epochs,
            "peak_memory_mb": self.peak_memory_mb,
            "sizes": {part: int(getattr(split, part).size) for part in ("train", "val", "test", "pool")},
            "versions": dict(config.versions),
        }

    def predictions_csv(self) -> str:
        """The text of ``predictions.csv``, one line per node."""
        return to_csv(self.node_ids, self.model.class_names, self.model.arrays)

    def save(self, folder: RunFolder) -> None:
        """Write the result to ``folder``, the summary last."""
        folder.check_intact(len(self.history))
        write_history(folder, self.run, self.history)
        write, name = (write_parquet, PARQUET) if len(self.node_ids) > CSV_NODES else (write_csv, PREDICTIONS)
        write(folder / name, self.node_ids, self.model.class_names, self.model.arrays)
        self.model.save(folder.path)
        write_text(folder / SUMMARY, json.dumps(self.summary(), indent=2, allow_nan=False) + "\n")


def _itself(run: Run) -> Run:
    """``run``: a function of the module, so that a result can be pickled."""
    return run


def candidates(graph: Graph, split: Split) -> np.ndarray:
    """Nodes that a person might label next: the pool nodes without a label, but no test node.

    Where every node has a label (hidden from the run), all pool nodes are candidates.
    """
    pool = np.setdiff1d(split.pool, split.test)
    unlabelled = pool[graph.labels[pool] < 0]
    return unlabelled if unlabelled.size else pool


def write_history(folder: RunFolder, run: Run, history: History) -> None:
    """``history.jsonl``: one line per stage with its metrics, T, and every training with its loss curves."""
    rows = stage_rows(history, run.graph, run.split)
    lines = [plain({**row, **_details(stage)}) for row, stage in zip(rows, history.stages, strict=True)]
    write_text(folder / HISTORY, "".join(json.dumps(line, allow_nan=False) + "\n" for line in lines))


def _details(stage: Stage) -> dict[str, Any]:
    names = ("epochs", "best_epoch", "first_val_loss", "val_loss", "val_accuracy", "reason")
    trainings = [
        {**{n: getattr(t, n) for n in names}, "train_losses": t.curve.train_loss, "val_losses": t.curve.val_loss}
        for t in stage.trainings
    ]
    return {"transition": None if stage.transition is None else stage.transition.tolist(), "trainings": trainings}
