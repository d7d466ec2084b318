"""Leases: one process per run, recognised by id and start time, and no lease without end."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

from drgst.lab.grid.execute import Expander
from drgst.lab.grid.executors import Inline
from drgst.lab.grid.grid import Grid
from drgst.lab.grid.leases import EXPIRY, Leases, is_running, start_time
from drgst.lab.grid.run_grid import run_grid
from drgst.lab.store import Store

HERE = socket.gethostname()
DAY = 86_400.0


def lease(
    store: Store, key: str = "k", host: str = HERE, pid: int = 1, started: str | None = None, age: Any = 0
) -> None:
    """A lease of some process, with a heartbeat ``age`` seconds ago."""
    started = start_time(pid) if started is None else started
    heartbeat = time.time() - age if isinstance(age, float | int) else age
    store.write("INSERT INTO leases VALUES (?, ?, ?, ?, ?)", [key, host, pid, started, heartbeat])


@pytest.fixture
def other() -> Any:
    """A living process that is not this one."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield process
    process.kill()
    process.wait()


def test_a_lease_is_acquired_once_and_again_after_its_release(store: Store) -> None:
    first, second = Leases(store), Leases(store)
    second.owner = ("elsewhere", 1, "1")
    assert first.acquire("k")
    assert not second.acquire("k")
    second.release()
    assert not second.acquire("k"), "nobody releases the lease of another"
    first.release("k")
    assert second.acquire("k")


def test_a_living_process_holds_its_lease(store: Store, other: Any) -> None:
    lease(store, pid=other.pid)
    assert not Leases(store).acquire("k")


@pytest.mark.parametrize("age", [DAY, EXPIRY + 1, -DAY, "text"])
def test_a_lease_without_heartbeat_has_ended_whatever_its_process_does(store: Store, other: Any, age: Any) -> None:
    lease(store, pid=other.pid, age=age)
    assert Leases(store).acquire("k")


def test_a_process_with_a_reused_id_holds_nothing(store: Store, other: Any) -> None:
    lease(store, pid=other.pid, started="1")
    lease(store, "own", pid=os.getpid(), started="1")
    assert Leases(store).acquire("k")
    assert Leases(store).acquire("own")


def test_a_process_that_has_ended_holds_nothing_here_but_may_elsewhere(store: Store, other: Any) -> None:
    other.kill()
    other.wait()
    lease(store, pid=other.pid, started="7")
    lease(store, "far", host="elsewhere", pid=other.pid, started="7")
    assert Leases(store).acquire("k")
    assert not Leases(store).acquire("far")


def test_heartbeats_keep_a_lease(store: Store) -> None:
    leases = Leases(store)
    leases.acquire("k")
    store.write("UPDATE leases SET heartbeat = heartbeat - 100")
    leases.renew()
    ((heartbeat,),) = store.read("SELECT heartbeat FROM leases")
    assert time.time() - heartbeat < 10


@pytest.mark.parametrize("pid", [1, os.getppid()])
def test_a_bench_does_not_wait_for_a_stale_lease(make_grid: Callable[..., Grid], store: Store, pid: int) -> None:
    """A living but foreign process of this machine, and a heartbeat one day old."""
    grid = make_grid(recipes=["gcn"], draws=1, changes={"epochs": 5})
    (task,) = Expander(grid).tasks(next(grid.cells()))
    lease(store, task.key, pid=pid, age=DAY)
    assert run_grid(grid, store, Inline()).ran == 1
    assert store.read("SELECT count(*) FROM leases") == [(0,)]


def test_a_process_is_known_by_its_id_and_start(other: Any) -> None:
    own, started = start_time(os.getpid()), start_time(other.pid)
    assert is_running(os.getpid(), own)
    assert is_running(os.getpid(), "")  # systems without /proc know no start times
    if own:
        assert not is_running(os.getpid(), str(int(own) - 1))
    assert is_running(other.pid, started)
    other.communicate(b"\n")
    assert not is_running(other.pid, started)
    assert start_time(other.pid) == ""
    for pid in (2**31 - 1, 10**30):
        assert not is_running(pid, "1")
