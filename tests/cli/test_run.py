"""``drgst run``, ``predict`` and ``suggest``: text, JSON and files."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import drgst
from drgst.cli.options import parse_executor
from drgst.datasets.synthetic import block_model
from drgst.graph.core import Graph
from drgst.graph.split import random_split
from drgst.io.npz import save_graph
from drgst.io.split_files import load_split, save_split
from drgst.io.write_tables import write_tables
from drgst.runs.cluster import Cluster

QUICK = (
    "--recipe",
    "drgst-de",
    "--set",
    "epochs=25,lr=0.05,stages=2,samples=10,hidden=16,threshold=0.7,normalise=none",
)


@pytest.fixture(scope="module")
def town() -> Graph:
    """300 nodes of 3 classes, all labelled, with a split."""
    graph = block_model(300, 900, seed=1, classes=3, features=60, homophily=0.8, signal=0.3)
    return graph.with_(name="town", splits=(random_split(graph, per_class=5, val=60, test=90, seed=0),))


@pytest.fixture
def file(town: Graph, tmp_path: Path) -> Path:
    """The town as a file."""
    save_graph(town, tmp_path / "town.npz")
    return tmp_path / "town.npz"


def rows_of(text: str) -> list[dict[str, str]]:
    """The rows of a CSV."""
    return list(csv.DictReader(io.StringIO(text)))


def result_bits(folder: Path) -> tuple[bytes, bytes, list[Any]]:
    """Predictions, weights, and the history but for its seconds."""
    rows = [json.loads(line) for line in (folder / "history.jsonl").read_text().splitlines()]
    for row in rows:
        del row["seconds"]
    return (folder / "predictions.csv").read_bytes(), (folder / "model.safetensors").read_bytes(), rows


def test_a_run_from_data_to_predictions(ok: Any, town: Graph, file: Path, tmp_path: Path) -> None:
    """The files are there and agree with the JSON object, the table and the Python API."""
    out, err = ok("run", file, "--per-class", 3, "--out", "runs/x", *QUICK, "--json")
    assert out.count("\n") == 1
    said = json.loads(out)
    written = json.loads((tmp_path / "runs" / "x" / "summary.json").read_text())
    assert said == {**written, "folder": "runs/x"}
    assert said["dataset"] == "town"
    assert (said["per_class"], said["seed"], said["stages"]) == (3, 0, 2)
    assert "teacher" in err
    assert "+" in err
    assert "drgst suggest runs/x" in err
    rows = rows_of((tmp_path / "runs/x/predictions.csv").read_text())
    model = drgst.load_model("runs/x")
    assert [r["label"] for r in rows] == model.predict().astype(str).tolist()
    assert [int(r["stage"]) for r in rows] == model.labeled_stage_.tolist()
    split = load_split("runs/x/split.json", town)
    assert {i for i, r in enumerate(rows) if r["stage"] == "0"} == set(split.train.tolist())
    right = np.mean([rows[v]["label"] == town.class_names[town.labels[v]] for v in split.test])
    assert said["test_accuracy"] == pytest.approx(right)
    assert np.allclose(model.predict_proba(town), model.probabilities_, atol=1e-6)
    stages = [json.loads(line) for line in (tmp_path / "runs/x/history.jsonl").read_text().splitlines()]
    assert [s["stage"] for s in stages] == [0, 1, 2]
    assert all(len(t["val_losses"]) == t["epochs"] + 1 for s in stages for t in s["trainings"])


def test_the_text_of_a_run_fits_80_columns(ok: Any, file: Path) -> None:
    """Results on standard output, progress on standard error, no line cut."""
    out, err = ok("run", file, *QUICK, "--out", "runs/x")
    for word in (
        "labelled  precision",
        "precision",
        "validation",
        "test",
        "mean gain",
        "epochs",
        "the result",
        "stopped: ",
    ):
        assert word in out
    assert "…" not in out
    assert [line.split(":")[0] for line in err.splitlines()] == ["teacher", "stage 1 of 2", "stage 2 of 2"]


def test_config_runs_again_bit_identical(ok: Any, file: Path, tmp_path: Path) -> None:
    """With a draw and with the graph's own split, which is then read from the copy in the folder."""
    for name, words in (("draw", ["--per-class", "3", "--seed", "4"]), ("own", ["--set", "pool=all-but-validation"])):
        first, again = tmp_path / name, tmp_path / f"{name}-again"
        ok("run", file, *words, *QUICK, "--out", first)
        ok("run", "--config", first / "config.toml", "--out", again)
        assert result_bits(first) == result_bits(again)
        assert (first / "config.toml").read_text() == (again / "config.toml").read_text()


