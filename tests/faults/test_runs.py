"""Runs that are refused, interrupted, killed or tampered with."""

import json
import multiprocessing
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.torch import load_file, save_file

from drgst.cli import main
from drgst.datasets.synthetic import block_model
from drgst.graph.core import Graph
from drgst.graph.split import random_split
from drgst.io.npz import save_graph
from drgst.io.split_files import save_split
from drgst.selftrain.persist import load_stage

QUICK = (
    "--recipe",
    "drgst-de",
    "--set",
    "epochs=25,lr=0.05,stages=4,samples=10,hidden=16,threshold=0.7,normalise=none",
)
FORK = multiprocessing.get_context("fork")  # a killed child costs no second import of torch


@pytest.fixture(autouse=True)
def _quiet(isolated: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working folder of its own, and one thread."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


def town() -> Graph:
    """300 nodes of 3 classes, hard enough that stages differ."""
    graph = block_model(300, 900, seed=1, classes=3, features=60, homophily=0.8, signal=0.3)
    return graph.with_(name="town", splits=(random_split(graph, per_class=5, val=60, test=90, seed=0),))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The town as a file."""
    save_graph(town(), tmp_path / "town.npz")
    return tmp_path / "town.npz"


def bits(folder: Path) -> list[Any]:
    """Everything that a run computes, bit for bit: results, and every array of every stage; no times."""
    found: list[Any] = [(folder / name).read_bytes() for name in ("predictions.csv", "model.safetensors")]
    for path in sorted((folder / "stages").iterdir()):
        stage = load_stage(path)
        arrays = [stage.logits, stage.all_gain, stage.embedding, stage.weights, stage.gain, stage.pseudo_labels.nodes]
        found.append([path.name, stage.trainings, stage.note, *(a.tobytes() for a in arrays)])
        found.append({name: value.tobytes() for name, value in stage.state.items()})
    return found


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("threshold=1.5", "setting threshold is 1.5 (allowed: from 0 to below 1)"),
        ("beta=1/0", "setting beta is 1/0 (allowed: above 0, up to 100)"),
        ("treshold=0.5", "unknown setting 'treshold'; did you mean 'threshold'?"),
        ("threshold", "--set takes key=value, not 'threshold'"),
        ("view=knn", "recipe drgst-de does not read the setting 'view'"),
    ],
)
def test_settings_out_of_range(refused: Any, tmp_path: Path, change: str, words: str) -> None:
    """Named with their value and what is allowed, before any data is opened or folder made."""
    assert words in refused("run", "--set", change)
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[settings]\nepoch = 3\n", "unknown setting 'epoch'; did you mean 'epochs'?"),
        ("[run]\nrecip = 'gcn'\n", "did you mean 'recipe'?"),
        ("[seting]\n", "unknown table 'seting'; did you mean 'settings'?"),
        ("[run]\nper_class = 3\nsplit = 'a.json'\n", "per_class and split are both given"),
        ("[run]\nper_class = 100000\n", "allows 1 to 20 labels per class"),
        ("[run\n", "is not TOML"),
        ("run = 3\n", "run must be a table"),
    ],
)
def test_bad_config(refused: Any, tmp_path: Path, text: str, words: str) -> None:
    """The file and the nearest known key are named, also where the graph decides."""
    (tmp_path / "run.toml").write_text(text)
    message = refused("run", "--config", tmp_path / "run.toml", "--out", "x")
    assert words in message
    assert "run.toml" in message
    assert not Path("x").exists()


def test_other_bad_arguments(refused: Any, file: Path, tmp_path: Path) -> None:
    """Names, paths and combinations of options that are not allowed."""
    assert "did you mean 'cora'" in refused("run", "cra")
    assert "did you mean 'drgst-de'" in refused("run", file, "--recipe", "drgst-dee")
    assert "unexpected extra argument" in refused("run", "cora", "citeseer")
    assert "no split file" in refused("run", file, "--split", "none.json")
    save_split(random_split(town(), per_class=4, val=40, test=50, seed=3), town(), tmp_path / "own.json")
    both = refused("run", file, "--split", tmp_path / "own.json", "--per-class", 3)
    assert "per_class and split are both given" in both
    assert "unknown pool" in refused("run", file, "--set", "pool=everyone")
    assert "can't read" in refused("run", "--config", tmp_path / "none.toml")
    assert "not the folder of a run" in refused("predict", tmp_path / "none")
    assert "not the folder of a run" in refused("suggest", tmp_path / "none")
    assert "device" in refused("run", file, "--set", "device=abacus")


def test_a_folder_that_exists(ok: Any, refused: Any, file: Path, tmp_path: Path) -> None:
    """Refused without an option; replaced with --force if it is a run; only the files of a run are removed."""
    out = tmp_path / "x"
    ok("run", file, *QUICK, "--out", out)
    before = bits(out)
    assert f"drgst run --out {out} --resume continues it, --force replaces it" in refused(
        "run", file, *QUICK, "--out", out
    )
    assert "both given" in refused("run", file, "--out", out, "--resume", "--force")
    assert "did you mean" in refused("run", file, "--out", out, "--force", "--recipe", "drgst-dee")
    assert bits(out) == before  # a refused --force replaces nothing
    (out / "notes.txt").write_text("mine")
    ok("run", file, *QUICK, "--set", "stages=1", "--out", out, "--force")
    assert (out / "notes.txt").read_text() == "mine"
    assert sorted(p.name for p in (out / "stages").iterdir()) == ["000.safetensors", "001.safetensors"]


def test_a_folder_that_is_no_run_is_left_alone(refused: Any, file: Path, tmp_path: Path) -> None:
    """Neither --force nor --resume writes to somebody's folder, also where it holds a config.toml or predictions."""
    for name, text in (("predictions.csv", "mine"), ("config.toml", "[tool]\nx = 1\n"), ("config.toml", "[run]\n")):
        folder = tmp_path / f"own-{name}-{len(text)}"
        folder.mkdir()
        (folder / name).write_text(text)
        for flag in ("--force", "--resume"):
            refused("run", file, *QUICK, "--out", folder, flag)
        assert [p.name for p in folder.iterdir()] == [name]
        assert (folder / name).read_text() == text
    assert "is not a folder" in refused("run", file, "--out", file, "--force")


def _wait_for(path: Path, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not path.is_file():
        assert time.monotonic() < end, f"{path} does not appear"
        time.sleep(0.02)


@pytest.fixture
def at_work(file: Path) -> Iterator[Any]:
    """A process that works in the folder x for a long time."""
    long = ("--set", "epochs=1000000,patience=1000000")
    child = FORK.Process(target=_child, args=(["run", str(file), *QUICK, *long, "--out", "x"],))
    child.start()
    _wait_for(Path("x/config.toml"))
    yield child
    child.kill()
    child.join()


@pytest.mark.parametrize("option", ["--force", "--resume"])
def test_a_folder_in_use_is_refused_and_a_killed_run_gives_it_up(
    ok: Any, refused: Any, file: Path, at_work: Any, option: str
) -> None:
    """Also with --force and --resume; the process is named."""
    words = refused("run", file, *QUICK, "--set", "epochs=1000000,patience=1000000", "--out", "x", option)
    assert f"x is in use by process {at_work.pid}" in words
    at_work.kill()
    at_work.join()
    ok("run", file, *QUICK, "--out", "x", "--force")
    assert sorted(p.name for p in Path("x").iterdir() if p.name.startswith(".")) == []
    assert not list(Path().glob(".*.tmp"))


def test_a_folder_deleted_during_the_run_is_an_error_that_names_what_is_lost(file: Path) -> None:
    """The run ends at the next stage instead of leaving half a folder."""
    words = ["run", str(file), *QUICK, "--set", "stages=200,threshold=0.4,agreement=1", "--out", "x"]
    child = FORK.Process(target=_child, args=(words, 10**9))
    child.start()
    _wait_for(Path("x/stages/000.safetensors"))
    shutil.rmtree("x", ignore_errors=True)
    child.join(60)
    assert child.exitcode == 2
    said = Path("words.txt").read_text()
    assert "config.toml, split.json, stages/000.safetensors" in said
    assert "deleted while the run was working" in said


def test_resume_of_nothing_starts_with_a_warning_or_is_refused(ok: Any, refused: Any, file: Path) -> None:
    """Without a graph, Cora would be run, which is not what was meant."""
    assert "there is no run in x to resume" in refused("run", "--out", "x", "--resume")
    assert not Path("x").exists()
    _, err = ok("run", file, *QUICK, "--set", "stages=1", "--out", "x", "--resume")
    assert "warning: there is no run in x to resume: a new one is started" in err


def test_resume_of_a_finished_run_reports(ok: Any, call: Any, refused: Any, file: Path, tmp_path: Path) -> None:
    """The same JSON object, nothing run or written; options that contradict the run are refused."""
    out = tmp_path / "x"
    first = call("run", file, *QUICK, "--out", out, "--json")[1]
    times = {p: p.stat().st_mtime_ns for p in out.rglob("*")}
    again, err = ok("run", "--out", out, "--resume", "--json")
    assert again == first
    assert "the result" in err
    assert {p: p.stat().st_mtime_ns for p in out.rglob("*")} == times
    assert "has seed = 0, not 1" in refused("run", "--out", out, "--resume", "--seed", 1)
    assert "has threshold = 0.7, not 0.4" in refused("run", "--out", out, "--resume", "--set", "threshold=0.4")
    assert "has data = " in refused("run", "cora", "--out", out, "--resume")


def test_resume_refuses_other_data_and_mends_damaged_stages(
    ok: Any, call: Any, refused: Any, file: Path, tmp_path: Path
) -> None:
    """A truncated stage is run again, bit-identical; another graph in the same file is refused."""
    out = tmp_path / "x"
    call("run", file, *QUICK, "--out", out)
    before = bits(out)
    (out / "summary.json").unlink()
    damaged = out / "stages" / "002.safetensors"
    damaged.write_bytes(damaged.read_bytes()[:5000])
    _, err = ok("run", "--out", out, "--resume")
    assert "002.safetensors is damaged" in err
    assert bits(out) == before
    (out / "summary.json").unlink()
    save_graph(town().with_(features=town().features * 2), file)
    assert "its contents have changed" in refused("run", "--out", out, "--resume")
    other = town()
    save_graph(other.with_(labels=(other.labels + 1) % 3), file)
    assert "the labels or the split" in refused("run", "--out", out, "--resume")


def _child(words: list[str], limit: int | None = None) -> None:
    """Run the command line in a forked process, quietly."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null if limit is None else os.open("words.txt", os.O_WRONLY | os.O_CREAT), 2)
    sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
    if limit is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    main(words)


def test_full_disk_is_one_sentence_and_the_run_can_be_resumed(ok: Any, call: Any, file: Path, tmp_path: Path) -> None:
    """No file may grow beyond a size that the config fits in and a stage does not."""
    child = FORK.Process(target=_child, args=(["run", str(file), *QUICK, "--out", "x"], 20_000))
    child.start()
    child.join(60)
    assert child.exitcode == 2
    said = Path("words.txt").read_text()
    assert "error: can't write" in said
    assert "Traceback" not in said
    ok("run", "--out", "x", "--resume")
    call("run", file, *QUICK, "--out", "y")
    assert bits(Path("x")) == bits(Path("y"))


@pytest.mark.usefixtures("hear_ctrl_c")
def test_ctrl_c_keeps_the_stages_and_names_the_command_to_resume(file: Path, tmp_path: Path) -> None:
    """Exit code 130; in a separate process."""
    words = ("run", str(file), *QUICK, "--set", "epochs=100000,patience=100000", "--out", "x")
    slow = subprocess.Popen(
        [sys.executable, "-m", "drgst", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        _wait_for(Path("x/config.toml"))
        time.sleep(3)  # torch is imported by now: a signal in the middle of that can abort the process
        slow.send_signal(signal.SIGINT)
        _, err = slow.communicate(timeout=60)
    finally:
        slow.kill()
    assert slow.returncode == 130
    assert "Traceback" not in err
    assert "drgst run --out x --resume" in err


def test_scrambled_hidden_labels_change_nothing(ok: Any, tmp_path: Path) -> None:
    """Labels that are neither training nor validation labels: the same predictions and weights, bit for bit."""
    graph = town()
    split = graph.split
    hidden = np.setdiff1d(np.arange(graph.num_nodes), np.union1d(split.train, split.val))
    labels = graph.labels.copy()
    labels[hidden] = np.random.default_rng(0).permutation(labels[hidden])
    assert (labels != graph.labels).sum() > 50
    for name, content in (("true", graph), ("scrambled", graph.with_(labels=labels))):
        save_graph(content, tmp_path / name / "town.npz")
        ok("run", tmp_path / name / "town.npz", *QUICK, "--out", tmp_path / name / "run")
    first, second = tmp_path / "true" / "run", tmp_path / "scrambled" / "run"
    assert bits(first) == bits(second)
    figures = [json.loads((run / "summary.json").read_text()) for run in (first, second)]
    assert figures[0]["test_accuracy"] != figures[1]["test_accuracy"]


def test_model_folder_edited_by_hand(call: Any, refused: Any, file: Path, tmp_path: Path) -> None:
    """Refused in one sentence by every command that reads the file."""
    out = tmp_path / "x"
    call("run", file, *QUICK, "--out", out)
    weights = out / "model.safetensors"
    raw = weights.read_bytes()
    weights.write_bytes(raw[: len(raw) // 2])
    assert "is not a usable model" in refused("predict", out, file)
    assert "is not a usable model" in refused("suggest", out)
    weights.write_bytes(raw)
    (out / "predictions.csv").write_text("id,label\n1,0\n")
    assert "was edited" in refused("suggest", out)
    (out / "summary.json").unlink()
    assert "drgst run --out" in refused("suggest", out)


def test_weights_and_outputs_that_are_not_finite_are_refused(
    call: Any, refused: Any, file: Path, tmp_path: Path
) -> None:
    """NaN and infinite weights when the model is read, 1e38 when it predicts; no line of NaN is written."""
    out = tmp_path / "x"
    call("run", file, *QUICK, "--out", out)
    weights = out / "model.safetensors"
    tensors = load_file(weights)
    name = next(key for key, value in tensors.items() if key.startswith("state.") and value.ndim == 2)
    for value, words in ((float("nan"), "NaN or infinite"), (float("inf"), "NaN or infinite"), (1e38, "not finite")):
        changed = {key: t.clone() for key, t in tensors.items()}
        changed[name][:] = value
        save_file(changed, weights)
        assert words in refused("predict", out, file)
    save_file({**tensors, "fitted.probabilities": tensors["fitted.probabilities"] * float("nan")}, weights)
    assert "its probabilities hold NaN" in refused("predict", out, file)


def test_reasons_of_a_damaged_model_are_refused(ok: Any, refused: Any, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "x"
    ok("run", file, "--recipe", "label-propagation", "--out", out)
    tensors = load_file(out / "model.safetensors")
    save_file({**tensors, "state.weights": tensors["state.weights"][None]}, out / "model.safetensors")
    assert "its tensors do not fit together" in refused("explain", out, 3)


def test_features_that_need_more_memory_than_there_is(refused: Any, tmp_path: Path) -> None:
    """One feature index in a table of a few bytes makes a network of half a terabyte."""
    lines = [f"{i},{i % 2},{'train' if i < 4 else ''},{i}:1" for i in range(10)]
    lines[0] = "0,0,train,2147483646:1"
    (tmp_path / "nodes.csv").write_text("\n".join(["id,label,split,features", *lines]))
    (tmp_path / "edges.csv").write_text("source,target\n0,1\n2,3\n")
    words = refused("run", tmp_path, "--recipe", "gcn", "--out", "x")
    assert "a model of 2,147,483,647 features would need" in words
    assert "TB of memory" in words
    assert not Path("x").exists()


def test_resume_with_another_number_of_threads_warns_and_keeps_the_first(ok: Any, call: Any, file: Path) -> None:
    """The result is that of the uninterrupted run."""
    call("run", file, *QUICK, "--set", "stages=1", "--out", "x")
    before = bits(Path("x"))
    Path("x/summary.json").unlink()
    Path("x/stages/001.safetensors").unlink()
    _, err = ok("run", "--out", "x", "--resume", "--threads", 2)
    assert "warning: the run in x was started with 1 threads and continues with them" in err
    assert bits(Path("x")) == before


@pytest.mark.parametrize("name", ["summary.json", "history.jsonl"])
def test_a_report_of_files_without_their_keys_is_refused(call: Any, file: Path, name: str) -> None:
    """They are JSON, but not that of a run."""
    call("run", file, *QUICK, "--set", "stages=1", "--out", "x")
    (Path("x") / name).write_text('{"stage": 0}\n')
    code, _, err = call("run", "--out", "x", "--resume")
    assert code == 2
    assert err.startswith(f"error: x/{name} is damaged: ")
