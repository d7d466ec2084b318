"""APPNP, PPNP and DAGNN against their dense formulas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch import Tensor

from drgst.errors import SettingError
from drgst.nn.inputs import Inputs
from drgst.nn.models import appnp
from drgst.nn.ops.adjacency import Adjacency
from drgst.nn.ops.sparse import SparseMatrix

Build = Callable[..., Any]
Check = Callable[..., None]
Sym = Callable[[Tensor], Tensor]


def mlp(net: Any, x: Tensor) -> Tensor:
    return torch.relu(x @ net.first.weight + net.first.bias) @ net.last.weight + net.last.bias


def test_appnp(build: Build, check_formula: Check, dense_sym: Sym) -> None:
    def formula(net: Any, x: Tensor, a: Tensor) -> Tensor:
        m = mlp(net, x)
        z = m
        for _ in range(10):
            z = 0.9 * dense_sym(a) @ z + 0.1 * m
        return z

    check_formula(build("appnp"), formula)


def test_ppnp(build: Build, check_formula: Check, dense_sym: Sym) -> None:
    def formula(net: Any, x: Tensor, a: Tensor) -> Tensor:
        return 0.1 * torch.linalg.solve(torch.eye(len(a)) - 0.9 * dense_sym(a), mlp(net, x))

    check_formula(build("ppnp"), formula)


def test_dagnn(build: Build, check_formula: Check, dense_sym: Sym) -> None:
    def formula(net: Any, x: Tensor, a: Tensor) -> Tensor:
        m = mlp(net, x)
        hops = torch.stack([torch.linalg.matrix_power(dense_sym(a), k) @ m for k in range(11)], dim=1)  # (N, K + 1, C)
        return (torch.sigmoid(hops @ net.gate) * hops).sum(dim=1)

    check_formula(build("dagnn"), formula)


def test_ppnp_is_the_limit_of_appnp(inputs: Inputs, build: Build) -> None:
    exact, long = build("ppnp"), build("appnp", hops=300)
    long.load_state_dict(exact.state_dict())
    torch.testing.assert_close(exact(inputs.x, inputs.adj), long(inputs.x, inputs.adj), atol=1e-5, rtol=1e-4)


def test_ppnp_inverts_once_per_graph(inputs: Inputs, build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    network = build("ppnp")
    first = network(inputs.x, inputs.adj)
    monkeypatch.setattr(appnp, "ppr_matrix", None)  # a second inversion would fail
    assert torch.equal(network(inputs.x, inputs.adj), first)


def test_ppnp_refuses_a_large_graph(build: Build) -> None:
    count = appnp.LARGEST + 1
    large = Adjacency(sp.csr_array((count, count), dtype=np.float32))
    with pytest.raises(SettingError, match=r"5,001 x 5,001 matrix .*use appnp"):
        build("ppnp")(SparseMatrix(sp.csr_array((count, 4), dtype=np.float32)), large)
