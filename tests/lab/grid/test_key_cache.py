"""The cache of keys: found again while nothing changes, computed again after a change."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from drgst.lab.grid.grid import Cell, Grid
from drgst.lab.grid.key_cache import KeyCache
from drgst.lab.store import Store

MakeGrid = Callable[..., Grid]


def cells(grid: Grid) -> list[Cell]:
    return list(grid.cells())


def test_keys_come_back_for_the_same_request_only(make_grid: MakeGrid, store: Store) -> None:
    first, second = cells(make_grid())
    KeyCache(store, make_grid()).keep(first, ["a", "b"])
    assert KeyCache(store, make_grid()).keys(first) == ["a", "b"]
    assert KeyCache(store, make_grid()).keys(second) is None
    for changes in ({"draws": 3}, {"pool": "all-but-validation"}, {"validation": "none"}, {"changes": {"lr": 0.1}}):
        assert KeyCache(store, make_grid(**changes)).keys(first) is None, changes


def test_a_file_that_was_touched_needs_new_keys(make_grid: MakeGrid, store: Store, tiny: Path, tmp_path: Path) -> None:
    copy = tmp_path / "tiny.npz"
    copy.write_bytes(tiny.read_bytes())
    grid = make_grid(datasets=[str(copy)])
    KeyCache(store, grid).keep(cells(grid)[0], ["a"])
    assert KeyCache(store, grid).keys(cells(grid)[0]) == ["a"]
    os.utime(copy, ns=(1, 1))
    assert KeyCache(store, grid).keys(cells(grid)[0]) is None


@pytest.mark.parametrize("changes", [{"datasets": ["corafull"]}, {"recipes": ["own:make"]}])
def test_what_can_change_unnoticed_is_never_cached(
    make_grid: MakeGrid, store: Store, changes: dict[str, list[str]]
) -> None:
    grid = make_grid(**changes)
    KeyCache(store, grid).keep(cells(grid)[0], ["a"])
    assert KeyCache(store, grid).keys(cells(grid)[0]) is None
