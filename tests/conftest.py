"""Fixtures that tests of every floor share."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from drgst.graph.core import Graph
from drgst.graph.datasets import embedded_cora

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
