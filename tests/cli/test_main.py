"""The shell door: quick help, exit codes, and nothing but one line for bad input."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import drgst
from drgst.cli import COMMANDS, LazyCommand, app, main

DRGST = Path(sys.executable).parent / "drgst"
CALL = "import sys; sys.argv = ['drgst', '--import', 'native', 'recipes']; from drgst.__main__ import main; main()"
HEAVY = ("torch", "sklearn", "pandas", "pyarrow", "matplotlib", "plotly", "ray", "joblib", "requests")


def drgst_command(*args: str, **settings: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(DRGST), *args], capture_output=True, text=True, timeout=120, **settings)  # type: ignore[call-overload]


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command with its path, the groups included."""
    command = command.load() if isinstance(command, LazyCommand) else command
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, (*path, name))


ALL = dict(commands(typer.main.get_command(app)))


def test_help_lists_every_command() -> None:
    done = drgst_command("--help")
    assert done.returncode == 0
    assert all(name in done.stdout for name in COMMANDS)


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_every_help_fits_a_screen(
    path: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as end:
        main([*path, "--help"])
    assert end.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"Usage: {' '.join(('drgst', *path))}")
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80


def test_there_are_few_options() -> None:
    assert sum(parameter.param_type_name == "option" for command in ALL.values() for parameter in command.params) <= 130


@pytest.mark.parametrize(
    ("command", "more"),
    [
        ("--help", ("scipy", "numpy", "pydantic")),
        (
            "run cora --recipe drgst-plus --set stages=1 --out run",
            ("drgst.nn.training", "drgst.tables.schema", "faiss"),
        ),
    ],
)
def test_a_command_imports_nothing_heavy_that_it_does_not_need(
    command: str, more: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code = (
        "import sys, drgst.cli\n"
        f"try:\n    drgst.cli.main({command.split()})\nexcept SystemExit as end:\n    assert not end.code\n"
        f"print([m for m in {HEAVY + more} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_version() -> None:
    assert drgst_command("--version").stdout == f"drgst {drgst.__version__}\n"


def test_an_error_is_one_line_and_exit_code_2() -> None:
    done = drgst_command("data", "show", "citeser")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: unknown data set or path 'citeser'; did you mean 'citeseer'?")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("dta", "No such command 'dta'. Did you mean 'data'? (see drgst --help)"),
        ("data sho cora", "No such command 'sho'. Did you mean 'show'? (see drgst data --help)"),
        ("data show", "Missing argument 'GRAPH' (see drgst data show --help)"),
        ("data show cora --jsn", "No such option: --jsn (Possible options: --json) (see drgst data show --help)"),
        ("data get", "Missing argument 'NAME...' (see drgst data get --help)"),
        ("run --seed x", "Invalid value for '--seed'"),
        ("run --out -", "Invalid value for '--out': --out names a folder here, so it can't be - (standard output)"),
        ("lab bnch", "No such command 'bnch'. Did you mean 'bench'? (see drgst lab --help)"),
    ],
)
def test_a_usage_error_is_one_line_and_exit_code_2(args: str, message: str, call: Any) -> None:
    code, out, err = call(*args.split())
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {message}")
    assert err.count("\n") == 1


def test_a_long_text_from_outside_is_not_repeated_in_full(call: Any) -> None:
    code, _, err = call("run", "--executor", "x" * 100_000)
    assert code == 2
    assert len(err) < 2100
    assert err.startswith("error: unknown executor 'xxx")
    assert err.endswith("ray:WORKERS@HOST:PORT)\n")


def test_a_deleted_working_folder_is_not_a_traceback(tmp_path: Path) -> None:
    words = f"mkdir {tmp_path}/gone && cd {tmp_path}/gone && rmdir {tmp_path}/gone && {DRGST}"
    help_ = subprocess.run(f"{words} --help", shell=True, capture_output=True, text=True, check=False)
    assert (help_.returncode, help_.stderr) == (0, "")
    run = subprocess.run(f"{words} run --out x", shell=True, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (2, "error: the working folder was deleted: change to another folder\n")


def test_a_reader_that_leaves_is_no_error() -> None:
    read, write = os.pipe()
    process = subprocess.Popen([str(DRGST), "data", "show", "cora"], stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    os.close(read)
    _, words = process.communicate(timeout=60)
    assert words == b""


@pytest.mark.usefixtures("hear_ctrl_c")
def test_a_new_command_is_one_line_and_ctrl_c_is_exit_code_130(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(
        "import time, typer\n"
        "app = typer.Typer(add_completion=False)\n"
        "@app.command()\n"
        "def slow() -> None:\n"
        "    print('started', flush=True)\n"
        "    time.sleep(60)\n"
    )
    code = "import drgst.cli; drgst.cli.COMMANDS['slow'] = ('slow', 'Sleep.'); drgst.cli.main(['slow'])"
    env = os.environ | {"PYTHONPATH": str(tmp_path)}
    process = subprocess.Popen([sys.executable, "-c", code], env=env, stdout=-1, stderr=-1)
    assert process.stdout.readline() == b"started\n"
    process.send_signal(signal.SIGINT)
    _, words = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in words


def test_ctrl_c_during_an_import_ends_at_once(tmp_path: Path) -> None:
    """An exception would abort in the middle of torch's own code."""
    lines = "import os, signal\ntry:\n    os.kill(os.getpid(), signal.SIGINT)\n    sum(range(1000))\n"
    (tmp_path / "native.py").write_text(f"{lines}except KeyboardInterrupt:\n    os.abort()\n")
    program = f"import signal; signal.signal(signal.SIGINT, signal.default_int_handler); {CALL}"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (130, "")


def test_verbose_names_where_data_comes_from(tmp_path: Path) -> None:
    env = {k: v for k, v in os.environ.items() if k != "DRGST_DATA"} | {"XDG_CACHE_HOME": str(tmp_path)}
    assert "part of drgst" in drgst_command("--verbose", "data", "show", "cora", env=env).stderr
    assert drgst_command("data", "show", "cora", env=env).stderr == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("run", "cora", "--set", "threshold", "0.5"), "--set takes key=value: write --set threshold=0.5"),
        (("run", "cora", "--set", "threshold=50%"), "setting threshold is 50%: write the share as a number, 0.5"),
        (("run", "cora", "--device", "gpu"), "--device is a setting, not an option: write --set device=VALUE"),
        (
            ("classify", "a.csv", "--unknown-endpoints", "drop"),
            "--unknown-endpoints is a setting, not an option: write --set unknown_endpoints=VALUE",
        ),
        (("run", "cora", "--set", "device=gpu"), "device gpu can't be used here: it is unknown; cpu, cuda, mps"),
        (("run", "cora/"), "there is no folder cora/; the data set is written without a slash: cora"),
        (
            ("classify", "club.graphml", "--label", "x"),
            "is a graph file, not a table: use drgst run club.graphml --labels x",
        ),
        (("classify", "rows.csv", "--edges", "transaction.csv", "--label", "x"), "did you mean 'transactions.csv'?"),
    ],
)
def test_frequent_slips_have_their_own_sentence(
    words: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("rows.csv", "transactions.csv"):
        Path(name).write_text("id,x\n1,a\n2,b\n")
    with pytest.raises(SystemExit, match="2"):
        main(list(words))
    said = capsys.readouterr()
    assert message in said.out + said.err
