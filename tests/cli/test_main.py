"""The shell door: quick help, exit codes, and nothing but one line for bad input."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import drgst
from drgst.cli import COMMANDS

DRGST = Path(sys.executable).parent / "drgst"
HEAVY = ("torch", "sklearn", "pandas", "matplotlib", "plotly", "optuna", "ray", "scipy", "numpy", "pydantic")


def drgst_command(*args: str, **settings: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(DRGST), *args], capture_output=True, text=True, timeout=120, **settings)  # type: ignore[call-overload]


def test_help_lists_every_command() -> None:
    done = drgst_command("--help")
    assert done.returncode == 0
    assert all(name in done.stdout for name in COMMANDS)


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys, drgst.cli\n"
        "try:\n    drgst.cli.main(['--help'])\nexcept SystemExit:\n    pass\n"
        f"print([m for m in {HEAVY} if m in sys.modules])"
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
    "args", [["dta"], ["data", "sho", "cora"], ["data", "show"], ["data", "show", "cora", "--jsn"], ["data", "get"]]
)
def test_a_usage_error_is_exit_code_2_without_a_traceback(args: list[str]) -> None:
    done = drgst_command(*args)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert done.stderr


def test_a_typing_error_in_a_command_names_the_nearest() -> None:
    assert "Did you mean 'data'?" in drgst_command("dta").stderr
    assert "Did you mean 'show'?" in drgst_command("data", "sho", "cora").stderr


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
    assert process.stdout is not None
    assert process.stdout.readline() == b"started\n"
    process.send_signal(signal.SIGINT)
    _, words = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in words


def test_verbose_names_where_data_comes_from(tmp_path: Path) -> None:
    env = {k: v for k, v in os.environ.items() if k != "DRGST_DATA"} | {"XDG_CACHE_HOME": str(tmp_path)}
    assert "part of drgst" in drgst_command("--verbose", "data", "show", "cora", env=env).stderr
    assert drgst_command("data", "show", "cora", env=env).stderr == ""
