"""A campaign of bad inputs: each is refused with one sentence and exit code 2, and nothing is left behind.

The inputs are random changes of good ones: configs, splits, tables, ``.npz`` files, recipe files, stores, exports,
model folders, pickles and arguments. A *certain* input is wrong whatever the random numbers are and must be refused;
any other may still be good. The seed is in the message of a failure; ``DRGST_FAULTS_SEED`` sets it.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import pickle
import random
import shutil
import sqlite3
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from safetensors.torch import load_file, save_file

from drgst.cli import main
from drgst.datasets.synthetic import block_model
from drgst.datasets.unpickle import load_pickle
from drgst.errors import DrgstError
from drgst.graph.split import random_split
from drgst.io.npz import save_graph
from drgst.io.split_files import save_split
from drgst.lab.store import Store
from drgst.tables.graph_tables import write_tables

FEW, MANY = 20, 400  # inputs of each kind in a short and in a long campaign
LIMIT = 30.0  # seconds that an input may take
GARBAGE = ("", "\x00", "nan", "-1", "1e999", "[", "é\ud800", "9" * 30, "../../x", "\x1b[31m", "=1+1", "none", "true")
QUICK = ("--set", "epochs=2,hidden=4,samples=2,stages=1")


@dataclass
class Case:
    """Arguments of a command (or a Python call), whether it must be refused, and the file that a refusal names."""

    words: list[str]
    certain: bool = True
    named: str = ""
    call: Callable[[], Any] | None = None
    note: str = ""


@dataclass
class World:
    """A folder with one good input of every kind."""

    root: Path
    rng: random.Random = field(default_factory=random.Random)

    def copy(self, name: str) -> Path:
        """A fresh copy of a good file or folder."""
        source, target = self.root / "good" / name, self.root / "bad" / name
        shutil.rmtree(target, ignore_errors=True)
        target.unlink(missing_ok=True) if target.is_file() else None
        target.parent.mkdir(exist_ok=True)
        shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
        return target


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory, make_row: Callable[..., dict[str, Any]]) -> Path:
    """One good input of every kind."""
    root = tmp_path_factory.mktemp("campaign")
    folder = root / "good"
    folder.mkdir()
    graph = block_model(40, 120, seed=0, classes=3, features=8, words=4).with_(name="tiny")
    split = random_split(graph, per_class=3, val=8, test=12, seed=0)
    graph = graph.with_(splits=(split,))
    save_graph(graph, folder / "g.npz")
    save_split(split, graph, folder / "s.json")
    write_tables(graph, folder / "tables")
    write_tables(graph, folder / "parquet", "parquet")
    with Store(folder / "runs.db", create=True) as store:
        for draw in range(3):
            store.add(make_row(f"key{draw}", draw=draw))
            store.add(make_row(f"other{draw}", draw=draw, recipe="drgst-de", test_accuracy=0.6))
    for words in (
        ("run", folder / "g.npz", "--recipe", "drgst-do", *QUICK, "--out", folder / "run"),
        ("lab", "bench", "export", "--store", folder / "runs.db", "--csv", folder / "runs.csv"),
    ):
        assert attempt([str(w) for w in words])[0] == 0, words
    matrix = sp.csr_matrix(np.eye(4, dtype=np.float32))
    (folder / "p.pickle").write_bytes(pickle.dumps(matrix, protocol=2))
    (folder / "a.pickle").write_bytes(pickle.dumps({0: [1, 2], 1: [0]}, protocol=2))
    return root


@pytest.fixture(autouse=True)
def isolated(fresh_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty working folder and cache, and the log as it was afterwards."""
    monkeypatch.chdir(tmp_path)
    logger = logging.getLogger("drgst")
    level, handlers, show = logger.level, list(logger.handlers), warnings.showwarning
    yield
    logger.setLevel(level)
    logger.handlers[:] = handlers
    warnings.showwarning = show


def attempt(words: list[str]) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command in this process."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    code: Any = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            main(words)
        except SystemExit as end:
            code = end.code
    text = [stream.buffer.getvalue().decode("utf-8", "replace") for stream in (out, err)]  # type: ignore[attr-defined]
    return int(code or 0), *text


