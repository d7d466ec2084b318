"""Executors: where runs are made."""

from drgst.bench.executors.base import Done, Executor
from drgst.bench.executors.local import Inline, Local

__all__ = ["Done", "Executor", "Inline", "Local"]
