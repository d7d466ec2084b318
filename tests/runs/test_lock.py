"""The lock of a run folder."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from drgst.errors import RunError
from drgst.runs.lock import LOCK, locked

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