# ---------------------------------------------------------------- kinds of inputs


def garbled(rng: random.Random, raw: bytes) -> bytes:
    """``raw`` with some bytes changed, removed or inserted."""
    data = bytearray(raw)
    for _ in range(rng.randint(1, 8)):
        place = rng.randrange(len(data)) if data else 0
        match rng.randrange(3):
            case 0:
                data[place : place + 1] = bytes([rng.randrange(256)])
            case 1:
                del data[place : place + rng.randint(1, 20)]
            case _:
                data[place:place] = rng.randbytes(rng.randint(1, 20))
    return bytes(data)


def cut(rng: random.Random, raw: bytes) -> bytes:
    """The first part of ``raw``."""
    return raw[: rng.randrange(len(raw) - 1)]


def damaged_file(world: World, path: Path, words: list[str], certain_cut: bool = True) -> Case:
    """A file that was cut short, or whose bytes were changed."""
    raw = path.read_bytes()
    if world.rng.random() < 0.5:
        path.write_bytes(cut(world.rng, raw))
        return Case(words, certain=certain_cut, named=path.name, note="cut")
    path.write_bytes(garbled(world.rng, raw))
    return Case(words, certain=False, note="garbled")


BAD_RUN = {
    "data": ["''", "'nowhere.npz'", "3", "[]"],
    "recipe": ["''", "'gnc'", "3", "'x.toml'", "true"],
    "per_class": ["0", "-3", "'3'", "1.5", "100000", "true"],
    "split": ["''", "'none.json'", "7"],
    "seed": ["-1", "'0'", "0.5", "[1]"],
    "pool": ["''", "'some'", "1"],
    "validation": ["'x'", "1", "''"],
    "threads": ["0", "-1", "99999999999", "'2'"],
    "data_sha256": ["'abc'", "1"],
    "known_sha256": ["'abc'"],
    "wrong_key": ["1"],
}
BAD_SETTINGS = {
    "hidden": ["0", "-1", "1.5", "'x'", "10000000000", "nan", "true", "[]"],
    "epochs": ["0", "-5", "'many'", "1.5", "inf"],
    "lr": ["0", "-0.1", "nan", "inf", "'x'"],
    "threshold": ["1.5", "-0.1", "nan", "'x'"],
    "beta": ["0", "-1", "101", "nan"],
    "drop_rate": ["1", "-0.5", "nan"],
    "samples": ["0", "-1", "0.5"],
    "stages": ["-1", "1001", "0.5"],
    "keep": ["'first'", "1"],
    "device": ["'meta'", "'abacus'", "''", "7"],
    "no_such": ["1"],
}


def bad_config(world: World) -> Case:
    """A config with one wrong value, a wrong table, or no TOML at all."""
    rng, path = world.rng, world.root / "bad" / "run.toml"
    path.parent.mkdir(exist_ok=True)
    lines = {"run": {"data": f"'{world.root}/good/g.npz'", "recipe": "'drgst-do'"}, "settings": {"epochs": "2"}}
    match rng.randrange(4):
        case 0 | 1:
            key = rng.choice(list(BAD_RUN))
            lines["run"][key] = rng.choice(BAD_RUN[key])
        case 2:
            key = rng.choice(list(BAD_SETTINGS))
            lines["settings"][key] = rng.choice(BAD_SETTINGS[key])
        case _:
            lines[rng.choice(["rum", "setting", "tool"])] = {"x": "1"}
    text = "\n".join(f"[{t}]\n" + "\n".join(f"{k} = {v}" for k, v in c.items()) for t, c in lines.items())
    if rng.random() < 0.15:
        text = rng.choice(["[" * 5000, "x = " + "[" * 5000, "run = 3", "\x00", "[run", "a = 'b", "[run]\n[run]\n"])
    path.write_text(text, encoding="utf-8")
    if rng.random() < 0.1:
        path.write_bytes(b"\xff\xfe" + rng.randbytes(20))
    return Case(["run", "--config", str(path), "--out", "out"], named="run.toml", note=text[-60:])


