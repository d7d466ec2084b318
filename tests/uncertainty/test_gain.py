"""Information gain: sampled estimates, closed forms, and the networks and settings that are supported."""

import itertools
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from drgst.errors import SettingError
from drgst.graph.core import make_graph
from drgst.nn.inputs import make_inputs
from drgst.nn.networks import GCN, Backbone
from drgst.nn.ops.adjacency import Adjacency
from drgst.nn.random import generator, seeded_torch
from drgst.uncertainty.gain import (
    GainSettings,
    check_supported,
    closed_gain,
    dropout_gain,
    estimate_gain,
    fastest_settings,
    information_gain,
    sampled_gain,
)


class Mlp(Backbone):
    """No graph in its last layer: dropedge has no effect."""

    estimators = frozenset({"dropout"})

    def __init__(self) -> None:
        super().__init__(0.5)
        self.first, self.last = nn.Linear(5, 4), nn.Linear(4, 3)

    def hidden(self, x, adj):  # type: ignore[no-untyped-def]
        return self.first(x).relu()

    def head(self, h, adj):  # type: ignore[no-untyped-def]
        return self.last(h)


class Unsupported(Mlp):
    """Supports no estimate."""

    estimators = frozenset()


@pytest.mark.parametrize("kind", ["dropedge", "both"])
def test_unsupported_kind_names_the_network_and_what_it_supports(kind: str) -> None:
    with pytest.raises(SettingError, match=rf"Mlp .* {kind} \(it supports: dropout\)"):
        check_supported(Mlp(), GainSettings(kind))
    with pytest.raises(SettingError, match="it supports: none"):
        check_supported(Unsupported(), GainSettings("dropout"))
    with pytest.raises(SettingError, match=r"Mlp has no closed form.*estimator=sampled"):
        check_supported(Mlp(), GainSettings("dropout", estimator="closed"))


def test_sampling_works_for_any_two_part_network(weighted) -> None:
    """Dropout needs nothing but hidden and head."""
    torch.manual_seed(0)
    gain = estimate_gain(Mlp(), weighted.inputs, GainSettings("dropout", 0.5, 50), generator(0))
    assert gain.shape == (60,)
    assert (gain > 0).sum() > 50


def test_fastest_settings(weighted) -> None:
    """The closed form if there is one, else at most 20 samples of a supported kind, else None."""
    asked = GainSettings("dropedge", samples=100)
    assert fastest_settings(weighted.network, asked).estimator == "closed"
    found = fastest_settings(Mlp(), asked)
    assert (found.kind, found.estimator, found.samples) == ("dropout", "sampled", 20)
    assert fastest_settings(Unsupported(), asked) is None


@pytest.mark.parametrize("estimator", ["sampled", "closed"])
def test_gain_is_finite_never_negative_and_grows_with_the_rate(weighted, estimator: str) -> None:
    for kind in ("dropout", "dropedge", "both"):
        means = []
        for rate in (0.05, 0.2, 0.5):
            gain = estimate_gain(
                weighted.network, weighted.inputs, GainSettings(kind, rate, 60, estimator), generator(0)
            )
            assert gain.dtype == np.float32
            assert np.isfinite(gain).all()
            assert (gain >= 0).all()
            means.append(gain.mean())
        assert means[0] < means[1] < means[2]


@pytest.mark.parametrize("estimator", ["sampled", "closed"])
def test_a_node_without_edges_gains_by_dropout_only(weighted, estimator: str) -> None:
    settings = [GainSettings(kind, 0.3, 100, estimator) for kind in ("dropedge", "dropout")]
    edges, features = (estimate_gain(weighted.network, weighted.inputs, s, generator(0))[59] for s in settings)
    assert edges == pytest.approx(0, abs=1e-6)
    assert features > 1e-5


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
    with seeded_torch(generator(0)):
        network = GCN(4, 3, hidden=8)
    return network, make_inputs(graph)


