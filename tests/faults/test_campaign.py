"""Bad input of every kind gives a result or one sentence, with exit code 2, and leaves nothing behind.

Hypothesis damages the bytes of good files and puts wrong values into them. A *wrong* value must be refused; damaged
bytes may still be good. The normal run has few examples, the same every time; the long run has many, always new ones.
"""

import contextlib
import io
import os
import shutil
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import drgst
from drgst.cli import main
from drgst.lab.store import Store
from drgst.lab.store.cells import stored_rows
from drgst.lab.store.export import readable_rows

QUICK = ("--recipe", "drgst-do", "--set", "epochs=2,hidden=4,samples=2,stages=1")
LEFT = ("out", "out.csv", "o.csv", "n.db")
CHECKS = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large]
SHORT = settings(max_examples=15, deadline=None, derandomize=True, database=None, suppress_health_check=CHECKS)
LONG = settings(SHORT, max_examples=300, derandomize=False)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory, make_row: Callable[..., dict[str, Any]]) -> Path:
    """One good input of every kind."""
    folder = tmp_path_factory.mktemp("good")
    graph = drgst.block_model(40, 120, seed=0, classes=3, features=8, words=4).with_(name="tiny")
    split = drgst.random_split(graph, per_class=3, val=8, test=12, seed=0)
    graph = graph.with_(splits=(split,))
    drgst.save_graph(graph, folder / "g.npz")
    drgst.save_split(split, graph, folder / "s.json")
    drgst.write_tables(graph, folder / "tables")
    drgst.write_tables(graph, folder / "parquet", "parquet")
    with Store(folder / "runs.db", create=True) as store:
        for draw in range(3):
            store.add(make_row(f"key{draw}", draw=draw))
            store.add(make_row(f"other{draw}", draw=draw, recipe="drgst-de", test_accuracy=0.6))
    assert attempt("run", folder / "g.npz", *QUICK, "--out", folder / "run")[0] == 0
    assert attempt("lab", "bench", "export", folder / "runs.csv", "--store", folder / "runs.db")[0] == 0
    (folder / "run.toml").write_text(
        f"[run]\ndata = '{folder}/g.npz'\nrecipe = 'drgst-do'\n[settings]\nepochs = 2\nhidden = 4\nstages = 0\n"
    )
    return folder


@pytest.fixture(autouse=True)
def _isolated(isolated: None) -> Iterator[None]:
    show = warnings.showwarning
    yield
    warnings.showwarning = show


