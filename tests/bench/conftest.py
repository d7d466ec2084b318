"""A tiny graph and quick settings for benches."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from drgst.bench.grid import Grid
from drgst.bench.store import Store
from drgst.graph.datasets.synthetic import block_model
from drgst.graph.io.npz import save_graph

QUICK = {"epochs": 5, "samples": 3, "threshold": 0.2}


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A block model of 150 nodes in 3 classes, as a file."""
    path = tmp_path_factory.mktemp("graphs") / "tiny.npz"
    save_graph(block_model(150, 500, seed=0, classes=3, features=40, words=6).with_(name="tiny"), path)
    return path


@pytest.fixture
def store(tmp_path: Path) -> Any:
    """An empty store."""
    with Store(tmp_path / "runs.db", create=True) as opened:
        yield opened


@pytest.fixture(scope="session")
def make_grid(tiny: Path) -> Callable[..., Grid]:
    """Grids of two recipes, one label count and two draws, with changes."""
    usual = {"datasets": [str(tiny)], "per_class": [3], "recipes": ["gcn", "drgst-de"], "draws": 2, "changes": QUICK}
    return lambda **changes: Grid(**{**usual, **changes})
