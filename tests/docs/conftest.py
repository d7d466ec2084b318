"""The extensions of the site can be imported."""

import sys
from pathlib import Path

import pytest

from drgst.recipes import registry

sys.path.append(str(Path(__file__).parents[2] / "docs" / "_ext"))


@pytest.fixture(autouse=True)
def recipes_of_examples_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_TABLE", dict(registry._TABLE))