def bad_split(world: World) -> Case:
    """A split with one wrong part."""
    rng, path = world.rng, world.copy("s.json")
    words = [
        "run",
        str(world.root / "good" / "g.npz"),
        "--recipe",
        "drgst-do",
        *QUICK,
        "--split",
        str(path),
        "--out",
        "out",
    ]
    if rng.random() < 0.25:
        return damaged_file(world, path, words)
    document = json.loads(path.read_text())
    part = rng.choice(["train", "val", "test"])
    changes: list[Callable[[], Any]] = [
        lambda: document.pop(rng.choice([*document])) if rng.random() < 0 else document.pop(part),
        lambda: document.update({part: rng.choice([None, 3, "x", {}, [None], [[1]], [1.5], [True]])}),
        lambda: document.update({part: [rng.choice([10**6, -1, "nobody", "9" * 30])]}),
        lambda: document.update(train=document["train"] + document["test"][:1]),
        lambda: document.update(train=[]),
        lambda: document.update(train=document["train"][:1]),
        lambda: document.update(nodes=rng.choice([41, 0, -1, "40", None, 1e99])),
        lambda: document.update(format=rng.choice(["x", None, 3])),
        lambda: document.update(version=rng.choice([2, "1", None])),
        lambda: document.update(pool=rng.choice(["all", 3, None, ["nobody"]])),
        lambda: document.update(name=rng.choice([3, None, []])),
    ]
    rng.choice(changes)()
    path.write_text(json.dumps(document))
    if rng.random() < 0.1:
        path.write_text(rng.choice(["[" * 100_000, "{}", "[]", "3", "", '{"format": "drgst-split"}']))
    return Case(words, named="s.json", note=path.read_text()[:120])


def bad_tables(world: World) -> Case:
    """Tables with one wrong cell, row, column or byte."""
    rng, folder = world.rng, world.copy("tables")
    words = [*rng.choice([["data", "check"], ["data", "show"], ["run"]]), str(folder)]
    words += ["--recipe", "drgst-do", *QUICK, "--out", "out"] if words[0] == "run" else []
    name = rng.choice(["nodes.csv", "edges.csv"])
    path = folder / name
    lines = path.read_text().splitlines()
    row = rng.randrange(1, len(lines))
    cells = lines[row].split(",")
    match rng.randrange(8):
        case 0:
            cells[0] = rng.choice(["", '"', "nobody" if name == "edges.csv" else "", "-1"])
        case 1:
            cells.append("1")
        case 2:
            lines[0] = rng.choice(["", "a,b", lines[0].replace(",", ";"), lines[0].replace("id", "ID", 1), "id,id"])
            lines[0] = "x" if name == "edges.csv" else lines[0]
        case 3:
            del cells[-1]
        case 4 if name == "nodes.csv":
            cells[2] = rng.choice(["training", "1", "TRAIN"])
        case 5 if name == "nodes.csv":
            cells[3] = rng.choice(["x", "3:x", "-1:2", "3:1 3:1", "1:nan", "99:1", "2147483647:1", "1.5:1"])
        case 6:
            path.unlink()
            return Case(words, named=".csv", note="missing")
        case 7 if name == "nodes.csv":
            cells[0] = lines[1 if row > 1 else 2].split(",")[0]
        case _:
            path.write_bytes(rng.choice([b"", b"\x00" * 50, b"\xff\xfe\x00x", b"PK\x03\x04", b'"' * 3]))
            return Case(words, named=".csv", note="bytes")
    lines[row] = ",".join(cells)
    path.write_text("\n".join(lines) + "\n")
    return Case(words, named=".csv", note=f"{name} {lines[0][:40]} | {lines[row][:60]}")


