"""A small graph, and a run on it in a folder."""

from pathlib import Path

import pytest

from drgst.datasets.synthetic import block_model
from drgst.graph.core import Graph
from drgst.graph.split import random_split
from drgst.runs.config import RunConfig
from drgst.runs.folder import RunFolder
from drgst.runs.result import Result
from drgst.runs.run import Run

QUICK = {"epochs": 15, "lr": 0.05, "stages": 2, "samples": 5, "hidden": 8, "threshold": 0.5, "normalise": "none"}


@pytest.fixture(scope="session")
def town() -> Graph:
    """150 nodes of 3 classes with a split."""
    graph = block_model(150, 450, seed=1, classes=3, features=40, homophily=0.8, signal=0.3)
    return graph.with_(name="town", splits=(random_split(graph, per_class=4, val=30, test=40, seed=0),))


@pytest.fixture(scope="session")
def config() -> RunConfig:
    """Of a run whose result is calibrated and smoothed."""
    settings = {**QUICK, "calibrate": "temperature", "smooth": "correct-and-smooth"}
    return RunConfig(data="town", recipe="drgst-de", seed=3, threads=1, settings=settings)


@pytest.fixture(scope="session")
def result(town: Graph, config: RunConfig, tmp_path_factory: pytest.TempPathFactory) -> Result:
    """The result of that run, which is also in ``folder``."""
    run = Run.from_config(config, lambda _: town)
    return run.execute(folder=RunFolder(tmp_path_factory.mktemp("runs") / "town"))


@pytest.fixture(scope="session")
def folder(result: Result) -> Path:
    """The folder of that run."""
    return Path(result.folder)
