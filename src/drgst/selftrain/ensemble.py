"""A small ensemble at the end: the students of all stages speak as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.special import log_softmax
from torch import Tensor

from drgst.selftrain.history import Stage

MARK = "student."  # begins the names of a student's tensors in the state of an ensemble, up to a slash


def mean_log_p(logits: Sequence[np.ndarray]) -> np.ndarray:
    """1/S Σ_s log softmax(z_s), (N, C) float32: the geometric mean of what they believe, up to a factor a node."""
    return np.asarray(np.mean([log_softmax(np.float64(1) * z, axis=1) for z in logits], axis=0), dtype=np.float32)


def merged_state(students: Sequence[Stage]) -> dict[str, Tensor]:
    """The tensors of all students, each under the number of its stage."""
    return {f"{MARK}{s.number}/{name}": value for s in students for name, value in s.state.items()}


def states(state: Mapping[str, Tensor]) -> list[dict[str, Tensor]]:
    """The state of each student of an ensemble, in order; the state itself where it is none."""
    if not all(name.startswith(MARK) for name in state):
        return [dict(state)]
    found: dict[str, dict[str, Tensor]] = {}
    for name, value in state.items():
        student, _, own = name.partition("/")
        found.setdefault(student, {})[own] = value
    return [found[student] for student in sorted(found, key=lambda s: int(s.removeprefix(MARK)))]
