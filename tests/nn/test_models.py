"""Every network against its dense formula; properties of all: receptive field, permutation, dropped edges, noise."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch import Tensor
from torch.nn import functional as F

from drgst.graph.core import Graph, make_graph
from drgst.nn.inputs import Inputs, make_inputs
from drgst.nn.ops.adjacency import Adjacency
from drgst.nn.ops.layers import set_generator
from drgst.nn.random import generator
from drgst.nn.registry import BACKBONES
from drgst.uncertainty.gain import GainSettings, estimate_gain

Build = Callable[..., Any]


def sym(a: Tensor) -> Tensor:
    """Â = D̃^-½ (A + I) D̃^-½ of a dense A."""
    loops = a + torch.eye(len(a))
    root = torch.diag(loops.sum(1) ** -0.5)
    return root @ loops @ root


def mlp(net: Any, x: Tensor) -> Tensor:
    return torch.relu(x @ net.first.weight + net.first.bias) @ net.last.weight + net.last.bias


def gcn(net: Any, x: Tensor, a: Tensor) -> Tensor:
    h = torch.relu(sym(a) @ x @ net.weight1 + net.bias1)
    return sym(a) @ h @ net.weight2 + net.bias2


def appnp(net: Any, x: Tensor, a: Tensor) -> Tensor:
    z = m = mlp(net, x)
    for _ in range(10):
        z = 0.9 * sym(a) @ z + 0.1 * m
    return z


def gat(net: Any, x: Tensor, a: Tensor) -> Tensor:
    def layer(part: Any, h: Tensor) -> Tensor:
        outputs = []
        for w, ends in zip(part.linear.weight.chunk(part.heads, dim=1), part.ends, strict=True):
            m = h @ w
            score = F.leaky_relu((m @ ends[:, 0])[:, None] + (m @ ends[:, 1])[None, :], 0.2)
            score = score.masked_fill((a == 0) & ~torch.eye(len(a), dtype=torch.bool), -torch.inf)
            outputs.append(score.softmax(dim=1) @ m)
        return torch.cat(outputs, dim=1) + part.linear.bias

    return layer(net.last, F.elu(layer(net.first, x)))


def dense(inputs: Inputs) -> tuple[Tensor, Tensor]:
    """X and A."""
    return torch.from_numpy(inputs.x.scipy.toarray()), torch.from_numpy(inputs.adj.matrix.toarray())


@pytest.mark.parametrize("formula", [gcn, appnp, gat])
def test_logits_and_all_gradients(formula: Callable[..., Tensor], inputs: Inputs, build: Build) -> None:
    network, (x, a) = build(formula.__name__), dense(inputs)
    expected = formula(network, x, a)
    assert torch.isfinite(expected).all()
    ours = network(inputs.x, inputs.adj)
    torch.testing.assert_close(ours, expected, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(network(x, inputs.adj), expected, atol=1e-5, rtol=1e-4)  # dense features
    probe = torch.randn(6, 3, generator=torch.Generator().manual_seed(0))
    parts = dict(network.named_parameters())
    grads = torch.autograd.grad((ours * probe).sum(), list(parts.values()))
    wanted = torch.autograd.grad((expected * probe).sum(), list(parts.values()))
    for key, mine, other in zip(parts, grads, wanted, strict=True):
        assert mine.abs().max() > 0, f"no gradient reaches {key}"
        torch.testing.assert_close(mine, other, atol=2e-5, rtol=1e-3, msg=lambda m, key=key: f"{key}: {m}")


def test_attention_with_far_apart_scores_stays_finite(inputs: Inputs, build: Build) -> None:
    network = build("gat")
    with torch.no_grad():
        network.first.ends.mul_(1e4)
    logits = network(inputs.x, inputs.adj)
    logits.sum().backward()
    torch.testing.assert_close(logits, gat(network, *dense(inputs)), atol=1e-5, rtol=1e-4)
    assert all(torch.isfinite(p.grad).all() for p in network.parameters())


every = pytest.mark.parametrize("name", BACKBONES)
CLOSE = {"atol": 1e-5, "rtol": 1e-4}


@every
def test_forward_is_head_of_hidden(name: str, inputs: Inputs, build: Build) -> None:
    network = build(name)
    parts = network.head(network.hidden(inputs.x, inputs.adj), inputs.adj)
    assert torch.equal(network(inputs.x, inputs.adj), parts)


@every
def test_the_receptive_field_is_enough_and_not_larger_than_needed(
    name: str, ring: Inputs, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One hop less than ``depth`` must change the logits."""
    if name == "appnp":  # three hops instead of ten, so that the field is a part of the ring
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
def test_a_sampled_gain(name: str, ring: Inputs, build: Build) -> None:
    """Each supported estimator changes the last layer."""
    network = build(name)
    for kind in network.estimators:
        gain = estimate_gain(network, ring, GainSettings(kind=kind, rate=0.5, samples=5), generator(0))
        assert gain.shape == (40,)
        assert gain.max() > 0, kind
