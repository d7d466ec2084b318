"""The log of a run for MLflow."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any

from drgst.extras import import_extra
from drgst.progress.metrics import MetricsCallback

BATCH = 500  # metrics per request; MLflow allows 1,000
LONGEST = 500  # characters of a parameter


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
        """The metrics of the result."""
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
