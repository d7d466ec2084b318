"""The public data sets, where their files come from, and synthetic graphs and tables."""

from __future__ import annotations

import importlib
from typing import Any

_PUBLIC = {  # name -> module, imported at first use: the bench reads the registry without numpy
    "FraudTables": "fraud",
    "fraud_tables": "fraud",
    "block_model": "synthetic",
    "gaussian_circles": "synthetic",
}
__all__ = list(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_PUBLIC[name]}"), name)
