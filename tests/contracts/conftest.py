"""Every test with the argument ``part`` is run for all parts of its module's slot, and for parts of a user's own."""

import pytest

from drgst.selftrain.parts import SLOTS


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """``OURS`` of a module must have every class of its ``SLOT``; ``OWN`` are parts as a user writes them."""
    if "part" in metafunc.fixturenames:
        module = metafunc.module
        assert {type(part) for part in module.OURS} == set(SLOTS[module.SLOT])
        parts = [*module.OURS, *module.OWN]
        metafunc.parametrize("part", parts, ids=lambda part: getattr(part, "__name__", type(part).__name__))
