"""Many runs: a grid of them, the store that keeps them, executors, tuning and statistics.

The package can be called: ``drgst.bench(...)`` is the bench in Python, :func:`drgst.experiments.bench`.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    """This package, with the function :func:`drgst.experiments.bench` as its call."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return importlib.import_module("drgst.experiments").bench(*arguments, **options)


sys.modules[__name__].__class__ = _Callable
