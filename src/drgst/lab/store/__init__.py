"""The store of runs: one SQLite file, and its exports."""

from drgst.lab.store.store import Store

__all__ = ["Store"]
