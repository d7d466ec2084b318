"""A store with the runs of every figure, and a small toy."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from drgst.lab.figures.registry import ToySizes
from drgst.lab.figures.toy import Toy, run_toy
from drgst.lab.paper import DRGST, ablations
from drgst.lab.store import Store


@pytest.fixture
def store(tmp_path: Path, make_row: Callable[..., dict[str, Any]]) -> Path:
    """Three draws of curves, ablations and sweeps on Cora, and one run on Flickr."""
    path = tmp_path / "runs.db"
    rows: list[dict[str, Any]] = []
    for draw in range(3):
        for k in (3, 5):
            for place, recipe in enumerate(("gcn", *(r for whole in DRGST for r in ablations(whole)))):
                rows.append(
                    {"per_class": k, "recipe": recipe, "test_accuracy": 0.6 + k / 50 + place / 100, "draw": draw}
                )
        for setting in ("threshold", "beta"):
            for value in (0.4, 0.5):
                changed = {"variant": f"{setting}={value}", "settings": json.dumps({setting: value})}
                rows.append({**changed, "recipe": "drgst-de", "test_accuracy": 0.8 - value / 10, "draw": draw})
    rows.append({"dataset": "flickr", "test_accuracy": 0.4})
    with Store(path, create=True) as opened:
        for number, row in enumerate(rows):
            opened.add(make_row(str(number), **row))
    return path


@pytest.fixture(scope="session")
def toy() -> Toy:
    """Two rounds with 50 pseudo-labels per class each."""
    return run_toy(0, ToySizes(100, 400, 300, 400, rounds=2, top=50), {"fixed_epochs": 60, "samples": 20})
