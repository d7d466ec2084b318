"""Commands called in this process, in an empty working folder."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from drgst.bench.store import Store
from drgst.cli import main
from drgst.graph.datasets.synthetic import block_model
from drgst.graph.io.npz import save_graph

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def isolated(fresh_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No data folder, a working folder of its own, and the log as it was afterwards."""
    monkeypatch.chdir(tmp_path)
    logger = logging.getLogger("drgst")
    level, handlers = logger.level, list(logger.handlers)
    yield
    logger.setLevel(level)
    logger.handlers[:] = handlers


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    """``call("bench", "--draws", 1)`` -> exit code, standard output and standard error."""

    def run(*args: object) -> tuple[int, str, str]:
        code = 0
        try:
            main([str(arg) for arg in args])
        except SystemExit as end:
            code = int(end.code or 0)
        return code, *capsys.readouterr()

    return run


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A block model of 150 nodes in 3 classes, as a file."""
    path = tmp_path_factory.mktemp("graphs") / "tiny.npz"
    save_graph(block_model(150, 500, seed=0, classes=3, features=40, words=6).with_(name="tiny"), path)
    return path


@pytest.fixture
def filled(tmp_path: Path, make_row: Callable[..., dict[str, Any]]) -> Path:
    """A store with two draws of gcn on Cora with 3 and with 5 labels per class."""
    path = tmp_path / "runs.db"
    with Store(path, create=True) as opened:
        for k in (3, 5):
            for draw in range(2):
                opened.add(make_row(f"{k}{draw}", per_class=k, draw=draw))
    return path
