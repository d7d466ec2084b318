"""Stop: when to end, and why."""

from __future__ import annotations

from typing import Protocol

from drgst.selftrain.beliefs import PseudoLabels
from drgst.selftrain.history import History


class Stop(Protocol):
    """(History so far, pseudo-labels of the next stage) -> reason, or None to go on; called before each stage."""

    def __call__(self, history: History, pseudo: PseudoLabels, /) -> str | None: ...