def bad_parquet(world: World) -> Case:
    """Parquet tables that are cut, garbled or of other types."""
    rng, folder = world.rng, world.copy("parquet")
    words = ["data", "check", str(folder)]
    if rng.random() < 0.5:
        return damaged_file(world, folder / rng.choice(["nodes.parquet", "edges.parquet"]), words)
    table = pq.read_table(folder / "nodes.parquet")
    count = table.num_rows
    columns: dict[str, Any] = {name: table[name] for name in table.column_names}
    wide = next(name for name in columns if name.startswith("features"))
    bad: list[tuple[str, Any]] = [
        (wide, pa.array([[[1.0], [2.0]]] * count)),
        (wide, pa.array([[1.0]] * (count - 1) + [[1.0, 2.0]])),
        (wide, pa.array([["a"]] * count)),
        (wide, pa.array([[float("nan")]] * count)),
        ("id", pa.nulls(count, pa.string())),
        ("id", pa.array(["same"] * count)),
        ("id", pa.array([{"a": 1}] * (count - 1) + [None])),
        ("label", pa.array(["one"] * count)),
        ("label", pa.nulls(count)),
        ("split", pa.array([3] * count)),
    ]
    name, column = rng.choice(bad)
    columns[name] = column
    if name == wide:
        columns = {("features" if key == wide else key): value for key, value in columns.items()}
    pq.write_table(pa.table(columns), folder / "nodes.parquet")
    return Case(words, named="parquet", note=f"{name} {column.type}")


def bad_npz(world: World) -> Case:
    """A graph file with one wrong array."""
    rng, path = world.rng, world.copy("g.npz")
    words = [*rng.choice([["data", "show"], ["data", "check"]]), str(path)]
    if rng.random() < 0.4:
        return damaged_file(world, path, words)
    with np.load(path) as file:
        arrays = {key: file[key] for key in file.files}
    count = arrays["labels"].size
    meta = json.loads(arrays["meta"].tobytes())
    key = rng.choice(["format", "version", "class_names", "num_features", "splits", "name"])
    bad: list[Any] = [None, -1, [[]], {"a": 1}, [3], *(["x"] if key != "name" else [])]
    meta[key] = rng.choice(bad)
    broken = np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8)
    ids = np.arange(count)
    changes: list[dict[str, Any]] = [
        {"labels": arrays["labels"][:-1]},
        {"labels": np.full(count, 2**40)},
        {"labels": np.full(count, -7)},
        {"labels": arrays["labels"] + 0.5},
        {"labels": arrays["labels"].astype("S3")},
        {"labels": np.zeros(count, dtype="M8[s]")},
        {"node_ids": ids - 1},
        {"node_ids": np.where(ids == 3, np.nan, ids)},
        {"node_ids": np.zeros(count, dtype=int)},
        {"node_ids": np.array([""] * count)},
        {"node_ids": ids * 1j},
        {"features_indices": arrays["features_indices"].astype(np.int64) + 10**6},
        {"features_indices": -arrays["features_indices"].astype(np.int64) - 1},
        {"features_indptr": arrays["features_indptr"][::-1]},
        {"features": np.full((count, 2), np.nan)},
        {"features": np.full((count, 2), 1j)},
        {"features": np.full((count, 2), 1e300)},
        {"features": np.ones((count + 1, 2))},
        {"features": np.ones(count)},
        {"edges_data": np.zeros(arrays["edges_indices"].size)},
        {"edges_data": np.full(arrays["edges_indices"].size, -1.0)},
        {"edges_data": np.full(arrays["edges_indices"].size, np.inf)},
        {"edges_indices": arrays["edges_indices"].astype(np.int64) + 1000},
        {"split_0_train": np.array([10**6])},
        {"split_0_train": np.array([-1])},
        {"meta": np.frombuffer(b"[" * 50_000, dtype=np.uint8)},
        {"meta": broken},
    ]
    change = rng.choice(changes)
    arrays |= change
    if rng.random() < 0.15:
        gone = rng.choice(["meta", "labels", "node_ids", "edges_indices", "edges_indptr", "features_indptr"])
        arrays.pop(gone, None)
        change = {gone: "missing"}
    np.savez(path, **arrays)
    return Case(words, named="g.npz", note=str(change)[:150] + str(meta.get(key))[:50] + key)


