"""Fixtures that tests of every floor share."""

import logging
import os
import signal
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drgst.cli import main
from drgst.datasets.load import embedded_cora
from drgst.datasets.synthetic import block_model
from drgst.estimator import SelfTraining
from drgst.graph.core import Graph, make_graph
from drgst.graph.split import Split, random_split
from drgst.io.npz import save_graph
from drgst.lab.store import Store
from drgst.recipes import find_recipe
from drgst.selftrain.beliefs import Beliefs
from drgst.selftrain.callbacks import Callback
from drgst.selftrain.engine import self_train
from drgst.selftrain.history import History
from drgst.selftrain.problem import Problem

Call = Callable[..., tuple[int, str, str]]
SHARED = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def data_root() -> Path:
    """The folder with the real data sets: DRGST_DATA, else ../shared/data; in CI it must be there."""
    root = Path(os.environ.get("DRGST_DATA") or SHARED)
    if not (root / "Citeseer" / "raw").is_dir():
        word = f"the real data sets are not in {root}; set DRGST_DATA to the folder that holds Citeseer/raw and so on"
        if os.environ.get("CI"):
            pytest.fail(word)
        pytest.skip(word)
    return root


@pytest.fixture(scope="session")
def cora() -> Graph:
    """The embedded Cora, whatever DRGST_DATA says."""
    return embedded_cora()


@pytest.fixture
def fresh_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty user cache, and no data folder but the one a test names."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("DRGST_DATA", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")  # servers that tests start are reached directly
    return tmp_path / "cache" / "drgst"


@pytest.fixture(scope="session")
def make_row() -> Callable[..., dict[str, Any]]:
    """Rows of a store: ``make_row("key", recipe="gcn", …)``."""
    from drgst.lab.store.schema import COLUMNS

    told = {
        "dataset": "cora",
        "per_class": 3,
        "recipe": "gcn",
        "variant": "",
        "pool": "unlabelled",
        "recipe_version": 1,
    }
    told |= {"validation": "public", "draw": 0, "seed": 0, "settings": "{}", "data_sha256": "d", "split_sha256": "s"}
    told |= {"created": "2026-01-01", "test_accuracy": 0.5, "seconds": 1.5}
    return lambda key, **changes: {**dict.fromkeys(COLUMNS), **told, "key": key, **changes}


@pytest.fixture(scope="session")
def hostile() -> SelfTraining:
    """A fitted run of 240 nodes and 3 classes whose names of everything try to be markup."""
    graph = block_model(240, 700, seed=2, classes=3, features=50, homophily=0.75, signal=0.25)
    ids = [f"n{i}" for i in range(240)]
    ids[:4] = [
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(2)>',
        "</script><script>alert(3)",
        'a,b"c\u2028',
    ]
    ids[-2:] = ["=HYPERLINK(0)", "'@SUM(1)"]
    classes = ("<script>alert(4)</script>", "<b onclick=alert(5)>bold</b>", "{{title}}&amp;'")
    split = random_split(graph, per_class=4, val=60, test=80, seed=0)
    graph = graph.with_(class_names=classes, node_ids=np.array(ids), name="<img src=x onerror=alert(6)>")
    quick = {"epochs": 30, "lr": 0.05, "stages": 2, "samples": 10, "hidden": 16, "threshold": 0.6, "normalise": "none"}
    return SelfTraining("drgst-do", settings=quick, seed=0).fit(graph, split)


