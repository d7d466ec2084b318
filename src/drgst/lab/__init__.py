"""The laboratory: it reproduces the paper and measures methods. The library does not import it."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for type checkers: the same names as in _PUBLIC
    from drgst.lab.label_curves import LabelCurves as LabelCurves
    from drgst.lab.label_curves import label_curve as label_curve
    from drgst.lab.results import Results as Results
    from drgst.lab.results import bench as bench

_PUBLIC = {  # name -> module that defines it
    "bench": "drgst.lab.results",
    "Results": "drgst.lab.results",
    "label_curve": "drgst.lab.label_curves",
    "LabelCurves": "drgst.lab.label_curves",
}

__all__ = sorted(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'drgst.lab' has no attribute {name!r}")
    return getattr(importlib.import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(_PUBLIC))
