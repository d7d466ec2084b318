"""What a run shows while it works, and CSV, TensorBoard and MLflow logs of real runs, read back."""

import csv
import io
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import drgst
from drgst import SelfTraining
from drgst.errors import DataFileError, SettingError
from drgst.graph.core import Graph
from drgst.progress import display as module
from drgst.progress.display import Progress, display, joined, stage_line
from drgst.progress.loggers import CSVLog, MLflow, make_logger
from drgst.selftrain.callbacks import Callback
from drgst.selftrain.history import History

FACTS = {"dataset": "town", "recipe": "gcn", "seed": 0, "stages": 2, "settings": {}}


def console(terminal: bool = False, jupyter: bool = False) -> Console:
    return Console(file=io.StringIO(), force_terminal=terminal, force_jupyter=jupyter, width=120)


def printed(shown: Console) -> str:
    return shown.file.getvalue()  # type: ignore[attr-defined]


def test_one_line_per_stage_without_a_terminal(history: History) -> None:
    plain = console()
    with Progress(plain, 2) as progress:
        progress.training(0, 0, 0)
        progress.epoch(1, 0.5, 0.6)
        progress.stage(history)
    assert printed(plain).strip() == stage_line(history, 2)
    assert "pseudo-labelled nodes, validation accuracy" in stage_line(history, 2)


def test_steps_are_printed_when_nothing_was_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = console()
    progress = Progress(plain)
    progress.begin(FACTS)
    progress.step("cross-fitting fold", 1, 3)
    monkeypatch.setattr(module, "QUIET", 0.0)
    progress.step("cross-fitting fold", 2, 3)
    progress.training(0, 1, 0)
    progress.epoch(1, 0.5, 0.25)
    progress.close()
    lines = ["cross-fitting fold 2 of 3", "teacher, fresh start 1  epoch 1  validation loss 0.250"]
    assert printed(plain).splitlines() == lines


def test_a_stage_without_epochs_names_none(world: Any) -> None:
    """A linear model is fitted in closed form or in a fixed number of steps."""
    linear = SelfTraining("drgst-plus", {"stages": 1}).fit(world.graph, world.split).history_
    assert "epoch" not in stage_line(linear, 1)
    assert stage_line(linear, 1).startswith("stage 1 of 1: ")


def test_a_live_line_on_a_terminal() -> None:
    live = console(terminal=True)
    with Progress(live, 2) as progress:
        progress.training(1, 1, 633)
        progress.step("view", 2, 5)
        progress.epoch(7, 0.5, math.nan)
        progress.epoch(8, 0.5, math.nan)
    assert "stage 1 of 2, fresh start 1  view 2 of 5  633 pseudo-labelled nodes" in printed(live)
    assert "view 2 of 5  epoch 7  training loss 0.500  633 pseudo-labelled nodes" in printed(live)
    assert "epoch 8" not in printed(live), "most epochs are not shown"