def bad_store(world: World) -> Case:
    """A store or an export with a wrong value, of another program, cut or garbled."""
    rng = world.rng
    if rng.random() < 0.4:
        path = world.copy("runs.csv")
        words = rng.choice(
            [["lab", "table", "main", "--store", str(path)], ["lab", "bench", "rescue", str(path), "--store", "n.db"]]
        )
        lines = path.read_text().splitlines()
        cells = lines[rng.randrange(1, len(lines))].split(",")
        names = lines[0].split(",")
        name, value = rng.choice(
            [
                ("test_accuracy", "1e308"),
                ("test_accuracy", "x"),
                ("test_accuracy", "nan"),
                ("draw", "9" * 30),
                ("draw", "1.5"),
                ("per_class", ""),
                ("settings", "[[["),
                ("seed", "-" * 3),
            ]
        )
        cells[names.index(name)] = value
        path.write_text("\n".join([lines[0], ",".join(cells)]) + "\n")
        if rng.random() < 0.2:
            path.write_bytes(rng.choice([b"", b"a,b\n1,2\n", b"\xff" * 30, b"\x00" * 30]))
        return Case(words, named="runs.csv", note=f"{name}={value}")
    path = world.copy("runs.db")
    words = rng.choice(
        [
            ["lab", "table", "main", "--store", str(path)],
            ["lab", "bench", "export", "--store", str(path), "--csv", "o.csv"],
        ]
    )
    if rng.random() < 0.3:
        return damaged_file(world, path, words, certain_cut=False)
    with contextlib.closing(sqlite3.connect(path)) as db:
        statement = rng.choice(
            [
                "UPDATE runs SET test_accuracy = 1e308",
                "UPDATE runs SET test_accuracy = 'x'",
                "UPDATE runs SET test_accuracy = x'00ff'",
                "UPDATE runs SET settings = '{'",
                "UPDATE runs SET settings = '3'",
                "UPDATE runs SET draw = 'one'",
                "UPDATE runs SET recipe = x'ff'",
                "UPDATE runs SET per_class = 0.5",
                "DROP TABLE runs",
                "ALTER TABLE runs RENAME COLUMN draw TO drew",
                "PRAGMA user_version = 99",
                "PRAGMA application_id = 7",
            ]
        )
        db.execute(statement)
        db.commit()
    return Case(words, named="runs.db", note=statement)


def bad_model(world: World) -> Case:
    """A model folder with a wrong fact, weight or file."""
    rng, folder = world.rng, world.copy("run")
    words = ["predict", str(folder), str(world.root / "good" / "g.npz"), "--out", "out.csv"]
    facts = json.loads((folder / "model.json").read_text())
    weights = folder / "model.safetensors"
    match rng.randrange(5):
        case 0:
            key = rng.choice(["format", "recipe", "class_names", "num_features", "settings", "seed"])
            facts[key] = rng.choice([None, "x", -1, [], {"a": 1}, 10**12, ["a"], "gat", "own.toml"])
            if key == "seed" and isinstance(facts[key], int):
                facts[key] = "x"
            (folder / "model.json").write_text(json.dumps(facts))
            note = f"{key} = {facts[key]!r}"
        case 1:
            facts.pop(note := rng.choice(["format", "recipe", "class_names", "num_features", "settings"]))
            (folder / "model.json").write_text(json.dumps(facts))
        case 2:
            tensors = load_file(weights)
            name = rng.choice([key for key in tensors if key.startswith("state.") and tensors[key].numel()])
            value = rng.choice([float("nan"), float("inf"), None, "shape"])
            if value is None:
                tensors.pop(name)
            elif value == "shape":
                tensors[name] = tensors[name].reshape(-1)[:-1].clone()
            else:
                tensors[name].view(-1)[rng.randrange(tensors[name].numel())] = value
            save_file(tensors, weights)
            note = f"{name} {value}"
        case 3:
            path = rng.choice([weights, folder / "model.json"])
            path.write_bytes(cut(rng, path.read_bytes().rstrip()))
            note = f"{path.name} cut"
        case _:
            path = rng.choice([weights, folder / "model.json"])
            path.write_bytes(garbled(rng, path.read_bytes()))
            return Case(words, certain=False, note=f"{path.name} garbled")
    return Case(words, named="run", note=note)


