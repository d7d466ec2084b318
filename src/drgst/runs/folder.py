"""A run as a folder: its config, every stage as it ends, and the result.

``config.toml``         the complete config; ``drgst run --config`` runs it again
``graph.npz``           of a run on tables: the graph, with ``tables.json``, how its features are made, and
                        ``nodes.parquet``, the node table as it was given
``added_labels.csv``    of a run with added labels: all of them, with how each node was chosen
``split.json``          training, validation, test and pool nodes, by node id
``stages/000.…``        each stage, written when it ends: an interrupted run is resumed from the last one
``history.jsonl``       one line per stage
``predictions.csv``     per node: class, probabilities, gain, stage, given label, its out-of-fold probability;
                        ``predictions.parquet`` of more than a million nodes
``model.safetensors``   the network, with ``model.json``: ``drgst.load_model(folder)``
``summary.json``        the metrics; written last, so that a folder that has it is finished
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from drgst.errors import RunError, located
from drgst.files import plain, read_bytes, replacing, write_text
from drgst.io.npz import save_graph
from drgst.io.split_files import save_split
from drgst.runs.added_labels import write_added
from drgst.runs.config import RunConfig
from drgst.runs.config_file import read_config, to_toml
from drgst.runs.lock import LOCK, locked
from drgst.runs.model import check_array
from drgst.runs.predictions import read_ids
from drgst.selftrain.history import History, Stage
from drgst.selftrain.persist import load_stage

if TYPE_CHECKING:
    from drgst.runs.run import Run
    from drgst.tables.schema import TableSchema

_log = logging.getLogger("drgst")
T = TypeVar("T")
CONFIG, SPLIT, HISTORY, SUMMARY = "config.toml", "split.json", "history.jsonl", "summary.json"
PREDICTIONS, PARQUET = "predictions.csv", "predictions.parquet"
WEIGHTS, MODEL, REPORT = "model.safetensors", "model.json", "report.html"
GRAPH, SCHEMA, NODES, ADDED = "graph.npz", "tables.json", "nodes.parquet", "added_labels.csv"
# keys of ``summary.json`` and their types
NEEDED = {"recipe": str, "stages": int, "result_stage": int, "stop_reason": str, "seconds": float, "epochs": int}
DETAILS = ("transition", "trainings")  # of a stage in ``history.jsonl``, beside its figures
RESULTS = (SUMMARY, PREDICTIONS, PARQUET, HISTORY, WEIGHTS, MODEL, REPORT)  # in the order of removal


class RunFolder:
    """The folder of one run; nothing is read or written before a method is called."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._held = False

    def __str__(self) -> str:
        return str(self.path)

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    @property
    def exists(self) -> bool:
        """Whether a run was started here."""
        return (self / CONFIG).is_file()

    @property
    def finished(self) -> bool:
        """Whether that run is finished."""
        return self.exists and (self / SUMMARY).is_file()

    def check_free(self, resume: bool, force: bool) -> None:
        """Raise an error for a folder that a run must not write to. Changes nothing."""
        if resume and force:
            raise RunError("--resume and --force are both given: resume the old run, or replace it")
        if self.exists:
            self.config()  # a config.toml of another program is refused here, also with --force
            if not (resume or force):
                raise RunError(f"{self} holds a run: drgst run --out {self} --resume continues it, --force replaces it")
        elif self.path.is_dir() and not self._is_unstarted():
            raise RunError(f"{self} is not empty and holds no run of drgst, so nothing is written there; use --out")
        elif self.path.exists() and not self.path.is_dir():
            raise RunError(f"{self} is not a folder; use --out")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder for writing: a second process is refused. May be nested."""
        if self._held:
            yield
            return
        with locked(self.path):
            self._held = True
            try:
                yield
            finally:
                self._held = False

    def check_intact(self, stages: int) -> None:
        """Raise an error if config, split or one of the first ``stages`` stages was deleted meanwhile."""
        paths = [self / CONFIG, self / SPLIT, *(self.stage_path(number) for number in range(stages))]
        lost = [str(path.relative_to(self.path)) for path in paths if not path.is_file()]
        if lost:
            raise RunError(
                f"{', '.join(lost)} in {self} {'were' if len(lost) > 1 else 'was'} deleted while the run was working, "
                "so the run ends and can't be resumed; make it again with another --out"
            )

    def config(self) -> RunConfig:
        """The config of the run in this folder."""
        config = read_config(self / CONFIG)
        if "drgst" not in config.versions:
            raise RunError(f"{self / CONFIG} was not written by a run of drgst, so {self} is not changed; use --out")
        return config

    def start(self, run: Run) -> None:
        """Write split and config, the config last; in the folder of an old run, replace that run.

        The results and stages of an old run are removed before its config is replaced, so that a run killed in
        between leaves the old run, unstarted. Only files with the names of a run are removed.
        """
        try:
            self.sweep()
            if self.exists:
                for path in (*(self / name for name in RESULTS), *reversed(self.stage_files())):
                    path.unlink(missing_ok=True)
            _describe(run, self.path)
        except OSError as error:
            raise RunError(f"can't write the run folder {self}: {error.strerror or error}") from error

    def sweep(self) -> None:
        """Remove the temporary files of a killed write: ours, and those of safetensors."""
        for pattern in (".*.tmp", ".tmp??????", "stages/.*.tmp", "stages/.tmp??????"):
            for path in self.path.glob(pattern):
                path.unlink(missing_ok=True)

    def _is_unstarted(self) -> bool:
        """Whether the folder is empty, or was left by a run that was killed before it wrote its config."""
        names = {path.name for path in self.path.iterdir()}
        first = (LOCK, SPLIT, ADDED, GRAPH, SCHEMA, NODES)  # what is written before the config
        return not names or (LOCK in names and all(n in first or n.endswith(".tmp") for n in names))

    def stage_path(self, number: int) -> Path:
        """The file of stage ``number``."""
        return self.path / "stages" / f"{number:03d}.safetensors"

    def stage_files(self) -> list[Path]:
        """The files of the finished stages."""
        return sorted((self.path / "stages").glob("[0-9][0-9][0-9]*.safetensors"))

    def history(self, shape: tuple[int, int]) -> History:
        """The finished stages, up to the first that is missing or damaged, of a run with logits of ``shape`` (N, C)."""
        history = History()
        while (path := self.stage_path(len(history))).is_file():
            try:
                stage = load_stage(path, history[-1] if len(history) else None)
                with located(path):
                    check_stage(stage, len(history), shape)
            except RunError as error:
                _log.warning("%s; that stage and later ones are not used", error)
                break
            history = history.with_stage(stage)
        return history

    def summary(self) -> dict[str, Any]:
        """``summary.json``."""
        found = self._parsed(SUMMARY, lambda text: dict(json.loads(text)))
        wrong = [name for name, kind in NEEDED.items() if type(found.get(name)) is not kind]
        if wrong:
            raise RunError(f"{self / SUMMARY} is damaged: {', '.join(wrong)} missing or not of the right type")
        return found

    def rows(self, stages: Sequence[Stage]) -> list[dict[str, Any]]:
        """The figures of the ``stages`` of the run, one row each, from ``history.jsonl``."""
        rows = self._parsed(HISTORY, lambda text: [dict(json.loads(line)) for line in text.splitlines()])
        if [row.get("stage") for row in rows] != [stage.number for stage in stages]:
            raise RunError(f"{self / HISTORY} is damaged: its stages are not those of the run")
        return [{name: value for name, value in row.items() if name not in DETAILS} for row in rows]

    def write_history(self, rows: Sequence[dict[str, Any]], stages: Sequence[Stage]) -> None:
        """``history.jsonl``: one line per stage with its row, T, and every training with its loss curves."""
        lines = [plain({**row, **_details(stage)}) for row, stage in zip(rows, stages, strict=True)]
        write_text(self / HISTORY, "".join(json.dumps(line, allow_nan=False) + "\n" for line in lines))

    @property
    def predictions_path(self) -> Path:
        """``predictions.csv``, or ``predictions.parquet`` where the graph is large."""
        return self / PARQUET if (self / PARQUET).is_file() else self / PREDICTIONS

    def node_ids(self) -> list[Any]:
        """The ids of the nodes as the graph has them: whole numbers, or texts."""
        ids = read_ids(self.predictions_path)
        train = self._parsed(SPLIT, lambda text: list(json.loads(text)["train"]))
        try:
            return [int(name) for name in ids] if all(isinstance(name, int) for name in train) else ids
        except ValueError as error:
            raise RunError(f"{self.predictions_path} is damaged: {error}") from error

    def _parsed(self, name: str, parse: Callable[[str], T]) -> T:
        """What ``parse`` makes of one of the files."""
        try:
            return parse(read_bytes(self / name).decode())  # read_text would change a "\r" in a node id
        except OSError as error:
            raise RunError(f"can't read {self / name}: {error}") from error
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise RunError(f"{self / name} is damaged: {error}") from error


def _details(stage: Stage) -> dict[str, Any]:
    names = ("epochs", "best_epoch", "first_val_loss", "val_loss", "val_accuracy", "reason")
    trainings = [
        {**{n: getattr(t, n) for n in names}, "train_losses": t.curve.train_loss, "val_losses": t.curve.val_loss}
        for t in stage.trainings
    ]
    transition = None if stage.transition is None else stage.transition.tolist()
    return dict(zip(DETAILS, (transition, trainings), strict=True))


def check_stage(stage: Stage, number: int, shape: tuple[int, int]) -> None:
    """Refuse a stage of a file that is not stage ``number`` of a run with logits of ``shape`` (N, C)."""
    nodes, classes = shape
    if stage.number != number:
        raise RunError(f"it is stage {stage.number}, not {number}")
    pseudo = stage.pseudo_labels
    check_array("nodes", pseudo.nodes, (-1,), (0, nodes))
    check_array("labels", pseudo.labels, pseudo.nodes.shape, (0, classes))
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(("logits", "calibrated", "selection_logits"), shape)
    shapes |= {"transition": (classes, classes), "all_gain": (nodes,), "embedding": (nodes, -1)}
    shapes |= dict.fromkeys(("weights", "gain", "confidence"), pseudo.nodes.shape)
    for name, wanted in shapes.items():
        if getattr(stage, name) is not None:
            check_array(name, getattr(stage, name), wanted)


def finished_run(path: str | Path) -> RunFolder:
    """The folder of a finished run; anything else is refused with the command that helps."""
    folder = RunFolder(path)
    if not folder.exists and (folder / MODEL).is_file():
        raise RunError(f"{path} holds a model but no run: name the graph to predict, drgst predict {path} GRAPH")
    if not folder.exists:
        raise RunError(f"{path} is not the folder of a run; make one with: drgst run GRAPH --out {path}")
    if not folder.finished:
        raise RunError(f"the run in {path} is not finished; continue it with: drgst run --out {path} --resume")
    return folder


def table_schema(data: str) -> TableSchema | None:
    """The schema saved with the graph ``data`` of a run on tables; None for any other graph."""
    path = Path(data).with_name(SCHEMA)
    if Path(data).name != GRAPH or not path.is_file():
        return None
    from drgst.tables.schema import TableSchema  # pyarrow is slow to import

    return TableSchema.load(path)


def _describe(run: Run, folder: Path) -> None:
    save_split(run.split, run.graph, folder / SPLIT)
    config = replace(run.config, split=None if run.config.per_class is not None else SPLIT)
    if config.add_labels:
        write_text(folder / ADDED, write_added(config.added()))
        config = replace(config, add_labels=ADDED)
    else:
        (folder / ADDED).unlink(missing_ok=True)  # of the run that this one replaces
    if run.tables is not None:
        save_graph(run.graph, folder / GRAPH)
        run.tables.schema.save(folder / SCHEMA)
        from pyarrow import parquet  # slow to import

        with replacing(folder / NODES) as temporary:
            parquet.write_table(run.tables.table, temporary)
        config = replace(config, data=GRAPH)
    write_text(folder / CONFIG, to_toml(config))