def test_a_notebook_keeps_the_last_line(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    ipython = pytest.importorskip("IPython.display", reason="needs the extra drgst[notebook]")
    shown: list[str] = []

    class Handle:
        def update(self, text: Any) -> None:
            shown.append(text._repr_mimebundle_((), ())["text/html"])

    monkeypatch.setattr(ipython, "display", lambda *_, **__: Handle())
    progress = Progress(console(jupyter=True))
    progress.begin(FACTS)
    progress.training(1, 0, 12)
    progress.epoch(3, 0.5, 0.7)
    progress.stage(history)
    progress.end({"recipe": "gcn", "dataset": "<town>", "seconds": 1.25, "test_accuracy": 0.75})
    progress.close()
    assert "stage 1 of 2  epoch 3  validation loss 0.700" in shown[0]
    assert "gcn on &lt;town&gt;: done in 1.2 s, test accuracy 75.0%" in shown[-1]


def test_a_display_elsewhere_is_shown_only_where_it_is_wanted() -> None:
    assert display(None) is None
    assert display(False) is None
    assert isinstance(display(True), Progress)


SETTINGS: dict[str, Any] = {"epochs": 12, "samples": 3, "threshold": 0.4, "lr": 0.03, "stages": 1}


@pytest.fixture(scope="module")
def graph() -> Graph:
    graph = drgst.block_model(60, 180, classes=3, features=30, words=8, signal=0.8, seed=1)
    return graph.with_(splits=(drgst.random_split(graph, per_class=4, val=15, test=20, seed=0),))


def fitted(graph: Graph, callback: Any) -> drgst.SelfTraining:
    return drgst.SelfTraining("drgst-de", SETTINGS).fit(graph, callback=callback)


def test_csv(graph: Graph, tmp_path: Path) -> None:
    model = fitted(graph, CSVLog(tmp_path / "logs" / "log.csv"))
    with (tmp_path / "logs" / "log.csv").open() as file:
        rows = list(csv.DictReader(file))
    value = {(row["kind"], int(row["step"]), row["name"]): row["value"] for row in rows}
    assert value["run", 0, "recipe"] == "drgst-de"
    losses = [float(value["epoch", k, "train_loss"]) for k in range(model.result_.epochs)]
    curves = [t.curve.train_loss for stage in model.history_.stages for t in stage.trainings]
    np.testing.assert_allclose(losses, np.concatenate(curves), rtol=1e-6)
    assert int(float(value["stage", 1, "pseudo_labelled"])) == model.history_[1].pseudo_labels.nodes.size
    last = [row for row in rows if row["kind"] == "end" and row["name"] == "test_accuracy"]
    assert float(last[0]["value"]) == pytest.approx(model.score())
    with pytest.raises(DataFileError, match="can't write"):
        fitted(graph, CSVLog(tmp_path / "logs" / "log.csv" / "below"))


def test_a_name_in_the_log_is_no_formula(graph: Graph, tmp_path: Path) -> None:
    fitted(graph.with_(name="=HYPERLINK(1)"), CSVLog(tmp_path / "log.csv"))
    assert "run,0,dataset,'=HYPERLINK(1)\n" in (tmp_path / "log.csv").read_text()


def test_tensorboard(graph: Graph, tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="needs the extra drgst[tensorboard]")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    for _ in range(2):  # the second run replaces the events of the first
        model = fitted(graph, make_logger("tensorboard", tmp_path))
    events = EventAccumulator(str(tmp_path / "tensorboard"))
    events.Reload()
    tags = set(events.Tags()["scalars"])
    assert {"epoch/train_loss", "epoch/val_loss", "stage/pseudo_labelled", "stage/val_accuracy"} <= tags
    losses = [event.value for event in events.Scalars("epoch/train_loss")]
    curves = [t.curve.train_loss for stage in model.history_.stages for t in stage.trainings]
    np.testing.assert_allclose(losses, np.concatenate(curves), rtol=1e-5)
    stages = {event.step: event.value for event in events.Scalars("stage/val_accuracy")}
    assert stages == pytest.approx({stage.number: stage.val_accuracy for stage in model.history_.stages})
    assert events.Scalars("end/test_accuracy")[0].value == pytest.approx(model.score())


def test_mlflow(graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mlflow", reason="needs the extra drgst[mlflow]")
    from mlflow import MlflowClient

    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    uri = (tmp_path / "mlruns").as_uri()
    model = fitted(graph, MLflow(experiment="test", uri=uri))
    client = MlflowClient(tracking_uri=uri)
    experiment = client.get_experiment_by_name("test")
    (run,) = client.search_runs([experiment.experiment_id])
    assert run.info.status == "FINISHED"
    assert (run.data.params["recipe"], run.data.params["threshold"]) == ("drgst-de", "0.4")
    assert run.data.metrics["test_accuracy"] == pytest.approx(model.score())
    epochs = client.get_metric_history(run.info.run_id, "epoch_val_loss")
    assert len(epochs) == model.result_.epochs
    stages = client.get_metric_history(run.info.run_id, "stage_val_accuracy")
    assert {m.step: m.value for m in stages} == pytest.approx({s.number: s.val_accuracy for s in model.history_.stages})

    class Broken(Callback):
        def stage(self, history: History) -> None:
            raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        fitted(graph, [MLflow(experiment="test", uri=uri), Broken()])
    states = sorted(r.info.status for r in client.search_runs([experiment.experiment_id]))
    assert states == ["FAILED", "FINISHED"]


def test_mlflow_sends_no_telemetry() -> None:
    pytest.importorskip("mlflow", reason="needs the extra drgst[mlflow]")
    ask = "from mlflow.environment_variables import MLFLOW_DISABLE_TELEMETRY as off; print(off.get())"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MLFLOW_")}
    code = f"from drgst.progress.loggers import MLflow; MLflow(); {ask}"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


def test_unknown_names(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="unknown log 'tensorbord'; did you mean 'tensorboard'"):
        make_logger("tensorbord", tmp_path)


def test_callbacks_are_joined() -> None:
    calls: list[str] = []

    class Note(Callback):
        def __init__(self, name: str) -> None:
            self.name = name

        def step(self, what: str, number: int, total: int) -> None:
            calls.append(f"{self.name} {what} {number}/{total}")

    both = joined(Note("a"), None, [Note("b")])
    both.step("fold", 1, 3)
    assert calls == ["a fold 1/3", "b fold 1/3"]
    assert joined(None, []) is None
