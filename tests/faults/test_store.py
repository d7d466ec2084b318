"""Stores that are damaged, newer, not ours, unwritable or full; benches and workers that are killed."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from drgst.errors import StoreError
from drgst.lab.grid.execute import Expander
from drgst.lab.grid.executors import Inline, Local
from drgst.lab.grid.grid import Grid
from drgst.lab.grid.run_grid import run_grid
from drgst.lab.store import Store
from drgst.lab.store.export import readable_rows

DRGST = Path(sys.executable).parent / "drgst"
Row = Callable[..., dict[str, Any]]


@pytest.fixture
def filled(tmp_path: Path, make_row: Row) -> Path:
    """A store of 300 runs, large enough to have several pages."""
    path = tmp_path / "runs.db"
    with Store(path, create=True) as store, store.transaction():
        for i in range(300):
            store.add(make_row(f"k{i:03}", draw=i, stage_rows=json.dumps([{"note": "x" * 500}])))
    return path


def words(*more: str, graph: Path, store: Path, draws: int, settings: str = "epochs=5") -> list[str]:
    grid = ["--datasets", str(graph), "--per-class", "3", "--recipes", "gcn", "--draws", str(draws)]
    return [str(DRGST), "lab", "bench", *grid, "--store", str(store), "--set", settings, "--json", *more]


def document(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    path.write_bytes(b"this is a letter to my aunt, not a database\n" * 100)
    with pytest.raises(StoreError, match=r"damaged .* drgst lab bench rescue"):
        Store(path, create=True)
    assert path.read_bytes().startswith(b"this is a letter")


def test_a_damaged_store_is_refused_and_what_can_be_read_is_rescued(filled: Path, tmp_path: Path) -> None:
    whole = bytearray(filled.read_bytes())
    middle = len(whole) // 2 // 4096 * 4096
    whole[middle : middle + 4096] = os.urandom(4096)
    filled.write_bytes(whole)
    with pytest.raises(StoreError, match="damaged"):
        Store(filled, create=True)
    done = subprocess.run(
        [str(DRGST), "lab", "bench", "rescue", str(filled), "--store", str(tmp_path / "new.db")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    with Store(tmp_path / "new.db") as store:
        saved = store.all_rows(("key",))
    assert 100 < len(saved) < 300  # both ends, without what was on the page


def test_a_path_below_a_file_is_refused() -> None:
    with pytest.raises(StoreError, match="can't write the store"):
        Store("/proc/version/runs.db", create=True)


def test_a_database_of_somebody_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "contacts.db"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE people (name TEXT)")
    with pytest.raises(StoreError, match="not a store of drgst"):
        Store(path, create=True)


def test_a_full_disk_keeps_what_was_written(filled: Path, make_row: Row) -> None:
    with Store(filled, create=True) as store:
        pages = store.read("PRAGMA page_count")[0][0]
        store.write(f"PRAGMA max_page_count = {pages}")  # SQLite reports the same as for a full disk
        with pytest.raises(StoreError, match="the disk is full"):
            store.add(make_row("large", stage_rows="x" * 100_000))
    assert len(readable_rows(filled)) == 300


def test_rescue_of_nothing_says_so(tmp_path: Path) -> None:
    (tmp_path / "junk.db").write_bytes(os.urandom(5000))
    with pytest.raises(StoreError, match="nothing can be read"):
        readable_rows(tmp_path / "junk.db")


def test_workers_import_nothing_from_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither do those processes that look after workers; pickle looks for ``org``, a module of Jython."""
    monkeypatch.chdir(tmp_path)
    for name in ("org", "joblib", "threading"):
        (tmp_path / f"{name}.py").write_text(f"open('{name} was executed', 'w')")
    with Local(1, work=str) as executor:  # type: ignore[arg-type]
        executor.submit("task")  # type: ignore[arg-type]
        assert executor.wait(300) == [("task", "task")]
    assert not list(tmp_path.glob("*executed"))


@pytest.mark.slow
def test_a_worker_that_is_killed_is_replaced_and_its_run_tried_again(tiny: Path) -> None:
    long = Grid([str(tiny)], [3], ["gcn"], 1, {"epochs": 10**7, "patience": 10**7})
    quick = Grid([str(tiny)], [3], ["gcn"], 1, {"epochs": 5})
    endless, short = (Expander(g).tasks(next(g.cells()))[0] for g in (long, quick))
    executor = Local(1, tries=2)
    try:
        executor.submit(endless)
        assert _kill_worker(executor) == []
        done = _kill_worker(executor)
        assert [row["error"] for _, row in done] == [
            "the worker process was killed by the system, 2 times (out of memory?)"
        ]
        executor.submit(short)  # the executor is as good as new
        assert [row["error"] for _, row in _wait(executor)] == [None]
    finally:
        executor.close()


def _kill_worker(executor: Local) -> list[Any]:
    """Kill the process of the one run, once it is there; what the executor makes of it."""
    ((future, (_, pool, _)),) = executor.running.items()
    while not future.running():
        time.sleep(0.1)
    time.sleep(1)
    for pid in list(pool._processes):
        os.kill(pid, signal.SIGKILL)
    for _ in range(300):
        done = executor.wait(0.1)
        if future not in executor.running:
            return done
    raise AssertionError("the executor did not notice")


def _wait(executor: Local) -> list[Any]:
    for _ in range(600):
        done = executor.wait(0.1)
        if done:
            return done
    raise AssertionError("nothing came back within a minute")


@pytest.mark.slow
def test_a_killed_bench_goes_on_and_ends_as_if_nothing_had_happened(tiny: Path, tmp_path: Path) -> None:
    store = tmp_path / "runs.db"
    asked = words("--jobs", "2", graph=tiny, store=store, draws=10, settings="epochs=300,patience=300")
    process = subprocess.Popen(asked, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    count = _wait_for_rows(store, 2)
    process.kill()
    process.wait()
    done = document(subprocess.run(asked, capture_output=True, text=True, check=False))
    assert done["reused"] >= count
    assert done["ran"] + done["reused"] == 10
    grid = Grid([str(tiny)], [3], ["gcn"], 10, {"epochs": 300, "patience": 300})
    with Store(tmp_path / "whole.db", create=True) as fresh:
        assert run_grid(grid, fresh, Inline()).document()["cells"] == done["cells"]


def _wait_for_rows(path: Path, count: int) -> int:
    for _ in range(1200):
        time.sleep(0.1)
        if path.exists():
            with sqlite3.connect(path, timeout=10) as db:
                if db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'runs'").fetchone()[0]:
                    found = db.execute("SELECT count(*) FROM runs").fetchone()[0]
                    if found >= count:
                        return int(found)
    raise AssertionError("no rows within two minutes")


@pytest.mark.usefixtures("hear_ctrl_c")
@pytest.mark.slow
def test_ctrl_c_leaves_a_store_that_goes_on(tiny: Path, tmp_path: Path) -> None:
    store = tmp_path / "runs.db"
    asked = words("--jobs", "2", graph=tiny, store=store, draws=40, settings="epochs=300,patience=300")
    process = subprocess.Popen(asked, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    count = _wait_for_rows(store, 2)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in err
    with Store(store) as opened:
        assert len(opened.all_rows(("key",))) >= count
