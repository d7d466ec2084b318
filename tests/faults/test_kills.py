"""Runs that are killed at random moments, also while a file is written, and processes that share a store."""

import json
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import drgst
from drgst.cli import main
from drgst.datasets.synthetic import block_model
from drgst.graph.split import random_split
from drgst.io.npz import save_graph
from drgst.lab.store import Store
from drgst.recipes import find_recipe, recipe_names
from drgst.selftrain.persist import load_stage

FORK = multiprocessing.get_context("fork")  # a killed child costs no second import of torch
QUICK = {"epochs": 40, "lr": 0.05, "stages": 3, "samples": 5, "hidden": 8, "threshold": 0.5, "agreement": 1.0}
KILLS = 4  # of each recipe in the long campaign


@pytest.fixture(autouse=True)
def _town(isolated: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working folder with a graph of 9 classes (sums over more than 8 numbers show their order), and one thread."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    graph = block_model(150, 450, seed=1, classes=9, features=36, homophily=0.8, signal=0.4)
    split = random_split(graph, per_class=4, val=30, test=30, seed=0)
    save_graph(graph.with_(name="town", splits=(split,)), "town.npz")


def words(recipe: str) -> list[str]:
    """A short run of a recipe."""
    changes = [f"{name}={value}" for name, value in find_recipe(recipe).readable(QUICK).items()]
    return ["run", "town.npz", "--recipe", recipe, *(["--set", ",".join(changes)] if changes else [])]


def child(arguments: list[str], kill_at_write: int | None = None) -> None:
    """Run the command line in a forked process, quietly; it may kill itself before its n-th file is complete."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
    if kill_at_write is not None:
        move, left = os.replace, [kill_at_write]

        def replace(*paths: Any) -> None:
            left[0] -= 1
            if left[0] < 0:
                if random.random() < 0.5:
                    os.truncate(paths[0], os.path.getsize(paths[0]) // 2)
                os.kill(os.getpid(), signal.SIGKILL)
            move(*paths)

        os.replace = replace
    main(arguments)


def killed(arguments: list[str], seconds: float, kill_at_write: int | None) -> bool:
    """Whether a process was killed by us rather than having ended."""
    process = FORK.Process(target=child, args=(arguments, kill_at_write))
    process.start()
    process.join(seconds if kill_at_write is None else 120)
    process.kill()
    process.join()
    return process.exitcode == -signal.SIGKILL


def bits(folder: Path) -> list[Any]:
    """Everything that a run computes, bit for bit."""
    found: list[Any] = [(folder / name).read_bytes() for name in ("predictions.csv", "model.safetensors")]
    for path in sorted((folder / "stages").iterdir()):
        stage = load_stage(path)
        arrays = [stage.logits, stage.all_gain, stage.embedding, stage.weights, stage.pseudo_labels.nodes]
        found.append([path.name, stage.note, *(a.tobytes() for a in arrays)])
        found.append({name: value.tobytes() for name, value in stage.state.items()})
    return found


def finish(arguments: list[str]) -> None:
    """Run to the end in this process."""
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 0, arguments


def chain(recipe: str, kills: int, moments: random.Random) -> int:
    """Kill a run ``kills`` times, resume it, and compare it with one that was left alone; the number of kills."""
    began = time.monotonic()
    finish([*words(recipe), "--out", "whole"])
    length = time.monotonic() - began
    count = attempts = 0
    while count < kills and attempts < 4 * kills:
        attempts += 1
        at_write = moments.randrange(14) if moments.random() < 0.5 else None
        count += killed([*words(recipe), "--out", "broken", "--resume"], moments.uniform(0.01, 1.1) * length, at_write)
        if Path("broken/summary.json").exists():  # it had ended: begin again
            shutil.rmtree("broken")
    finish([*words(recipe), "--out", "broken", "--resume"])
    assert bits(Path("broken")) == bits(Path("whole")), recipe
    assert np.isfinite(drgst.load_model("broken").predict_proba(drgst.open_graph("town.npz"))).all()
    assert not [path for path in Path().rglob("*") if path.name.endswith(".tmp") or path.name == ".lock"]
    return count


def test_a_run_killed_while_it_writes_is_resumed(capsys: pytest.CaptureFixture[str]) -> None:
    assert chain("drgst-do", 4, random.Random(os.getpid())) == 4


@pytest.mark.slow
@pytest.mark.parametrize("recipe", recipe_names())
def test_every_recipe_survives_kills(recipe: str, capsys: pytest.CaptureFixture[str]) -> None:
    seed = random.SystemRandom().randrange(10**9)
    assert chain(recipe, KILLS, random.Random(seed)) == KILLS, f"seed {seed}"


@pytest.mark.slow
def test_six_benches_share_one_store(tmp_path: Path) -> None:
    """No run is lost or made twice, also where two of the six are killed; the survivors make their runs."""
    grid = ["--datasets", "town.npz", "--per-class", "3", "--recipes", "gcn,appnp,drgst-do", "--draws", "12"]
    command = [sys.executable, "-m", "drgst", "lab", "bench", *grid, "--jobs", "1", "--json", "--set", "epochs=8"]
    benches = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) for _ in range(6)]
    try:
        while not Path("runs.db").exists() or _count("runs.db") < 4:
            time.sleep(0.1)
        for victim in benches[:2]:
            victim.kill()
        outputs = [bench.communicate(timeout=600)[0] for bench in benches]
    finally:
        for bench in benches:
            bench.kill()
    documents = [json.loads(out.splitlines()[-1]) for out in outputs[2:]]
    with Store("runs.db") as store:
        rows = store.all_rows(("key", "recipe", "draw", "error"))
    assert len(rows) == 36
    assert len({(row["recipe"], row["draw"]) for row in rows}) == 36
    assert not [row for row in rows if row["error"]]
    assert sum(document["ran"] for document in documents) <= 36
    assert all(document["failed"] == 0 for document in documents)


def _count(path: str) -> int:
    with Store(path, create=True) as store:  # a bench may be making its tables
        return len(store.all_rows(("key",)))
