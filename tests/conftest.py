"""Fixtures that tests of every floor share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import drgst
from drgst.graph.core import Graph

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
    """The embedded Cora."""
    return drgst.load("cora")