def bad_run_folder(world: World) -> Case:
    """A finished run with one damaged file."""
    rng, folder = world.rng, world.copy("run")
    name = rng.choice(["config.toml", "summary.json", "predictions.csv", "history.jsonl", "stages/000.safetensors"])
    raw = (folder / name).read_bytes()
    (folder / name).write_bytes(rng.choice([cut, garbled])(rng, raw))
    words = rng.choice(
        [
            ["suggest", str(folder)],
            ["report", str(folder)],
            ["predict", str(folder)],
            ["run", "--out", str(folder), "--resume"],
        ]
    )
    return Case(words, certain=False, note=name)


def bad_pickle(world: World) -> Case:
    """A pickle that is cut, garbled or calls something."""
    rng, path = world.rng, world.copy(rng_choice := world.rng.choice(["p.pickle", "a.pickle"]))
    raw = path.read_bytes()
    certain = rng.random() < 0.5
    path.write_bytes(cut(rng, raw) if certain else garbled(rng, raw))
    if rng.random() < 0.2:
        mark = world.root / "called"
        name, args = rng.choice([("os\nsystem", f"touch {mark}"), ("builtins\neval", "1"), ("posix\nmkdir", str(mark))])
        path.write_bytes(f"c{name}\n(V{args}\ntR.".encode())
        certain = True
    return Case(
        [], certain, path.name, call=lambda: load_pickle(path), note=f"{rng_choice}: {path.read_bytes()[:40]!r}"
    )


BAD_ARGUMENTS = [
    ["run", "G", "--recipe", "R"],
    ["run", "G", "--per-class", "N"],
    ["run", "G", "--seed", "N"],
    ["run", "G", "--threads", "N"],
    ["run", "G", "--set", "device=R"],
    ["run", "G", "--set", "pool=R"],
    ["run", "G", "--validation", "R"],
    ["run", "G", "--set", "R"],
    ["run", "G", "--set", "hidden=N"],
    ["run", "G", "--set", "device=meta"],
    ["run", "G", "--split", "R"],
    ["run", "G", "--config", "R"],
    ["run", "R"],
    ["run", "--out", "none", "--resume"],
    ["run", "G", "--resume", "--force"],
    ["run", "G", "--out", "LONG"],
    ["run", "G", "--out", "-"],
    ["predict", "R"],
    ["predict", "RUN", "R"],
    ["predict", "RUN", "--out", "LONG"],
    ["suggest", "R"],
    ["suggest", "RUN", "--n", "N"],
    ["report", "R"],
    ["report", "RUN", "--data", "R"],
    ["lab", "bench", "--datasets", "R"],
    ["lab", "bench", "--datasets", "G", "--recipes", "R"],
    ["lab", "bench", "--datasets", "G", "--draws", "N"],
    ["lab", "bench", "--datasets", "G", "--per-class", "N"],
    ["lab", "bench", "--datasets", "G", "--executor", "R"],
    ["lab", "bench", "--datasets", "G", "--jobs", "N"],
    ["lab", "bench", "export", "--store", "R", "--csv", "o.csv"],
    ["lab", "bench", "rescue", "R"],
    ["lab", "table", "R"],
    ["lab", "table", "main", "--format", "R"],
    ["lab", "table", "main", "--store", "R"],
    ["lab", "figure", "R"],
    ["recipes", "show", "R"],
    ["data", "show", "R"],
    ["data", "check", "R"],
    ["data", "get", "R"],
    ["data", "split", "G", "--per-class", "N"],
    ["data", "split", "G", "--val", "R"],
    ["data", "split", "G", "--fraction", "N"],
    ["data", "R"],
    ["R"],
]
NUMBERS = ["-1", "0", "-5", "x", "1.5", "", "nan", "-99999999999999999999", "0x10", "1e3"]
NAMES = [
    *(word for word in GARBAGE if word not in ("", "true", "none")),
    "gnc",
    "nobody",
    "x" * 300,
    "a,b",
    " ",
    "%s%n",
]


