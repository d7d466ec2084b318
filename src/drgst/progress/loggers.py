"""Loggers: the numbers of every epoch, stage and result, written as CSV or for TensorBoard and MLflow."""

from __future__ import annotations

import csv
import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from drgst.errors import DataFileError, SettingError, unknown
from drgst.extras import import_extra
from drgst.files import inert_cell
from drgst.selftrain.callbacks import Callback
from drgst.selftrain.history import History

BATCH = 500  # metrics per request; MLflow allows 1,000
LONGEST = 500  # characters of a parameter of MLflow


class MetricsCallback(Callback):
    """Counts epochs over all trainings; a logger derives from it and writes what :meth:`log` is given."""

    def __init__(self) -> None:
        self.current, self.epochs = 0, 0

    def log(self, kind: str, step: int, values: Mapping[str, float]) -> None:
        """Write ``values`` of kind ``"epoch"``, ``"stage"`` or ``"end"`` at ``step``: epoch or stage number."""
        raise NotImplementedError

    def training(self, stage: int, attempt: int, pseudo_labelled: int) -> None:  # noqa: ARG002
        self.current = stage

    def epoch(self, epoch: int, train_loss: float, val_loss: float) -> None:
        """The losses of an epoch, by the number of epochs since the run started."""
        losses = {"train_loss": train_loss, "val_loss": val_loss, "stage": self.current, "epoch_of_training": epoch}
        self.log("epoch", self.epochs, finite(losses))
        self.epochs += 1

    def stage(self, history: History) -> None:
        stage = history[-1]
        self.log("stage", stage.number, finite({k: v for k, v in stage.summary().items() if k != "stage"}))

    def end(self, summary: Mapping[str, Any]) -> None:
        self.log("end", int(summary["result_stage"]), finite(summary))


def finite(values: Mapping[str, Any]) -> dict[str, float]:
    """The numbers among ``values`` that are finite."""
    numbers = {name: value for name, value in values.items() if isinstance(value, int | float)}
    return {name: float(value) for name, value in numbers.items() if math.isfinite(value)}