@pytest.mark.parametrize("kind", ["dropout", "dropedge", "both"])
def test_same_generator_is_bit_identical(weighted, kind: str) -> None:
    """The generator is all the randomness there is."""
    first, again, other = (
        sampled_gain(weighted.network, weighted.inputs, GainSettings(kind, 0.3, 10), generator(s)) for s in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_column_degrees_are_those_of_the_published_normalisation(weighted) -> None:
    """D̃^-½ (A ∘ Z + I)ᵀ D̃^-½ with D̃ the row sums, where Z is drawn for the other direction of each edge."""
    network, inputs, rng, draws = weighted.network.eval(), weighted.inputs, generator(4), []
    with torch.no_grad():
        product = network.product(network.hidden(inputs.x, inputs.adj)).numpy()
        for _ in range(8):
            kept = inputs.adj.drop(0.4, rng).matrix.toarray().T + np.eye(inputs.nodes.size)
            scale = kept.sum(axis=1) ** -0.5
            z = torch.from_numpy((scale[:, None] * kept * scale).T @ product) + network.bias2
            draws.append(z.softmax(dim=1))
    ours = sampled_gain(network, inputs, GainSettings("dropedge", 0.4, 8, column_degrees=True), generator(4))
    np.testing.assert_allclose(ours, information_gain(torch.stack(draws)).numpy(), atol=2e-6)
    plain = sampled_gain(network, inputs, GainSettings("dropedge", 0.4, 8), generator(4))
    assert not np.allclose(ours, plain, atol=1e-4)


@pytest.mark.parametrize("kind", ["dropout", "dropedge", "both"])
def test_no_tensor_is_square_or_stacked(kind: str) -> None:
    """3,000 nodes, 60 samples: no tensor holds N² or T·N·C values, and NumPy's peak stays far below N² bytes."""
    network, inputs = ring(3000)
    with Largest() as largest:
        sampled_gain(network, inputs, GainSettings(kind, 0.3, 60), generator(0))
        closed_gain(network, inputs, kind, 0.3)
    tracemalloc.start()  # apart from the above, whose first use imports a good deal of torch
    sampled_gain(network, inputs, GainSettings(kind, 0.3, 60), generator(0))
    closed_gain(network, inputs, kind, 0.3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0 < largest.values <= 3000 * 20, "at most a few columns per node (8 hidden units, 5 edges and loops)"
    assert largest.values < 60 * 3000 * 3
    assert peak < 3000**2 / 2


def second_order(covariance: np.ndarray, z: np.ndarray) -> np.ndarray:
    """½ [Σ_c q_c Σ_cc - qᵀ Σ q] for covariances (N, C, C) and mean logits (N, C)."""
    q = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    own = np.einsum("nc,ncc->n", q, covariance)
    return 0.5 * (own - np.einsum("nc,ncd,nd->n", q, covariance, q))


@pytest.mark.parametrize("weights", [(1.0, 1.0), (0.5, 2.0)], ids=["plain", "weighted"])
def test_dropout_from_all_masks(weights: tuple[float, float]) -> None:
    """3 nodes, 2 hidden units: the covariance over all 64 masks, each with its probability, in float64."""
    a = np.array([[0, weights[0], 0], [weights[0], 0, weights[1]], [0, weights[1], 0]])
    graph = make_graph(None, a, [0, 1, 0])
    rng, rate = np.random.default_rng(0), 0.3
    h, w, b = rng.normal(size=(3, 2)), rng.normal(size=(2, 3)), rng.normal(size=3)
    loops = a + np.eye(3)
    root = loops.sum(axis=1) ** -0.5
    norm = root[:, None] * loops * root
    chances, draws = [], []
    for mask in itertools.product((0, 1), repeat=6):
        kept = np.array(mask).reshape(3, 2)
        chances.append(rate ** (6 - kept.sum()) * (1 - rate) ** kept.sum())
        draws.append(norm @ (h * kept / (1 - rate)) @ w + b)
    chance, z = np.array(chances), np.array(draws)
    mean = np.einsum("m,mnc->nc", chance, z)
    covariance = np.einsum("m,mnc,mnd->ncd", chance, z - mean, z - mean)
    ours = dropout_gain(*(torch.from_numpy(v).float() for v in (h, w, b)), Adjacency(graph.adjacency), rate)
    np.testing.assert_allclose(ours.numpy(), second_order(covariance, mean), rtol=1e-4)


@pytest.mark.parametrize(
    ("kind", "rate", "least"), [("dropout", 0.5, 0.97), ("dropedge", 0.3, 0.95), ("both", 0.2, 0.95)]
)
def test_sampled_against_closed_on_cora(trained_cora, kind: str, rate: float, least: float) -> None:
    """Pearson above 0.95 with 300 samples over all 2,708 nodes of a trained GCN, and the same size."""
    closed = closed_gain(trained_cora.network, trained_cora.inputs, kind, rate)
    sampled = sampled_gain(trained_cora.network, trained_cora.inputs, GainSettings(kind, rate, 300), generator(0))
    assert np.corrcoef(closed, sampled)[0, 1] > least
    assert closed.mean() == pytest.approx(sampled.mean(), rel=0.25)


@pytest.mark.parametrize("kind", ["dropout", "dropedge"])
def test_sampled_against_closed_on_a_weighted_graph(weighted, kind: str) -> None:
    """Weights count in both: Pearson above 0.95, and another result than without weights."""
    settings = GainSettings(kind, 0.2, 1000, "sampled")
    sampled = estimate_gain(weighted.network, weighted.inputs, settings, generator(0))
    closed = closed_gain(weighted.network, weighted.inputs, kind, 0.2)
    assert np.corrcoef(closed, sampled)[0, 1] > 0.95
    plain = weighted.graph.with_(adjacency=(weighted.graph.adjacency > 0).astype(np.float32))
    other = closed_gain(
        weighted.network,
        type(weighted.inputs)(weighted.inputs.x, Adjacency(plain.adjacency), weighted.inputs.nodes),
        kind,
        0.2,
    )
    assert np.abs(other - closed).max() > 0.05 * closed.max()


def test_both_is_the_sum_of_the_two(weighted) -> None:
    """Independent noises: their covariances, and so the second-order gains, add up."""
    parts = [closed_gain(weighted.network, weighted.inputs, kind, 0.1) for kind in ("dropout", "dropedge", "both")]
    np.testing.assert_allclose(parts[2], parts[0] + parts[1], rtol=1e-5)