def test_options_override_the_config(refused: Any, ok: Any, call: Any, file: Path) -> None:
    """Another seed draws and trains again; another recipe would inherit settings that are not its own."""
    call("run", file, "--per-class", 3, *QUICK, "--out", "a")
    out, _ = ok("run", "--config", "a/config.toml", "--seed", 5, "--out", "b", "--json")
    assert json.loads(out)["seed"] == 5
    assert "drgst-do" in refused("run", "--config", "a/config.toml", "--recipe", "drgst-do", "--out", "c")


def test_a_config_by_hand(ok: Any, town: Graph, tmp_path: Path) -> None:
    """A short config: paths relative to its folder, tables instead of a file, a split file."""
    folder = tmp_path / "project"
    write_tables(town.with_(splits=()), folder / "graph")
    save_split(random_split(town, per_class=4, val=40, test=50, seed=3), town, folder / "mine.json")
    text = '[run]\ndata = "graph"\nsplit = "mine.json"\nrecipe = "gcn"\n[settings]\nepochs = 20\ndropout = "1/3"\n'
    (folder / "run.toml").write_text(text)
    out, _ = ok("run", "--config", folder / "run.toml", "--json")
    said = json.loads(out)
    assert (said["recipe"], said["per_class"], said["stages"]) == ("gcn", 4, 0)
    assert (tmp_path / "runs" / "graph-gcn-seed0" / "summary.json").is_file()


def test_own_graph_without_validation_or_test(ok: Any, town: Graph, tmp_path: Path) -> None:
    """Labelled nodes train, all others are the pool, and metrics that do not exist are null."""
    labels = np.where(np.arange(300) < 30, town.labels, -1)
    write_tables(town.with_(splits=(), labels=labels), tmp_path / "bare")
    out, err = ok("run", tmp_path / "bare", *QUICK, "--json")
    said = json.loads(out)
    assert said["test_accuracy"] is None
    assert said["val_accuracy"] is None
    assert "30 training labels" in err
    out, _ = ok("suggest", "runs/bare-drgst-de-seed0", "--n", 5, "--json")
    assert all(int(row["id"]) >= 30 for row in json.loads(out)["suggestions"])


def test_validation_labels_can_be_left_out(refused: Any, ok: Any, file: Path, tmp_path: Path) -> None:
    """Named in the folder and the config, which can be run again; other values are refused."""
    words = ("run", file, "--per-class", 3, *QUICK)
    out, err = ok(*words, "--validation", "none", "--json")
    assert json.loads(out)["val_accuracy"] is None
    assert ", 0 validation" in err
    first = next((tmp_path / "runs").glob("*-3-no-validation-seed0"))
    ok("run", "--config", first / "config.toml", "--out", "again")
    assert result_bits(first) == result_bits(tmp_path / "again")
    out, _ = ok("run", "--config", "again/config.toml", "--validation", "public", "--out", "b", "--json")
    assert json.loads(out)["val_accuracy"] is not None
    assert "validation = 'none', not 'public'" in refused(
        *words, "--validation", "public", "--out", "again", "--resume"
    )
    err = refused(*words, "--validation", "non")
    known = "(known: a number of labels per class, none, public)"
    assert err == f"error: unknown validation 'non'; did you mean 'none'? {known}\n"


def test_validation_labels_that_train_are_counted_as_such(ok: Any, file: Path) -> None:
    plus = ("run", file, "--per-class", 3, "--recipe", "drgst-plus", "--set", "stages=1", "--json")
    out, err = ok(*plus)
    sizes = json.loads(out)["sizes"]
    among = sizes["train"] - 9
    assert f"{sizes['train']} training labels, {among} of them validation labels (--validation none hides these)" in err
    assert "9 training labels, 0 validation" in ok(*plus, "--validation", "none")[1]


