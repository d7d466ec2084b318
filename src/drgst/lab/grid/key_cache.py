"""Recognise a cell that was requested before without opening data or importing torch."""

from __future__ import annotations

import hashlib
import json
import os
from functools import cache
from pathlib import Path

import drgst
from drgst.datasets.registry import DATASETS
from drgst.lab.grid.grid import Cell, Grid
from drgst.lab.store import Store
from drgst.lab.store.schema import canonical


class KeyCache:
    """Request -> keys, kept in the store.

    A request names the cell, its settings, the state of the data's files and that of drgst's own sources, so an edit
    of either only costs the time to compute the keys again.
    """

    def __init__(self, store: Store, grid: Grid) -> None:
        self.store, self.grid = store, grid

    def keys(self, cell: Cell) -> list[str] | None:
        """The keys of the cell's draws; None where they must be computed."""
        found = self.store.read("SELECT keys FROM key_cache WHERE request = ?", [self._request(cell)])
        return json.loads(found[0][0]) if found else None

    def keep(self, cell: Cell, keys: list[str]) -> None:
        """Keep the keys of the cell's draws."""
        request = self._request(cell)
        if request:
            self.store.write("INSERT OR REPLACE INTO key_cache VALUES (?, ?)", [request, json.dumps(keys)])

    def _request(self, cell: Cell) -> str | None:
        grid = self.grid
        data = data_state(cell.source)
        if data is None or cell.recipe in grid.own or ":" in cell.recipe:
            return None
        state = [sources_state(), data, cell.per_class, cell.recipe, grid.changes_of(cell)]
        return hashlib.sha256(canonical([*state, grid.numbers, grid.pool, grid.validation]).encode()).hexdigest()


def data_state(source: str) -> list[object] | None:
    """What identifies data without opening them: checksums of a known data set, else size and time of each file.

    None for CoraFull, whose features are not available everywhere.
    """
    if source == "corafull":
        return None
    if source in DATASETS:
        return [source, os.environ.get("DRGST_DATA"), *(file.sha256 for file in DATASETS[source].files)]
    path = Path(source)
    if not path.exists():
        return None
    folder = path if path.is_dir() else path.parent  # a table has a second one beside it
    files = [path] if path.suffix == ".npz" else sorted(p for p in folder.iterdir() if p.is_file())
    return [source, *(_state(p) for p in files)]


@cache
def sources_state() -> str:
    """Size and time of every file of drgst."""
    home = Path(drgst.__file__).parent
    files = sorted(p for p in home.rglob("*") if p.suffix in (".py", ".csv", ".toml"))
    return hashlib.sha256(canonical([_state(p) for p in files]).encode()).hexdigest()


def _state(path: Path) -> list[object]:
    status = path.stat()
    return [path.name, status.st_size, status.st_mtime_ns]