class CSVLog(MetricsCallback):
    """One line per number: ``kind`` (epoch, stage or end), ``step``, ``name``, ``value``.

    The file is written line by line, so an interrupted run leaves what it did.
    """

    def __init__(self, path: str | Path) -> None:
        super().__init__()
        self.path = Path(path)
        self.file: TextIOWrapper | None = None
        self.writer: Any = None

    def begin(self, facts: Mapping[str, Any]) -> None:
        """Open the file; the log of an earlier run is replaced."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.file = self.path.open("w", encoding="utf-8", newline="")
        except OSError as error:
            raise DataFileError(f"can't write {self.path}: {error.strerror or error}") from error
        self.writer = csv.writer(self.file, lineterminator="\n")
        self.writer.writerow(["kind", "step", "name", "value"])
        for name in ("dataset", "recipe", "seed"):
            self.writer.writerow(["run", 0, name, inert_cell(facts[name])])

    def log(self, kind: str, step: int, values: Mapping[str, float]) -> None:
        self.writer.writerows([kind, step, name, f"{value:.9g}"] for name, value in values.items())
        if kind != "epoch" and self.file is not None:
            self.file.flush()

    def close(self) -> None:
        if self.file is not None:
            self.file.close()


class TensorBoard(MetricsCallback):
    """Scalars ``epoch/NAME`` by epoch of the run, ``stage/NAME`` by stage, ``end/NAME``; settings as text."""

    def __init__(self, folder: str | Path) -> None:
        super().__init__()
        self.folder = Path(folder)
        self.writer: Any = None
        import_extra("tensorboard", "tensorboard", "the log for TensorBoard")

    def begin(self, facts: Mapping[str, Any]) -> None:
        """Open the event file; those of an earlier run in the same folder are removed."""
        from torch.utils.tensorboard import SummaryWriter

        for old in self.folder.glob("events.out.tfevents.*"):
            old.unlink()
        self.writer = SummaryWriter(str(self.folder))
        lines = [f"    {name} = {value}" for name, value in facts["settings"].items()]
        title = f"{facts['recipe']} on {facts['dataset']}, seed {facts['seed']}"
        self.writer.add_text("run", "\n".join([title, "", *lines]))

    def log(self, kind: str, step: int, values: Mapping[str, float]) -> None:
        for name, value in values.items():
            self.writer.add_scalar(f"{kind}/{name}", value, step)

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()


class MLflow(MetricsCallback):
    """One MLflow run: settings as parameters, metrics ``epoch_NAME``, ``stage_NAME`` and ``NAME`` of the result.

    ``uri`` is the tracking URI (default: that of MLflow, such as the environment variable MLFLOW_TRACKING_URI).
    """

    def __init__(self, experiment: str = "drgst", uri: str | None = None) -> None:
        super().__init__()
        self.experiment, self.uri = experiment, uri
        self.client: Any = None
        self.run_id = ""
        self.waiting: list[Any] = []
        self.ended = False
        os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")  # read by its import; no other server is contacted
        import_extra("mlflow", "mlflow", "the log for MLflow")

    def begin(self, facts: Mapping[str, Any]) -> None:
        """Start an MLflow run and log its parameters."""
        import mlflow
        from mlflow.entities import Param

        uri = self.uri or mlflow.get_tracking_uri()
        if uri.startswith("file:"):
            os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")  # MLflow 3 refuses files that are not asked for
        self.client = mlflow.MlflowClient(tracking_uri=uri)
        found = self.client.get_experiment_by_name(self.experiment)
        experiment = found.experiment_id if found else self.client.create_experiment(self.experiment)
        name = f"{facts['dataset']}-{facts['recipe']}-seed{facts['seed']}"
        self.run_id = self.client.create_run(experiment, run_name=name).info.run_id
        values = {**{key: facts[key] for key in ("dataset", "recipe", "seed")}, **facts["settings"]}
        parameters = [Param(key, str(value)[:LONGEST]) for key, value in values.items()]
        self.client.log_batch(self.run_id, params=parameters)

    def log(self, kind: str, step: int, values: Mapping[str, float]) -> None:
        """A metric for each of ``values``; they are sent in batches."""
        from mlflow.entities import Metric

        now, prefix = int(1000 * time.time()), "" if kind == "end" else f"{kind}_"
        self.waiting += [Metric(f"{prefix}{name}", value, now, step) for name, value in values.items()]
        if len(self.waiting) >= BATCH:
            self._send()

    def end(self, summary: Mapping[str, Any]) -> None:
        super().end(summary)
        self.ended = True

    def close(self) -> None:
        """Send what is left; a run that did not end is marked as failed."""
        if self.client is not None and self.run_id:
            self._send()
            self.client.set_terminated(self.run_id, "FINISHED" if self.ended else "FAILED")
            self.run_id = ""

    def _send(self) -> None:
        while self.waiting:
            part, self.waiting = self.waiting[:BATCH], self.waiting[BATCH:]
            self.client.log_batch(self.run_id, metrics=part)


LOGGERS: dict[str, Callable[[Path], Callback]] = {  # name -> the logger of a run in a folder
    "csv": lambda folder: CSVLog(folder / "log.csv"),
    "tensorboard": lambda folder: TensorBoard(folder / "tensorboard"),
    "mlflow": lambda _: MLflow(),
}


def check_loggers(names: Sequence[str]) -> None:
    """Refuse an unknown name before a run starts."""
    for name in names:
        if name not in LOGGERS:
            raise SettingError(unknown("log", name, LOGGERS))


def make_logger(name: str, folder: Path) -> Callback:
    """The logger ``name``: ``log.csv`` or ``tensorboard/`` in ``folder``, or MLflow's own store."""
    check_loggers([name])
    return LOGGERS[name](folder)
