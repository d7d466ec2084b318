"""The page of a run folder, of an estimator and in a notebook; its data are those of the run, as strict JSON."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drgst.cli import main
from drgst.errors import RunError
from drgst.estimator import SelfTraining, load_model
from drgst.graph.core import make_graph
from drgst.graph.split import Split
from drgst.io.npz import save_graph
from drgst.report.page import page_data, run_page
from drgst.runs.config import RunConfig
from drgst.runs.folder import RunFolder
from drgst.runs.result import Result
from drgst.runs.run import Run
from drgst.selftrain.recipe import find_setting
from drgst.selftrain.slots.select import ClusterChecked, Nothing, Threshold, TopPerClass

QUICK = {"epochs": 20, "lr": 0.05, "stages": 2, "samples": 5, "hidden": 8, "threshold": 0.6, "normalise": "none"}


@pytest.fixture
def folder(hostile: SelfTraining, tmp_path: Path) -> Path:
    """The folder of a run on the hostile graph."""
    save_graph(hostile.graph_.with_(splits=(hostile.split_,)), tmp_path / "graph.npz")
    config = RunConfig(data=str(tmp_path / "graph.npz"), recipe="drgst-do", settings=QUICK, threads=1)
    Run.from_config(config).execute(folder=RunFolder(tmp_path / "run"))
    return tmp_path / "run"


def test_command(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``drgst report`` writes RUN/report.html and says where; ``--json`` says it to a program."""
    with pytest.raises(SystemExit) as stopped:
        main(["report", str(folder), "--json"])
    assert stopped.value.code == 0
    said = json.loads(capsys.readouterr().out)
    page = folder / "report.html"
    assert said == {"run": str(folder), "out": str(page), "bytes": page.stat().st_size, "nodes": 240, "shown": 240}
    assert "<script>alert(1)" not in page.read_text(encoding="utf-8")


def test_figures_of_the_folder(folder: Path) -> None:
    """The page says what summary.json says."""
    summary = RunFolder(folder).summary()
    page = run_page(folder)
    result = next(stage for stage in page.data["model"]["stages"] if stage["result"])
    assert result["stage"] == summary["result_stage"]
    assert result["test_accuracy"] == pytest.approx(summary["test_accuracy"])
    assert page.data["facts"]["command"].startswith("drgst run --config ")


def test_a_missing_stage_is_refused(folder: Path) -> None:
    """A page of half a run would mislead."""
    RunFolder(folder).stage_path(1).unlink()
    with pytest.raises(RunError, match=r"stage 1 of the run in .* is missing"):
        run_page(folder)


def test_a_forced_run_takes_the_old_page_away(folder: Path) -> None:
    """The page of another run must not stay beside the new files."""
    (folder / "report.html").write_text("old")
    RunFolder(folder).start(Run.from_config(RunFolder(folder).config()))
    assert not (folder / "report.html").exists()


def test_notebook(hostile: SelfTraining) -> None:
    """The page is shown in a frame that can't touch the notebook; graph and history have tables, all escaped."""
    page = hostile.report()
    shown = page._repr_html_()
    assert shown.count("<") == 2
    assert 'sandbox="allow-scripts allow-downloads"' in shown
    assert html.unescape(shown.split('srcdoc="')[1].split('"')[0]) == page.html
    for thing in (hostile.graph_, hostile.history_):
        assert "<script" not in thing._repr_html_()
        assert "<img" not in thing._repr_html_()
    assert "&lt;img src=x" in hostile.graph_._repr_html_()
    assert hostile.stop_reason_ in hostile.history_._repr_html_()


def test_a_loaded_model_has_no_history(hostile: SelfTraining, tmp_path: Path) -> None:
    """It says where a page comes from."""
    hostile.save(str(tmp_path))
    with pytest.raises(RunError, match="load it from a run folder"):
        load_model(str(tmp_path)).report()


def test_json_without_nan(data: dict[str, Any]) -> None:
    """No NaN, no infinity."""
    assert json.loads(json.dumps(data, allow_nan=False))["format"] == 3


def test_stages_and_settings(result: Result, data: dict[str, Any]) -> None:
    """T, curves, the result, settings and versions are there."""
    student = data["model"]["stages"][1]
    np.testing.assert_allclose(student["transition"], result.history[1].transition, atol=1e-5)
    assert sum(map(sum, student["pseudo"])) == result.history[1].pseudo_labels.nodes.size
    assert len(student["trainings"][0]["train"]) == len(student["trainings"][0]["at"])
    assert [stage["result"] for stage in data["model"]["stages"]].count(True) == 1
    tables = {title: dict(rows) for title, rows in data["facts"]["tables"]}
    assert tables["Settings"]["threshold"] == "0.6"
    assert "drgst" in tables["Versions"]
    assert tables["Run"]["pool"] == f"{result.split.pool.size:,} nodes"
    assert data["facts"]["command"] == "command"


def test_threshold_of_parts() -> None:
    """The threshold of the part, or of a part within it, or None."""
    assert find_setting(Threshold(0.7), "threshold") == 0.7
    assert find_setting(ClusterChecked(Threshold(0.4)), "threshold") == 0.4
    assert find_setting(TopPerClass(5), "threshold") is None
    assert find_setting(Nothing(), "threshold") is None


def test_out_of_fold_figures_where_the_run_has_them(data: dict[str, Any]) -> None:
    assert not [title for title, _, _ in data["model"]["cards"] if "out-of-fold" in title]
    labels = np.array([0] * 60 + [1] * 4 + [0] * 136)
    features = np.eye(2)[labels] + np.random.default_rng(0).normal(scale=0.1, size=(200, 2))
    graph = make_graph(features, np.zeros((200, 200)), labels, class_names=["ok", "fraud"])
    split = Split.of(np.arange(54, 64), [], [], 200)
    fitted = SelfTraining("logistic-ppr", {"calibrate": "crossfit"}, prior={"fraud": 0.02}).fit(graph, split)
    shown = page_data(fitted.result_, "command")["model"]["cards"]
    assert shown[0] == ["3-fold out-of-fold accuracy", "100.0%", "72% to 100%, from 10 labels"]
    assert not any(title.startswith("Average precision") for title, _, _ in shown)  # 4 labels of fraud tell nothing
