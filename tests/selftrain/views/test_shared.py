"""What views have learnt: each array once, and which graphs contain the fitted nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from drgst.selftrain.views import shared as module
from drgst.selftrain.views.shared import ViewMaps, checksum_of_ids, columns_kept


def test_an_array_is_learnt_once() -> None:
    maps = ViewMaps()
    first = maps.learn("a.mean", lambda: np.zeros(2))
    assert maps.learn("a.mean", lambda: np.ones(2)) is first
    assert maps.under("a.") == {"mean": first}


def test_the_fitted_nodes_are_found_by_ids_and_features(world: Any) -> None:
    graph = world.graph
    maps = ViewMaps()
    assert maps.fitted_nodes(graph) == graph.num_nodes
    assert maps.are_of_the_first_nodes(graph)
    other = graph.with_(node_ids=np.array([f"other{n}" for n in range(graph.num_nodes)]))
    assert not maps.are_of_the_first_nodes(other)
    assert not maps.are_of_the_first_nodes(graph.with_(features=np.asarray(graph.features) + 1))
    for changed, same in ((6, True), (7, False)):  # nine in ten of 60 nodes must be as they were
        x = np.asarray(graph.features).copy()
        x[:changed] += 1
        assert maps.are_of_the_first_nodes(graph.with_(features=x)) is same


def test_the_checksum_does_not_depend_on_the_size_of_a_block(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = checksum_of_ids(world.graph, 50)
    monkeypatch.setattr(module, "ID_BLOCK", 7)
    assert checksum_of_ids(world.graph, 50) == whole
    assert checksum_of_ids(world.graph, 49) != whole


@pytest.mark.parametrize(("wide", "mapped"), [(100, 100), (10, 100), (10, 10)])
def test_storage_in_memory_and_in_a_file(world: Any, monkeypatch: pytest.MonkeyPatch, wide: int, mapped: int) -> None:
    """Of the 60 nodes of the graph, more than ``wide`` are stored in 16 bits and more than ``mapped`` in a file."""
    monkeypatch.setattr(module, "WIDE_NODES", wide)
    monkeypatch.setattr(module, "MAPPED_NODES", mapped)
    made = module.Shared(world.graph).empty((3, 2), "z")
    made[:] = 1.5
    assert made.dtype == ("float32" if wide == 100 else "float16")
    assert isinstance(made, np.memmap) == (mapped == 10)


@pytest.mark.parametrize(("nodes", "kept"), [(0, 256), (30_000, 256), (200_000, 99), (1_000_000, 44), (10**8, 32)])
def test_of_very_many_nodes_fewer_columns_are_kept(nodes: int, kept: int) -> None:
    assert columns_kept(nodes) == kept
