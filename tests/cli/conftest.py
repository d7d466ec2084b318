"""Commands called in this process, in an empty working folder."""

import pytest


@pytest.fixture(autouse=True)
def _isolated(isolated: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test of a command has a working folder of its own, and one thread."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
