"""The folder of a run: what is refused, swept, read and locked."""

import contextlib
import logging
import multiprocessing
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from drgst.errors import RunError
from drgst.runs.folder import RunFolder, finished_run
from drgst.runs.lock import LOCK, locked
from drgst.runs.result import Result


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> RunFolder:
    """A copy of the finished run."""
    return RunFolder(shutil.copytree(folder, tmp_path / "copy"))


def test_temporary_files_are_swept(copy: RunFolder) -> None:
    """Those of our writes and of safetensors; other hidden files stay."""
    left = [copy / ".summary.json.x1.tmp", copy / "stages" / ".001.safetensors.y2.tmp", copy / "stages" / ".tmpAb3dEf"]
    for path in (*left, copy / ".gitignore"):
        path.write_text("x")
    copy.sweep()
    assert not any(path.exists() for path in left)
    assert (copy / ".gitignore").exists()


def test_stages_up_to_the_first_that_does_not_fit(
    copy: RunFolder, result: Result, caplog: pytest.LogCaptureFixture
) -> None:
    """A stage of another graph and all after it are not used, and the log names it."""
    nodes, classes = result.probabilities.shape
    assert len(copy.history((nodes, classes))) == 3
    with caplog.at_level(logging.WARNING, "drgst"):
        assert len(copy.history((nodes + 1, classes))) == 0
    assert "000.safetensors: its array logits has shape" in caplog.text
    copy.stage_path(1).write_bytes(b"x")
    assert len(copy.history((nodes, classes))) == 1


def test_a_run_is_finished_when_it_has_its_summary(copy: RunFolder, tmp_path: Path) -> None:
    assert finished_run(copy.path).finished
    (copy / "summary.json").unlink()
    with pytest.raises(RunError, match=r"is not finished; continue it with: drgst run --out .* --resume"):
        finished_run(copy.path)
    with pytest.raises(RunError, match="is not the folder of a run"):
        finished_run(tmp_path)


def test_damaged_files_are_named(copy: RunFolder) -> None:
    (copy / "summary.json").write_text("[")
    with pytest.raises(RunError, match=r"summary\.json is damaged"):
        copy.summary()
    (copy / "history.jsonl").unlink()
    with pytest.raises(RunError, match="can't read"):
        copy.rows(())


def test_what_a_run_killed_before_its_config_leaves_is_free(tmp_path: Path) -> None:
    """A lock, what is written before the config, temporary files; without the lock they are somebody's own."""
    folder = RunFolder(tmp_path)
    first = ("split.json", "added_labels.csv", "graph.npz", "tables.json", "nodes.parquet")
    for name in (".lock", *first, ".config.toml.ab12.tmp"):
        (tmp_path / name).write_text("x")
    folder.check_free(resume=False, force=False)
    (tmp_path / ".lock").unlink()
    with pytest.raises(RunError, match="holds no run of drgst"):
        folder.check_free(resume=False, force=False)


def test_deleted_files_are_named(copy: RunFolder) -> None:
    copy.check_intact(3)
    (copy / "split.json").unlink()
    copy.stage_path(1).unlink()
    with pytest.raises(RunError, match=r"split.json, stages/001.safetensors in .*copy were deleted while the run"):
        copy.check_intact(3)


FORK = multiprocessing.get_context("fork")


def _hold(folder: Path, pipe: Any) -> None:
    try:
        with locked(folder):
            pipe.send("held")
            pipe.recv()
    except RunError as error:
        pipe.send(str(error))


def _holder(folder: Path) -> tuple[Any, Any]:
    """A process that tries to hold ``folder``, and the pipe that says how that went."""
    mine, other = FORK.Pipe()
    process = FORK.Process(target=_hold, args=(folder, other))
    process.start()
    return process, mine


def test_a_second_process_is_refused_by_name_until_the_first_has_ended(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "x"
    process, pipe = _holder(folder)
    assert pipe.recv() == "held"
    with pytest.raises(RunError, match=rf"x is in use by process {process.pid} on .*another --out"), locked(folder):
        pytest.fail("two processes hold the folder")
    pipe.send("end")
    process.join()
    with locked(folder):
        assert str(os.getpid()) in (folder / LOCK).read_text()
    assert not folder.parent.exists()  # nothing was written, so nothing is left


def test_one_of_many_processes_gets_a_new_folder(tmp_path: Path) -> None:
    holders = [_holder(tmp_path / "x") for _ in range(6)]
    answers = [pipe.recv() for _, pipe in holders]
    assert answers.count("held") == 1
    assert all("in use by" in answer for answer in answers if answer != "held")
    for process, pipe in holders:
        if process.is_alive() and not pipe.closed:
            with contextlib.suppress(BrokenPipeError):
                pipe.send("end")
        process.join()


def test_the_lock_of_a_killed_process_and_a_file_that_was_left_hold_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "x"
    process, pipe = _holder(folder)
    assert pipe.recv() == "held"
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    assert (folder / LOCK).exists()
    with locked(folder):
        pass
    (folder / LOCK).write_text("process 1 on here\n")  # process 1 lives, but holds nothing
    with locked(folder):
        (folder / "kept").write_text("x")
    assert [path.name for path in folder.iterdir()] == ["kept"]


def test_a_folder_that_was_there_stays(tmp_path: Path) -> None:
    with locked(tmp_path):
        pass
    assert tmp_path.is_dir()


def test_a_folder_that_can_not_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with (
        pytest.raises(RunError, match=r"can't write the run folder .*file/x: Not a directory"),
        locked(tmp_path / "file" / "x"),
    ):
        pass