def test_default_run_is_cora_with_three_labels(ok: Any) -> None:
    """No arguments but quick settings."""
    out, _ = ok("run", "--set", "epochs=5,samples=2,stages=1", "--json")
    said = json.loads(out)
    assert (said["dataset"], said["recipe"], said["per_class"]) == ("cora", "drgst-de", 3)
    assert Path("runs/cora-drgst-de-3-seed0/predictions.csv").is_file()


def test_predict_the_run_and_another_graph(ok: Any, call: Any, town: Graph, file: Path, tmp_path: Path) -> None:
    """The run's own predictions as they are; another graph in its own order, without any label, in tables or a file."""
    call("run", file, *QUICK, "--out", "x")
    own, err = ok("predict", "x")
    assert own == Path("x/predictions.csv").read_text()
    assert "300 nodes" in err
    bare = town.with_(splits=(), labels=np.full(300, -1), node_ids=np.array([f"n{i}" for i in range(300)]))
    write_tables(bare, tmp_path / "bare")
    save_graph(bare, tmp_path / "bare.npz")
    expected = [r["label"] for r in rows_of(own)]
    for graph in ("bare", "bare.npz"):
        text, _ = ok("predict", "x", tmp_path / graph)
        rows = rows_of(text)
        assert list(rows[0])[:3] == ["id", "label", "confidence"]
        assert [r["label"] for r in rows] == expected
        assert rows[7]["id"] == "n7"
    text, _ = ok("predict", "x", file, "--out", "p.csv", "--json")
    assert json.loads(text)["accuracy"] == pytest.approx(np.mean(drgst.load_model("x").predict() == town.labels))
    assert len(rows_of(Path("p.csv").read_text())) == 300
    _, err = ok("predict", "x", "--out", "p.parquet")
    assert "written to p.parquet" in err
    found = pd.read_parquet("p.parquet")
    assert found["label"].astype(str).tolist() == expected
    assert list(found.columns[:5]) == ["id", "label", "confidence", "gain", "stage"]


