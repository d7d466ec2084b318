"""Executors: where runs are made."""

from drgst.lab.executors.base import Done, Executor
from drgst.lab.executors.local import Inline, Local

__all__ = ["Done", "Executor", "Inline", "Local"]
