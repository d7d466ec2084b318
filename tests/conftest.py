"""Fixtures that tests of every floor share."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drgst.estimator import SelfTraining
from drgst.graph.core import Graph
from drgst.graph.datasets import embedded_cora
from drgst.graph.splits import random_split
from drgst.graph.synthetic import block_model

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
    from drgst.evaluate.schema import COLUMNS

    told = {"dataset": "cora", "per_class": 3, "recipe": "gcn", "variant": "", "pool": "unlabelled", "algorithm": 1}
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
