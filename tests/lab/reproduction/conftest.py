"""The quick scale on a small graph."""

from dataclasses import replace
from pathlib import Path

import pytest

from drgst.lab.figures.registry import ToySizes
from drgst.lab.reproduction import QUICK, Scale


@pytest.fixture
def small(tiny: Path) -> Scale:
    """A graph of 150 nodes, trainings of 4 epochs and a small toy."""
    changes = {"epochs": 4, "fixed_epochs": 40, "samples": 3, "stages": 1, "threshold": 0.2}
    toy = ToySizes(60, 200, 100, 200, rounds=1, top=30)
    return replace(QUICK, datasets=(str(tiny),), per_class=(3, 5), draws=2, changes=changes, toy=toy)
