"""The store of runs: one SQLite file, and its exports."""

from drgst.bench.store.store import Store

__all__ = ["Store"]
