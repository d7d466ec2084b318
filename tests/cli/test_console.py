"""Standard output and standard error: names that would control a terminal, and streams that fail."""

import os
import pty
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drgst.cli import console, main
from drgst.cli.console import write_data
from drgst.datasets.synthetic import block_model
from drgst.files import printable
from drgst.graph.split import random_split
from drgst.io.npz import save_graph

RED = "\x1b[31m"
QUICK = ("--recipe", "gcn", "--set", "epochs=3,hidden=4")


def drgst(*args: object, **settings: object) -> subprocess.CompletedProcess[bytes]:
    """A command in a process of its own."""
    command = [sys.executable, "-m", "drgst", *map(str, args)]
    return subprocess.run(command, stderr=subprocess.PIPE, timeout=120, check=False, **settings)  # type: ignore[call-overload]


@pytest.fixture
def painted(tmp_path: Path) -> Path:
    """A graph whose names are terminal escapes."""
    graph = block_model(60, 200, seed=0, classes=3, features=10, words=4)
    names = (f"{RED}red", "\x9b2J", "a\rb\u202ec")
    ids = [f"n{i}" for i in range(59)] + [f"{RED}node"]
    split = random_split(graph, per_class=4, val=10, test=20, seed=0)
    graph = graph.with_(class_names=names, node_ids=np.array(ids), name=f"{RED}graph", splits=(split,))
    save_graph(graph, tmp_path / "painted.npz")
    return tmp_path / "painted.npz"


def test_printable_keeps_lines_and_letters() -> None:
    assert printable("é\n\tz") == "é\n\tz"
    assert printable(f"{RED}\x07\x7f\x9b\u202e\ud800\r") == "\ufffd[31m" + 6 * "\ufffd"


def test_no_command_prints_an_escape_of_a_name(call: Any, painted: Path) -> None:
    for words in (
        ("data", "show", painted),
        ("data", "check", painted),
        ("run", painted, *QUICK, "--out", "x"),
        ("run", "--out", "x", "--resume"),
        ("suggest", "x"),
        ("report", "x", "--out", "page.html"),
        ("predict", "x", "--out", "p.csv"),
        ("data", "show", f"{RED}none"),
    ):
        _, out, err = call(*words)
        assert not [c for c in ("\x1b", "\x9b", "\r", "\u202e") if c in out + err], words


def test_data_is_unchanged_in_a_file_and_printable_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_data(f"{RED}x\n")
    assert capsys.readouterr().out == f"{RED}x\n"
    master, slave = pty.openpty()
    with os.fdopen(slave, "w", encoding="utf-8") as terminal:
        monkeypatch.setattr(sys, "stdout", terminal)
        write_data(f"{RED}x\n")
        terminal.flush()
        assert os.read(master, 100).decode() == "\ufffd[31mx\r\n"
        monkeypatch.undo()
    os.close(master)


@pytest.mark.parametrize(
    "words", [("predict", "x"), ("suggest", "x"), ("report", "x"), ("data", "split", "g.npz", "--per-class", "3")]
)
def test_a_dash_is_standard_output(capfd: pytest.CaptureFixture[str], words: tuple[str, ...]) -> None:
    """The content alone; everything else goes to standard error."""
    save_graph(block_model(60, 200, seed=0, classes=3, features=10, words=4), "g.npz")
    for command in (("run", "g.npz", *QUICK, "--per-class", "3", "--out", "x"), (*words, "--out", "file")):
        with pytest.raises(SystemExit):
            main(list(command))
    capfd.readouterr()
    with pytest.raises(SystemExit) as end:
        main([*words, "--out", "-"])
    assert end.value.code == 0
    assert capfd.readouterr().out == Path("file").read_bytes().decode()
    assert not Path("-").exists()


def test_a_dash_is_no_folder(refused: Any) -> None:
    assert "names a folder" in refused("run", "--out", "-")


def test_full_standard_output_is_one_sentence(painted: Path) -> None:
    with open("/dev/full", "w") as full:
        done = drgst("data", "show", painted, stdout=full)
    assert done.returncode == 2
    assert done.stderr.decode().strip() == "error: standard output: No space left on device"


def test_closed_streams_are_no_error(painted: Path, tmp_path: Path) -> None:
    words = f"{sys.executable} -m drgst data show {painted} >&- 2>&-"
    assert subprocess.run(["bash", "-c", words], check=False, timeout=120).returncode == 0


def test_output_in_ascii_only(tmp_path: Path) -> None:
    graph = block_model(60, 200, seed=0, classes=3, features=10, words=4)
    save_graph(graph.with_(class_names=("é", "日本", "c"), name="ü"), tmp_path / "g.npz")
    env = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    done = drgst("data", "show", tmp_path / "g.npz", stdout=subprocess.PIPE, env=env)
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()


@pytest.mark.usefixtures("hear_ctrl_c")
@pytest.mark.parametrize("module", ["drgst.cli", "typer", "rich"])
def test_ctrl_c_while_modules_are_imported_is_exit_code_130(module: str) -> None:
    code = (
        "import os, signal, sys\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, *rest):\n"
        f"        if name == {module!r}: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupt())\n"
        "sys.argv[1:] = ['data', 'list']\n"
        "from drgst.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (130, b"")


def test_a_command_seldom_looks_for_cycles_while_modules_are_imported() -> None:
    code = (
        "import atexit, gc, sys\n"
        "atexit.register(lambda: print(sum(found['collections'] for found in gc.get_stats()) - before))\n"
        "sys.argv[1:] = ['data', 'show', 'cora']\n"
        "before = sum(found['collections'] for found in gc.get_stats())\n"
        "from drgst.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert int(done.stdout.splitlines()[-1]) < 20


def test_a_long_step_is_named_after_two_seconds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(console, "QUIET", 0.05)
    with console.working("clustering"):
        time.sleep(0.3)
    assert capsys.readouterr().err == "clustering\n"
    with console.working("quick"):
        pass
    time.sleep(0.1)
    assert capsys.readouterr().err == ""
