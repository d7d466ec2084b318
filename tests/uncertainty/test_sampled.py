"""Monte-Carlo: the same seed the same bits, convergence, and memory that depends on neither T nor N²."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from drgst.graph.core import make_graph
from drgst.nn.inputs import make_inputs
from drgst.nn.models.gcn import GCN
from drgst.nn.random import generator
from drgst.nn.training import private_randomness
from drgst.uncertainty.closed import closed_gain
from drgst.uncertainty.entropy import information_gain
from drgst.uncertainty.sampled import sampled_gain


class Largest(TorchDispatchMode):
    """Remembers the largest number of values that any tensor made inside held (a sparse one: its stored values)."""

    def __init__(self) -> None:
        super().__init__()
        self.values = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        out = func(*args, **(kwargs or {}))
        for item in out if isinstance(out, tuple | list) else (out,):
            if isinstance(item, torch.Tensor):
                size = item._nnz() if item.layout is not torch.strided else item.untyped_storage().nbytes() // 4
                self.values = max(self.values, size)
        return out


def ring(nodes: int) -> tuple[GCN, object]:
    """A ring with chords, four random features, a GCN with 8 hidden units and 3 classes."""
    u = np.arange(nodes)
    ends = np.concatenate([(u + 1) % nodes, (u * 7 + 3) % nodes])
    a = sp.coo_array((np.ones(2 * nodes), (np.concatenate([u, u]), ends)), shape=(nodes, nodes))
    graph = make_graph(np.random.default_rng(0).normal(size=(nodes, 4)), a, u % 3)
    with private_randomness(generator(0)):
        network = GCN(4, 3, hidden=8)
    return network, make_inputs(graph)


@pytest.mark.parametrize("kind", ["dropout", "dropedge", "both"])
def test_same_generator_same_bits(weighted, kind: str) -> None:
    """The generator is all the randomness there is."""
    first, again, other = (
        sampled_gain(weighted.network, weighted.inputs, kind, 0.3, 10, generator(s)) for s in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_global_generators_are_left_alone(weighted) -> None:
    """Neither NumPy's nor torch's global state moves or matters."""
    torch.manual_seed(5)
    before = torch.get_rng_state()
    sampled_gain(weighted.network, weighted.inputs, "both", 0.3, 3, generator(1))
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize("kind", ["dropout", "dropedge"])
def test_more_samples_come_nearer(weighted, kind: str) -> None:
    """The error against 1,500 samples falls with T, about as 1/√T."""
    best = sampled_gain(weighted.network, weighted.inputs, kind, 0.3, 1500, generator(9))
    errors = [
        np.mean(
            [
                np.abs(sampled_gain(weighted.network, weighted.inputs, kind, 0.3, t, generator(s)) - best).mean()
                for s in range(5)
            ]
        )
        for t in (10, 160)
    ]
    assert errors[1] < 0.5 * errors[0]


def test_quick_dropedge_equals_the_head_on_the_dropped_graph(weighted) -> None:
    """The re-weighted product on C columns is head(h, A ∘ Z), sample by sample, with weights and a lone node."""
    network, inputs = weighted.network.eval(), weighted.inputs
    rng = generator(4)
    with torch.no_grad():
        h = network.hidden(inputs.x, inputs.adj)
        draws = torch.stack([network.head(h, inputs.adj.drop(0.4, rng)).softmax(dim=1) for _ in range(8)])
    ours = sampled_gain(network, inputs, "dropedge", 0.4, 8, generator(4))
    np.testing.assert_allclose(ours, information_gain(draws).numpy(), atol=2e-6)


@pytest.mark.parametrize("kind", ["dropout", "dropedge", "both"])
def test_never_a_square_nor_a_stack(kind: str) -> None:
    """3,000 nodes, 60 samples: no tensor holds N² or T·N·C values, and NumPy's peak stays far below N² bytes."""
    network, inputs = ring(3000)
    with Largest() as seen:
        sampled_gain(network, inputs, kind, 0.3, 60, generator(0))
        closed_gain(network, inputs, kind, 0.3)
    tracemalloc.start()  # apart from the above, whose first use imports a good deal of torch
    sampled_gain(network, inputs, kind, 0.3, 60, generator(0))
    closed_gain(network, inputs, kind, 0.3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0 < seen.values <= 3000 * 20, "at most a few columns a node (8 hidden units, 5 edges and loops)"
    assert seen.values < 60 * 3000 * 3
    assert peak < 3000**2 / 2


def test_memory_does_not_grow_with_samples() -> None:
    """NumPy's peak with 40 samples is that with 4."""
    network, inputs = ring(2000)
    peaks = []
    for samples in (4, 40):
        sampled_gain(network, inputs, "both", 0.3, 1, generator(0))
        tracemalloc.start()
        sampled_gain(network, inputs, "both", 0.3, samples, generator(0))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]
