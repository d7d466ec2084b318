"""CaGCN: a generator of its own for every stage."""

from __future__ import annotations

import numpy as np

from drgst.selftrain.calibrate.cagcn import CaGCN
from drgst.selftrain.problem import Problem


def test_it_depends_on_seed_and_stage_alone(overconfident: tuple[Problem, np.ndarray]) -> None:
    problem, logits = overconfident
    one, two = (CaGCN().fit(logits, problem, 1) for _ in range(2))
    other = CaGCN().fit(logits, problem, 2)
    assert all((one[name] == two[name]).all() for name in one)
    assert any((one[name] != other[name]).any() for name in one)
