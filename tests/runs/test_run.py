"""A run made in different ways is the same run."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from drgst.decide.labels.suggest import suggest
from drgst.errors import RunError
from drgst.estimator import SelfTraining
from drgst.graph.core import Graph
from drgst.runs.config import RunConfig
from drgst.runs.folder import RunFolder
from drgst.runs.result import Result
from drgst.runs.run import Run, load_result
from drgst.selftrain.callbacks import Callback


def closed(_: str) -> Graph:
    """An opener for results that must not need the data."""
    raise AssertionError("the data set was opened")


def test_from_a_config_and_from_an_estimator(result: Result, config: RunConfig, town: Graph) -> None:
    """Bit-identical, with the same metrics."""
    fitted = SelfTraining("drgst-de", dict(config.settings), seed=3).fit(town)
    assert fitted.result_.folder == ""
    np.testing.assert_array_equal(fitted.probabilities_, result.probabilities)
    assert fitted.result_.metrics == result.metrics
    assert fitted.result_.config.settings == result.config.settings


def test_a_loaded_result_is_the_executed_one(result: Result, folder: Path) -> None:
    """With its post-processed logits, and without the data set."""
    loaded = load_result(folder, closed)
    np.testing.assert_array_equal(loaded.probabilities, result.probabilities)
    np.testing.assert_array_equal(loaded.stage.final_logits, result.stage.final_logits)
    assert not np.array_equal(loaded.stage.final_logits, loaded.stage.logits)
    assert [s.summary() for s in loaded.history.stages] == [s.summary() for s in result.history.stages]
    assert loaded.stage.state.keys() == result.stage.state.keys()
    assert loaded.history.stop_reason == result.history.stop_reason
    assert list(loaded.predictions.csv_pieces()) == list(result.predictions.csv_pieces())
    np.testing.assert_array_equal(suggest(loaded, 9, "balanced").nodes, suggest(result, 9, "balanced").nodes)
    assert loaded.recipe.parts() == result.recipe.parts()


def test_a_loaded_result_suggests_the_same_nodes(result: Result, folder: Path, town: Graph) -> None:
    """By the default chooser of its recipe, which reads the graph."""
    loaded = load_result(folder, lambda _: town)
    assert suggest(loaded, 20).nodes.size
    np.testing.assert_array_equal(suggest(loaded, 20).nodes, suggest(result, 20).nodes)


def test_a_loaded_result_opens_the_data_once_and_not_for_metrics(result: Result, folder: Path, town: Graph) -> None:
    """It has summary, rows and ids of the same type as a fresh one, and refuses other data."""
    opened: list[str] = []

    def opener(source: str) -> Graph:
        opened.append(source)
        return town

    loaded = load_result(folder, opener)
    assert opened == []
    assert loaded.metrics == result.metrics
    assert loaded.summary() == result.summary()
    assert loaded.rows() == result.rows()
    assert loaded.node_ids == result.node_ids == town.node_ids.tolist()
    assert opened == []
    assert loaded.graph.num_nodes == loaded.run.graph.num_nodes == 150
    assert len(opened) == 1
    other = load_result(folder, lambda _: town.with_(features=town.features * 2))
    with pytest.raises(RunError, match="its contents have changed"):
        _ = other.graph


@pytest.mark.parametrize("edit", ["model", "predictions", "stage"])
def test_files_of_different_runs_are_refused(folder: Path, town: Graph, tmp_path: Path, edit: str) -> None:
    """The model of another seed, predictions of fewer nodes, a missing stage."""
    copy = RunFolder(shutil.copytree(folder, tmp_path / "copy"))
    if edit == "model":
        settings = {"epochs": 5, "stages": 2, "hidden": 8}
        other = Run.from_config(RunConfig(data="town", recipe="drgst-de", seed=4, settings=settings), lambda _: town)
        other.execute().model.save(copy.path)
    elif edit == "predictions":
        (copy / "predictions.csv").write_text("id,label\n1,0\n")
    else:
        copy.stage_path(1).unlink()
    words = {
        "model": "do not agree",
        "predictions": "not of the same graph",
        "stage": "stage 1 of the run in .* missing",
    }
    with pytest.raises(RunError, match=words[edit]):
        _ = load_result(copy.path, closed).stage


def test_fingerprints_are_checked(result: Result, town: Graph) -> None:
    """A complete config refuses other features, other labels and another split."""
    labels = town.labels.copy()
    labels[result.split.train[0]] = (labels[result.split.train[0]] + 1) % 3
    config = RunConfig(**{**vars(result.config), "split": None, "per_class": None})
    assert Run.from_config(config, lambda _: town).config.known_sha256 == result.config.known_sha256
    with pytest.raises(RunError, match="its contents have changed"):
        Run.from_config(config, lambda _: town.with_(features=town.features * 2))
    with pytest.raises(RunError, match="the labels or the split of town"):
        Run.from_config(config, lambda _: town.with_(labels=labels))


def test_callbacks_are_called_in_a_folder_too(town: Graph, config: RunConfig, tmp_path: Path) -> None:
    """After the stage is written."""
    folder = RunFolder(tmp_path / "run")

    class ValidationSet(Callback):
        files: list[int] = []  # noqa: RUF012
        epochs = 0

        def epoch(self, epoch: int, train_loss: float, val_loss: float) -> None:
            self.epochs += 1

        def stage(self, history: object) -> None:
            self.files.append(len(folder.stage_files()))

    watch = ValidationSet()
    result = Run.from_config(config, lambda _: town).execute(watch, folder)
    assert watch.files == [1, 2, 3]
    assert watch.epochs >= result.epochs > 0
    assert folder.finished


def test_the_number_of_threads_is_that_of_the_graph_and_not_of_the_environment(
    town: Graph, config: RunConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert Run.from_config(replace(config, threads=None), lambda _: town).config.threads == 1
    assert Run.of(town, replace(config, threads=None)).config.threads == 1  # of an estimator
    assert Run.of(town, replace(config, threads=3)).config.threads == 3