def test_a_large_run_writes_parquet(ok: Any, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Instead of CSV; the other commands read it."""
    monkeypatch.setattr("drgst.runs.result.CSV_NODES", 100)
    out, _ = ok("run", file, *QUICK, "--out", "x")
    assert "predictions.parquet" in out
    assert not Path("x/predictions.csv").exists()
    text, _ = ok("predict", "x")
    assert len(rows_of(text)) == 300
    ok("suggest", "x", "--n", "3")


def test_suggest_spreads_over_unlabelled_nodes(refused: Any, ok: Any, call: Any, town: Graph, file: Path) -> None:
    """Never a training, validation or test node; no node twice; a number too large is reduced with a message."""
    call("run", file, "--per-class", 3, *QUICK, "--recipe", "drgst-do", "--out", "x")
    out, _ = ok("suggest", "x", "--n", 12, "--out", "s.csv", "--json")
    said = json.loads(out)
    ids = [int(r["id"]) for r in said["suggestions"]]
    split = load_split("x/split.json", town)
    assert len(set(ids)) == 12
    assert set(ids) <= set(split.pool.tolist()) - set(split.test.tolist())
    assert "class-balanced random sample" in said["note"]
    asked = rows_of(Path("s.csv").read_text())
    assert [r["id"] for r in asked] == [str(i) for i in ids]
    assert all(r["label"] == "" and r["chosen_by"] == "balanced" and 0 < float(r["probability"]) <= 1 for r in asked)
    assert all("drawn at random" in r["reason"] for r in asked)
    out, err = ok("suggest", "x", "--n", 1000)
    assert f"only {split.pool.size} nodes" in out + err
    assert "margin" in refused("suggest", "x", "--by", "margn")
    assert "at least 1" in refused("suggest", "x", "--n", 0)


def test_labels_that_were_asked_for_are_added(ok: Any, call: Any, town: Graph, tmp_path: Path) -> None:
    """From no labels at all: suggest, fill in, run, suggest again, fill in, run with both; then a forecast."""
    write_tables(town.with_(splits=(), labels=np.full(300, -1)), tmp_path / "bare")
    names = town.class_names

    def fill(path: str) -> int:
        rows = rows_of(Path(path).read_text())
        for row in rows:
            row["label"] = names[town.labels[int(row["id"])]]
        lines = [",".join(rows[0]), *(",".join(f'"{cell}"' for cell in row.values()) for row in rows)]
        Path(path).write_text("\n".join(lines))
        return len(rows)

    ok("suggest", "bare", "--n", 14, "--out", "first.csv")
    first = fill("first.csv")
    plus = ("--recipe", "drgst-plus", "--set", "stages=1")
    code, _, err = call("run", "bare", *plus, "--add-labels", "first.csv", "--out", "one", "--json")
    assert (code, first) == (0, 14)
    assert "14 training labels" in err
    assert "needs 10 labels of a random sample, and the run has 7" in call("suggest", "one", "--budget")[2]
    out, err = ok("suggest", "one", "--n", 8, "--out", "second.csv", "--json")
    assert "half at random until 20 labels are a random sample" in json.loads(out)["note"]
    fill("second.csv")
    lines = Path("second.csv").read_text().splitlines()
    cells = lines[1].split(",")
    cells[1] = '"zebra"'  # a class of which no label was known before
    Path("second.csv").write_text("\n".join([lines[0], ",".join(cells), *lines[2:]]))
    words = ("run", "--config", "one/config.toml", "--add-labels", "second.csv", "--out", "two")
    _, err = ok(*words, "--json")
    assert "22 training labels" in err
    assert re.search(r"accuracy of the \d+ labels that were not asked for: .* \(95 % interval", err)
    assert "the added label 'zebra' is a new class" in err or "4 classes" in err
    kept = rows_of(Path("two/added_labels.csv").read_text())
    assert sorted(row["chosen_by"] for row in kept) == ["half-random"] * 11 + ["random"] * 11
    out, _ = ok("suggest", "two", "--n", 2, "--budget", "--json")
    forecast = json.loads(out)["forecast"]
    assert [gain["labels"] for gain in forecast["gains"]] == [20, 50, 100]
    assert all(gain["low"] <= gain["gain"] for gain in forecast["gains"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id,label\n7,\n", "nothing to add"),
        ("node,label\n7,a\n", "has no column 'id'"),
        ("id,label\n700,class 0\n", "a.csv: the label 'class 0' is of '700', which is not a node of"),
        ("id,label\n7,clas 0\n", "a.csv: the label 'clas 0' is not a class of 'bare'; did you mean 'class 0'"),
        ("id,label,probability\n7,class 0,2\n", "line 2, column 'probability': is '2'"),
        ("id;label\n7;class 0;x\n", "line 2: has 3 cells, but the header has 2"),
        ("id,label\n,class 0\n", "line 2, column 'id': the label 'class 0' has no id"),
        ("id,label\n7,class 0\n7,class 1\n", "line 3: node '7' has the label 'class 1', and 'class 0' in a.csv"),
    ],
)
def test_added_labels_that_are_refused(refused: Any, town: Graph, tmp_path: Path, text: str, words: str) -> None:
    labels = np.where(np.arange(300) < 30, town.labels, -1)
    named = town.with_(splits=(), labels=labels, class_names=tuple(f"class {c}" for c in range(town.num_classes)))
    write_tables(named, tmp_path / "bare")
    Path("a.csv").write_text(text)
    assert words in refused("run", "bare", "--recipe", "drgst-plus", "--add-labels", "a.csv")
    Path("run.toml").write_text('[run]\ndata = "bare"\nrecipe = "drgst-plus"\n')
    assert "run.toml" not in refused("run", "--config", "run.toml", "--add-labels", "a.csv")
    assert not Path("runs").exists()


@pytest.mark.parametrize("name", ["spark", "ray:0", "ray:two", "local:3", "ray:2:3"])
def test_executors_that_are_refused(refused: Any, name: str) -> None:
    words = f"unknown executor '{name}' (allowed: local, ray, ray:WORKERS or ray:WORKERS@HOST:PORT)"
    assert words in refused("run", "--executor", name)


def test_an_executor_names_workers_and_address() -> None:
    assert parse_executor("local") is None
    assert parse_executor("ray") == Cluster(2, None)
    assert parse_executor("ray:4@10.0.0.1:6379") == Cluster(4, "10.0.0.1:6379")
    assert parse_executor("ray@10.0.0.1:6379") == Cluster(2, "10.0.0.1:6379")
