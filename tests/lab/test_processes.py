"""Processes by id and start time."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from drgst.lab.processes import is_running, start_time


def test_this_process_runs_and_an_earlier_one_with_its_id_does_not() -> None:
    own = start_time(os.getpid())
    assert is_running(os.getpid(), own)
    if own:  # systems without /proc know no start times
        assert not is_running(os.getpid(), str(int(own) - 1))


def test_a_process_that_has_ended_does_not_run() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    started = start_time(child.pid)
    assert is_running(child.pid, started)
    child.communicate(b"\n")
    assert not is_running(child.pid, started)
    assert start_time(child.pid) == ""


@pytest.mark.parametrize("pid", [2**31 - 1, 10**30])
def test_an_id_that_no_process_has(pid: int) -> None:
    assert not is_running(pid, "1")


def test_an_unknown_start_time_does_not_end_a_process() -> None:
    assert is_running(os.getpid(), "")
