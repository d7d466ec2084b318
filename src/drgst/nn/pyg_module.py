"""A user's PyG module as a backbone."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _NormBase

from drgst.errors import SettingError
from drgst.nn.networks import Backbone
from drgst.nn.ops.adjacency import Adjacency
from drgst.nn.ops.sparse import Hidden, SparseMatrix


class PyGModule(Backbone):
    """logits = module(X, edge_index) or module(X, edge_index, edge_weight), (N, C).

    ``edge_weight`` is given where ``forward`` has an argument of this name and the graph is weighted or the argument
    has no default. Sparse features are given as a torch CSR matrix where the module can use one, else dense.
    The noise of the information gain is in the whole module: dropout in its own dropout layers with their own rates,
    dropedge in ``edge_index``.
    """

    random_hidden: ClassVar[bool] = True

    def __init__(self, module: nn.Module, classes: int) -> None:
        super().__init__(0.0)
        self.module = module
        self.classes = classes
        self.takes_sparse = False  # set by prepare
        arguments = inspect.signature(module.forward).parameters
        weight = arguments.get("edge_weight")
        self.takes_weight = weight is not None
        self.needs_weight = weight is not None and weight.default is inspect.Parameter.empty
        for part in module.modules():
            if getattr(part, "cached", False) is True:
                # a cached normalisation would hide dropped edges and other graphs
                part.cached = False  # type: ignore[assignment]

    @property
    def name(self) -> str:
        return type(self.module).__name__

    def prepare(self, x: Hidden, adj: Adjacency) -> None:
        """Initialise lazy parameters, check the shape of the logits, and try whether sparse features can be used."""
        self.eval()
        lazy = any(nn.parameter.is_lazy(p) for p in self.parameters())
        sparse = isinstance(x, SparseMatrix) and not lazy and x.derived(self._key(), lambda: self._tries_sparse(x, adj))
        self.takes_sparse = sparse
        with torch.no_grad():
            try:
                logits = self(x, adj)
            except Exception as error:
                given = "(x, edge_index, edge_weight)" if self.takes_weight else "(x, edge_index)"
                raise SettingError(
                    f"backbone {self.name} failed on {given}: {type(error).__name__}: {error}"
                ) from error
        shape = tuple(logits.shape) if isinstance(logits, Tensor) else type(logits).__name__
        if shape != (adj.num_nodes, self.classes):
            raise SettingError(
                f"backbone {self.name} returned {shape} (allowed: logits of shape {(adj.num_nodes, self.classes)})"
            )

    def forward(self, x: Hidden, adj: Adjacency) -> Tensor:
        edge_index, weight = adj.edges
        if self.takes_weight and (self.needs_weight or adj.weighted):
            return self.module(self._features(x), edge_index, edge_weight=weight)
        return self.module(self._features(x), edge_index)

    def hidden(self, x: Hidden, adj: Adjacency) -> Hidden:
        """The input of the last layer that is called, (N, D); the logits where that is not a dense matrix.

        A layer is a graph convolution (a PyG MessagePassing), or outside of these a module with parameters of its own.
        """
        seen: list[Tensor] = []

        def record(_: nn.Module, given: tuple[Any, ...]) -> None:
            if given and isinstance(given[0], Tensor):
                seen.append(given[0])

        hooks = [layer.register_forward_pre_hook(record) for layer in _layers(self.module)]
        try:
            logits = self(x, adj)
        finally:
            for hook in hooks:
                hook.remove()
        last = seen[-1] if seen else logits
        dense = last.layout == torch.strided and last.dim() == 2 and last.shape[0] == adj.num_nodes
        return last if dense and last.is_floating_point() else logits

    @contextmanager
    def noisy(self, dropout: bool) -> Iterator[None]:
        """Evaluation mode inside; with ``dropout``, the module's dropout is on, and batch statistics stay fixed."""
        self.eval()
        if dropout:
            self.train()
            for part in self.modules():
                if isinstance(part, _NormBase):
                    part.eval()
        yield
        self.eval()

    def _features(self, x: Hidden) -> Tensor:
        if not isinstance(x, SparseMatrix):
            return x
        return x.forward_csr if self.takes_sparse else x.derived("dense", lambda: x.forward_csr.to_dense())

    def _key(self) -> tuple[str, str, str]:
        return ("takes sparse", type(self.module).__module__, repr(self.module))

    def _tries_sparse(self, x: SparseMatrix, adj: Adjacency) -> bool:
        """Whether a copy of the module can be trained on a torch CSR matrix."""
        other = copy.deepcopy(self)
        other.takes_sparse = True
        other.train()
        try:
            with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
                other(x, adj).sum().backward()
        except Exception:  # of any kind: it is the user's code, and its own errors come again with dense features
            return False
        return True


def fresh_copy(module: nn.Module) -> nn.Module:
    """A copy of ``module`` with new initial weights, by the ``reset_parameters`` of its parts."""
    made = copy.deepcopy(module)
    _reset(made, type(module).__name__)
    return made


def _reset(part: nn.Module, name: str) -> None:
    reset = getattr(part, "reset_parameters", None)
    if callable(reset):
        reset()
        return
    if next(part.parameters(recurse=False), None) is not None:
        raise SettingError(
            f"backbone is an instance of {name}, whose part {type(part).__name__} has no reset_parameters(), but every "
            "training needs new weights: give the class, or a function of (features, classes) that returns a new module"
        )
    for child in part.children():
        _reset(child, name)


def _layers(module: nn.Module) -> Iterator[nn.Module]:
    """Graph convolutions, and other modules with parameters of their own that are not inside one."""
    convolution = hasattr(module, "propagate")
    if convolution or next(module.parameters(recurse=False), None) is not None:
        yield module
    for child in () if convolution else module.children():
        yield from _layers(child)
