"""Transforms for PyTorch Geometric."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from drgst.estimator.base import SelfTraining
from drgst.selftrain.recipe import AnyRecipe

if TYPE_CHECKING:
    from torch_geometric.data import Data


class PseudoLabel:
    """A PyG transform that runs a recipe and writes its pseudo-labels into ``Data``, for other training code.

    ``pseudo_y`` (N,): the true label of training nodes, the pseudo-label of pseudo-labelled nodes, else -1.
    ``pseudo_mask`` (N,): the nodes that have one. ``pseudo_weight`` (N,): their weights of the result's stage, 1 for
    training nodes, 0 elsewhere. ``probability`` (N, C): the probabilities of the result.

    The arguments are those of :class:`~drgst.estimator.SelfTraining`. The masks of ``Data`` are the split.
    """

    def __init__(self, recipe: str | AnyRecipe | None = None, **arguments: Any) -> None:
        self.recipe = recipe
        self.arguments = arguments

    def __call__(self, data: Data) -> Data:
        """A copy of ``data`` with the four fields."""
        import torch

        model = SelfTraining(self.recipe, **self.arguments).fit(data)
        stage, train = model.result_.stage, model.split_.train
        labels = np.full(model.graph_.num_nodes, -1, dtype=np.int64)
        weights = np.zeros(labels.size, dtype=np.float32)
        nodes = stage.pseudo_labels.nodes
        labels[nodes], weights[nodes] = stage.pseudo_labels.labels, stage.weights
        labels[train], weights[train] = model.graph_.labels[train], 1.0
        made = copy.copy(data)
        made.pseudo_y, made.pseudo_weight = torch.from_numpy(labels), torch.from_numpy(weights)
        made.pseudo_mask = torch.from_numpy(labels >= 0)
        made.probability = torch.from_numpy(np.array(model.probabilities_))
        return made

    def __repr__(self) -> str:
        more = "".join(f", {name}={value!r}" for name, value in self.arguments.items())
        return f"PseudoLabel({self.recipe!r}{more})"