def bad_arguments(world: World) -> Case:
    """A command with one wrong argument."""
    rng = world.rng
    words = list(rng.choice(BAD_ARGUMENTS))
    table = {
        "G": str(world.root / "good" / "g.npz"),
        "RUN": str(world.root / "good" / "run"),
        "R": rng.choice(NAMES),
        "N": rng.choice(NUMBERS),
        "LONG": "x" * 300,
        "hidden=N": f"hidden={rng.choice(NUMBERS)}",
    }
    harmless = "--seed" in words and table["N"] == "0"
    filled = [table.get(word, word) for word in words]
    extra = ["--out", "out"] if filled[0] == "run" and "--out" not in filled else []
    return Case([*filled, *extra], certain=not harmless)


KINDS: tuple[Callable[[World], Case], ...] = (
    bad_config,
    bad_split,
    bad_tables,
    bad_parquet,
    bad_npz,
    bad_store,
    bad_model,
    bad_run_folder,
    bad_pickle,
    bad_arguments,
)


# ---------------------------------------------------------------- the campaign


def fault(case: Case) -> str:
    """What is wrong with the answer to a case, "" if nothing is."""
    began = time.process_time()  # of this process: other work on the machine does not count
    if case.call is not None:
        try:
            case.call()
        except DrgstError as error:
            code, out, err = 2, "", f"error: {error}\n"
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        else:
            code, out, err = 0, "", ""
    else:
        try:
            code, out, err = attempt(case.words)
        except Exception as error:
            import traceback

            return "".join(traceback.format_exception(error))[-1500:]
    seconds = time.process_time() - began
    if seconds > LIMIT:
        return f"it took {seconds:.0f} s"
    if "Traceback" in out + err:
        return f"a traceback is printed: {err[-500:]}"
    if code not in (0, 2):
        return f"exit code {code}: {err[-300:]}"
    if code == 0:
        return "it is accepted" if case.certain else ""
    lines = [line for line in err.splitlines() if not line.startswith(("warning: ", "note: "))]
    usage = any("Usage:" in line for line in lines)
    listed = "problem" in out  # data check lists every fault on standard output
    if not usage and not listed and (len(lines) != 1 or not lines[0].startswith("error: ")):
        return f"not one sentence: {err!r} {out[-200:]!r}"
    if case.certain and case.named and case.named not in err + out:
        return f"the file {case.named} is not named: {err}"
    left = [name for name in ("out", "out.csv", "o.csv", "n.db") if Path(name).exists()]
    return f"{left[0]} is left behind" if left else ""


def campaign(good: Path, kind: Callable[[World], Case], count: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Counts of the answers to ``count`` inputs of a kind, and what is wrong with some."""
    counts: Counter[str] = Counter()
    faults = []
    for number in range(count):
        for name in ("out", "out.csv", "o.csv", "n.db", "runs", "runs.db"):
            shutil.rmtree(name, ignore_errors=True) if Path(name).is_dir() else Path(name).unlink(missing_ok=True)
        case = kind(World(good, random.Random(f"{seed}-{kind.__name__}-{number}")))
        wrong = fault(case)
        counts["certain" if case.certain else "perhaps"] += 1
        if wrong:
            faults.append(f"seed {seed}, {kind.__name__} {number}: {case.words} ({case.note!a}): {wrong}")
    assert not (good / "called").exists(), "a pickle called something"
    return counts, faults


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_bad_inputs(good: Path, kind: Callable[[World], Case]) -> None:
    """A short campaign with the same inputs every time."""
    _, faults = campaign(good, kind, FEW, 0)
    assert not faults, "\n".join(faults[:3])


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_many_bad_inputs(good: Path, kind: Callable[[World], Case]) -> None:
    """A long campaign with other inputs every time."""
    seed = int(os.environ.get("DRGST_FAULTS_SEED") or random.SystemRandom().randrange(10**9))
    counts, faults = campaign(good, kind, MANY, seed)
    print(f"{kind.__name__}: seed {seed}, {dict(counts)}")
    assert not faults, f"{len(faults)} of {MANY}\n" + "\n".join(faults[:5])
