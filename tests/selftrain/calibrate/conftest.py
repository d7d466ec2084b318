"""Logits to calibrate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from drgst.selftrain.problem import Problem


@pytest.fixture
def overconfident(world: Any) -> tuple[Problem, np.ndarray]:
    """Logits that are right two times in three, with far too much confidence."""
    rng = np.random.default_rng(2)
    y = world.graph.labels
    noise = rng.normal(size=(y.size, 3))
    return world.problem(), (6.0 * (np.eye(3)[y] + noise)).astype(np.float32)
