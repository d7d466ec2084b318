"""Properties of all networks: parts, receptive field, permutation of nodes, dropped edges, randomness."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from drgst.graph.core import Graph, make_graph
from drgst.nn.inputs import Inputs, make_inputs
from drgst.nn.ops.adjacency import Adjacency
from drgst.nn.ops.dropout import set_generator
from drgst.nn.random import generator
from drgst.nn.registry import BACKBONES
from drgst.uncertainty.gain import GainSettings, estimate_gain

Build = Callable[..., Any]
every = pytest.mark.parametrize("name", BACKBONES)
CLOSE = {"atol": 1e-5, "rtol": 1e-4}


@every
def test_forward_is_head_of_hidden(name: str, inputs: Inputs, build: Build) -> None:
    network = build(name)
    parts = network.head(network.hidden(inputs.x, inputs.adj), inputs.adj)
    assert torch.equal(network(inputs.x, inputs.adj), parts)


@pytest.mark.parametrize("name", [n for n in BACKBONES if n != "ppnp"])
def test_the_receptive_field_is_enough_and_not_larger_than_needed(
    name: str, ring: Inputs, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One hop less than ``depth`` must change the logits."""
    if name in ("appnp", "dagnn"):  # three hops instead of ten, so that the field is a part of the ring
        monkeypatch.setattr(BACKBONES[name], "depth", 3)
        monkeypatch.setattr(BACKBONES[name], "hops", 3)
    network = build(name)
    for inner, depth in (([0, 7], network.depth), ([12], network.depth - 1)):
        part = ring.restrict(ring.adj.hops(np.array(inner), depth))
        assert part.nodes.size < ring.nodes.size
        found, whole = network(part.x, part.adj)[np.searchsorted(part.nodes, inner)], network(ring.x, ring.adj)[inner]
        if depth == network.depth:
            torch.testing.assert_close(found, whole, **CLOSE)
        else:
            assert not torch.allclose(found, whole, atol=1e-7, rtol=0)


def test_ppnp_depends_on_all_nodes(build: Build) -> None:
    assert build("ppnp").depth is None


@every
def test_relabelling_the_nodes_relabels_the_logits(name: str, graph: Graph, build: Build) -> None:
    network = build(name)
    order = np.array([3, 5, 0, 4, 1, 2])
    moved = make_graph(graph.features[order], graph.adjacency[order][:, order], graph.labels[order])
    before, after = make_inputs(graph), make_inputs(moved)
    torch.testing.assert_close(network(after.x, after.adj), network(before.x, before.adj)[order], **CLOSE)


@every
def test_a_graph_without_edges(name: str, build: Build) -> None:
    empty = make_inputs(make_graph(np.eye(4, dtype=np.float32)[:3], sp.csr_array((3, 3)), np.array([0, 1, 2])))
    network = build(name)
    logits = network(empty.x, empty.adj)
    logits.sum().backward()
    assert torch.isfinite(logits).all()
    assert all(torch.isfinite(p.grad).all() for p in network.parameters() if p.grad is not None)


@every
def test_dropping_no_edge_changes_nothing(name: str, inputs: Inputs, build: Build) -> None:
    network = build(name)
    kept = inputs.adj.drop(0.0, generator(0))
    torch.testing.assert_close(network(inputs.x, kept), network(inputs.x, inputs.adj), **CLOSE)


@every
def test_a_dropped_edge_is_no_edge(name: str, ring: Inputs, build: Build) -> None:
    """A stored zero gives the same logits as a matrix that does not store it."""
    network = build(name)
    dropped = ring.adj.drop(0.5, generator(3))
    clean = dropped.matrix.copy()
    clean.eliminate_zeros()
    assert clean.nnz < dropped.matrix.nnz
    h = network.hidden(ring.x, ring.adj)
    expected = network.head(h, Adjacency(clean, symmetric=False))
    torch.testing.assert_close(network.head(h, dropped), expected, **CLOSE)
    assert not torch.allclose(expected, network.head(h, ring.adj))


@every
def test_dropout_is_random_in_training_alone(name: str, ring: Inputs, build: Build) -> None:
    network = build(name)
    still = network(ring.x, ring.adj)
    assert torch.equal(network(ring.x, ring.adj), still)
    set_generator(network.train(), generator(0))
    first = network(ring.x, ring.adj)
    assert not torch.allclose(first, network(ring.x, ring.adj))
    set_generator(network, generator(0))
    assert torch.equal(network(ring.x, ring.adj), first)  # the same generator: bit-identical


@every
def test_random_hidden_is_whether_hidden_has_dropout(name: str, ring: Inputs, build: Build) -> None:
    network = build(name)
    still = network.hidden(ring.x, ring.adj)
    set_generator(network.train(), generator(0))
    moving = network.hidden(ring.x, ring.adj)
    same = moving is still or torch.equal(moving, still)
    assert same is not network.random_hidden


@every
def test_gradients_reach_every_parameter_in_training(name: str, ring: Inputs, build: Build) -> None:
    network = build(name)
    set_generator(network.train(), generator(0))
    network(ring.x, ring.adj).square().sum().backward()
    missing = [key for key, p in network.named_parameters() if p.grad is None or not p.grad.abs().max() > 0]
    assert not missing


@every
def test_a_sampled_gain(name: str, ring: Inputs, build: Build) -> None:
    """Each supported estimator changes the last layer."""
    network = build(name)
    for kind in network.estimators:
        gain = estimate_gain(network, ring, GainSettings(kind=kind, rate=0.5, samples=5), generator(0))
        assert gain.shape == (40,)
        assert gain.max() > 0, kind