def attempt(*words: object) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command in this process."""
    out, err, code = io.StringIO(), io.StringIO(), None
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            main([str(word) for word in words])
        except SystemExit as end:
            code = end.code  # type: ignore[assignment]
    return int(code or 0), out.getvalue(), err.getvalue()


def answers(*words: object, wrong: bool = False, named: str = "") -> None:
    """The command succeeds or ends with one sentence and code 2; with ``wrong`` it must, and names the file."""
    for name in LEFT:
        shutil.rmtree(name, ignore_errors=True) if Path(name).is_dir() else Path(name).unlink(missing_ok=True)
    code, out, err = attempt(*words)
    assert "Traceback" not in out + err
    assert code in ((2,) if wrong else (0, 2)), (words, code, err)
    if code == 2:
        lines = err.splitlines()  # on a slow machine, what the command is doing comes before the error
        one = sum(line.startswith("error: ") for line in lines) == 1 and lines[-1].startswith("error: ")
        assert one or "Usage:" in err or "found" in out, err  # data check lists faults on standard output
        assert not wrong or named in err + out
        assert not any(Path(name).exists() for name in LEFT)


def returns(call: Callable[[], Any]) -> None:
    """The call returns or raises an error of drgst in one sentence; only tables list several faults."""
    message = "a result"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            call()
        except drgst.TableError as error:
            message = str(error).replace("\n", "; ")
        except drgst.DrgstError as error:
            message = str(error)
    assert message
    assert "\n" not in message


@st.composite
def edits(draw: st.DrawFn) -> Callable[[bytes], bytes]:
    """Bytes cut off, changed, removed or inserted at some places of a file, given as fractions of its length."""
    places = st.floats(0, 1, exclude_max=True)
    if draw(st.booleans()):
        kept = draw(places)
        return lambda raw: raw[: int(kept * len(raw))]
    changes = draw(st.lists(st.tuples(places, st.integers(0, 20), st.binary(max_size=20)), min_size=1, max_size=8))

    def edit(raw: bytes) -> bytes:
        for place, removed, inserted in changes:
            at = int(place * len(raw))
            raw = raw[:at] + inserted + raw[at + removed :]
        return raw

    return edit


def copied(source: Path) -> Path:
    """A fresh copy of a good file or folder in the working folder."""
    target = Path("bad") / source.name
    shutil.rmtree("bad", ignore_errors=True)
    target.parent.mkdir()
    shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
    return target


def from_tables(folder: Path) -> Any:
    return drgst.from_tables(folder / "nodes.csv", folder / "edges.csv", label="label", id="id")


# kind -> the good input, the file of it that is damaged, and what reads it
READERS: dict[str, tuple[str, str, Callable[[Path], Any]]] = {
    "npz": ("g.npz", "", drgst.open_graph),
    "nodes of a folder": ("tables", "nodes.csv", drgst.open_graph),
    "edges of a folder": ("tables", "edges.csv", drgst.open_graph),
    "node table": ("tables", "nodes.csv", from_tables),
    "edge table": ("tables", "edges.csv", from_tables),
    "parquet": ("parquet", "nodes.parquet", drgst.open_graph),
    "split": ("s.json", "", lambda path: drgst.load_split(path, drgst.open_graph(path.parents[1] / "g.npz"))),
    "weights of a model": ("run", "model.safetensors", drgst.load_model),
    "store": ("runs.db", "", stored_rows),
    "export": ("runs.csv", "", readable_rows),
    "damaged store": ("runs.db", "", lambda path: readable_rows(path.rename(path.with_suffix(".damaged")))),
}


def check_bytes(good: Path, kind: str, edit: Callable[[bytes], bytes]) -> None:
    source, name, read = READERS[kind]
    path = copied(good / source)
    shutil.copy(good / "g.npz", "g.npz")
    file = path / name if name else path
    file.write_bytes(edit(file.read_bytes()))
    returns(lambda: read(path))


each_kind = pytest.mark.parametrize("kind", READERS)
test_damaged_bytes = each_kind(SHORT(given(edit=edits())(check_bytes)))
test_damaged_bytes_long = pytest.mark.slow(each_kind(LONG(given(edit=edits())(check_bytes))))


@pytest.mark.parametrize("name", ["config.toml", "summary.json", "predictions.csv", "history.jsonl", "run.toml"])
@settings(SHORT, max_examples=6)
@given(edit=edits(), command=st.sampled_from(["suggest", "report", "predict", "resume"]))
def test_damaged_run_folders_and_configs(good: Path, name: str, edit: Callable[[bytes], bytes], command: str) -> None:
    path = copied(good / ("run.toml" if name == "run.toml" else "run"))
    file = path if name == "run.toml" else path / name
    file.write_bytes(edit(file.read_bytes()))
    if name == "run.toml":
        answers("run", "--config", path, "--out", "out")
    else:
        answers(*(("run", "--out", path, "--resume") if command == "resume" else (command, path)))


SPECIAL = {"pipe": os.mkfifo, "device": lambda path: path.symlink_to("/dev/zero")}
OTHERS = {"summary.json": "report", "history.jsonl": "report", "split.json": "report", "config.toml": "review"}


@pytest.mark.parametrize("special", SPECIAL)
@pytest.mark.parametrize(
    "name", ["predictions.csv", "model.json", "model.safetensors", "stages/000.safetensors", *OTHERS]
)
def test_only_regular_files_of_a_run_are_read(good: Path, name: str, special: str) -> None:
    """A pipe without a writer would block for ever, and a device without end would fill the memory."""
    file = copied(good / "run") / name
    file.unlink()
    SPECIAL[special](file)
    answers(OTHERS.get(name, "predict"), "bad/run", wrong=not name.startswith("stages"), named="bad/run")


def test_a_config_is_a_regular_file() -> None:
    answers("run", "--config", "/dev/zero", "--out", "out", wrong=True, named="/dev/zero: it is not a regular file")


VALUES = {
    "run": {
        "data": ["''", "'nowhere.npz'", "3", "[]"],
        "recipe": ["''", "'gnc'", "3", "'x.toml'", "true"],
        "per_class": ["0", "-3", "'3'", "1.5", "100000", "true"],
        "split": ["''", "'none.json'", "7"],
        "seed": ["-1", "'0'", "0.5", "[1]"],
        "pool": ["''", "'some'", "1"],
        "validation": ["'x'", "1", "''"],
        "threads": ["0", "-1", "99999999999", "'2'"],
        "data_sha256": ["'abc'", "1"],
        "wrong_key": ["1"],
    },
    "settings": {
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
        "prior": ["1", "true", "[]", "'=='", "nan"],
    },
}
CONFIGS = [(table, key, value) for table, keys in VALUES.items() for key, values in keys.items() for value in values]


@settings(SHORT, max_examples=40)
@given(case=st.sampled_from(CONFIGS))
def test_wrong_configs(good: Path, case: tuple[str, str, str]) -> None:
    table, key, value = case
    lines: dict[str, dict[str, str]] = {"run": {"data": f"'{good}/g.npz'", "recipe": "'drgst-do'"}, "settings": {}}
    lines[table][key] = value
    text = "\n".join(f"[{t}]\n" + "\n".join(f"{k} = {v}" for k, v in c.items()) for t, c in lines.items())
    Path("run.toml").write_text(text, encoding="utf-8")
    answers("run", "--config", "run.toml", "--out", "out", wrong=True, named="run.toml")


NAMES = ["\x00", "nan", "[", "é\ud800", "../../x", "\x1b[31m", "=1+1", "gnc", "x" * 300, " ", "%s%n"]
NUMBERS = ["-1", "x", "1.5", "", "nan", "-99999999999999999999", "0x10"]
COMMANDS = """run G --recipe R|run G --per-class N|run G --threads N|run G --set pool=R|run G --set hidden=N|run R
run G --set device=R|run G --split R|run G --config R|run --out none --resume|run G --out -|predict R|predict RUN R
suggest R|suggest RUN --n N|report R|lab bench --datasets R|lab bench --datasets G --recipes R|lab table main --format R
lab bench --datasets G --draws N|lab bench --datasets G --executor R|lab bench export o.csv --store R|lab figure R
lab bench rescue R --store n.db|lab table R|recipes show R|data show R|data check R|data split G --per-class N|R"""


@settings(SHORT, max_examples=40)
@given(st.sampled_from(COMMANDS.replace("\n", "|").split("|")), st.sampled_from(NAMES), st.sampled_from(NUMBERS))
def test_wrong_arguments(good: Path, words: str, name: str, number: str) -> None:
    table = {"G": good / "g.npz", "RUN": good / "run", "R": name, "N": number, "hidden=N": f"hidden={number}"}
    table |= {f"{key}=R": f"{key}={name}" for key in ("pool", "device")}
    out = ["--out", "out"] if words.startswith("run") and "--out" not in words else []
    answers(*(table.get(word, word) for word in words.split()), *out, wrong=True)