@pytest.fixture
def hear_ctrl_c() -> Iterator[None]:
    """Let processes started in the test hear SIGINT, also where the tests themselves run in the background.

    A shell starts background jobs with SIGINT ignored, and a child inherits that.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


QUICK = {"epochs": 30, "hidden": 8, "samples": 5, "threshold": 0.45, "stages": 2, "lr": 0.03, "agreement": 1.0}


@dataclass(frozen=True)
class World:
    """A graph and its split."""

    graph: Graph
    split: Split

    def problem(self, name: str = "drgst-de", seed: int = 0, **changes: Any) -> Problem:
        """What a run of a recipe may know, with quick settings."""
        spec = find_recipe(name)
        settings = spec.settings({**spec.readable(QUICK), **changes})
        return Problem.of(self.graph, self.split, settings, seed)

    def run(
        self,
        name: str = "drgst-de",
        seed: int = 0,
        callback: Callback | None = None,
        history: History | None = None,
        **changes: Any,
    ) -> History:
        """A run of a recipe with quick settings."""
        problem = self.problem(name, seed, **changes)
        return self_train(problem, find_recipe(name).make(problem.settings), callback, history)


def make_world(nodes: int = 60, classes: int = 3, per_class: int = 3, val: int = 15, test: int = 15) -> World:
    """A block model with noisy class features; nodes in turn of class 0, 1, 2, …; training nodes first."""
    rng = np.random.default_rng(0)
    y = np.arange(nodes) % classes
    chance = np.where(y[:, None] == y[None, :], 12 / nodes, 1.2 / nodes)
    a = np.triu(rng.random((nodes, nodes)) < chance, 1).astype(np.float64)
    x = np.hstack([np.eye(classes)[y] + rng.normal(scale=0.6, size=(nodes, classes)), rng.normal(size=(nodes, 4))])
    train = np.arange(classes * per_class)
    rest = np.arange(train.size, nodes)
    split = Split.of(train, rest[:val], rest[val : val + test], nodes)
    return World(make_graph(x, a + a.T, y), split)


@pytest.fixture(scope="session")
def world() -> World:
    """60 nodes, 3 classes, 9 labels, 15 validation and 15 test nodes, a pool of 21."""
    return make_world()


@pytest.fixture(scope="session")
def worlds() -> Callable[..., World]:
    """:func:`make_world`."""
    return make_world


@pytest.fixture(scope="session")
def history(world: World) -> History:
    """A finished run of drgst-de in the small world; do not change it."""
    return world.run()


@pytest.fixture
def beliefs(world: World) -> Beliefs:
    """Beliefs of a made-up teacher: random logits and gains."""
    rng = np.random.default_rng(5)
    problem = world.problem()
    return Beliefs(
        logits=rng.normal(scale=1.5, size=(60, 3)),
        graph=problem.graph,
        split=problem.split,
        stage=0,
        embedding=rng.normal(size=(60, 8)),
        gain=rng.gamma(1.0, size=60).astype(np.float32),
    )


def assert_same(a: History, b: History) -> None:
    """Two runs agree in every bit but the clock's."""
    assert len(a) == len(b)
    assert a.stop_reason == b.stop_reason
    for one, two in zip(a.stages, b.stages, strict=True):
        for name in ("weights", "gain", "confidence", "logits", "all_gain", "embedding"):
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)
        np.testing.assert_array_equal(one.pseudo_labels.nodes, two.pseudo_labels.nodes)
        np.testing.assert_array_equal(one.pseudo_labels.labels, two.pseudo_labels.labels)
        assert (one.transition is None) == (two.transition is None)
        if one.transition is not None:
            np.testing.assert_array_equal(one.transition, two.transition)
        _same_state(one.state, two.state)
        assert (one.number, one.accepted, one.note) == (two.number, two.accepted, two.note)
        for first, second in zip(one.trainings, two.trainings, strict=True):
            np.testing.assert_equal(asdict(first), asdict(second))


def _same_state(one: Mapping[str, Any], two: Mapping[str, Any]) -> None:
    assert one.keys() == two.keys()
    for name, value in one.items():
        np.testing.assert_array_equal(value, two[name], err_msg=name)


@pytest.fixture(scope="session")
def same() -> Callable[[History, History], None]:
    """:func:`assert_same`."""
    return assert_same


@pytest.fixture
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
    """``call("lab", "bench", "--draws", 1)`` -> exit code, standard output and standard error."""

    def run(*args: object) -> tuple[int, str, str]:
        code = 0
        try:
            main([str(arg) for arg in args])
        except SystemExit as end:
            code = int(end.code or 0)
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def ok(call: Call) -> Callable[..., tuple[str, str]]:
    """A command that ends with exit code 0 -> standard output and standard error."""

    def run(*args: object) -> tuple[str, str]:
        code, out, err = call(*args)
        assert code == 0, (args, out, err)
        return out, err

    return run


@pytest.fixture
def refused(call: Call) -> Callable[..., str]:
    """A command that ends with exit code 2 -> the one line that it prints."""

    def run(*args: object) -> str:
        code, out, err = call(*args)
        assert (code, out, err.startswith("error: "), err.count("\n")) == (2, "", True, 1), (args, out, err)
        return err

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
