"""Weigh by the product of two parts."""

from __future__ import annotations

from dataclasses import dataclass

from drgst.selftrain.beliefs import Beliefs, PseudoLabels
from drgst.selftrain.weigh.base import Weigh, Weights


@dataclass(frozen=True)
class Product:
    """w = w_a · w_b, node by node."""

    a: Weigh
    b: Weigh

    def __call__(self, beliefs: Beliefs, pseudo: PseudoLabels) -> Weights:
        first, second = self.a(beliefs, pseudo), self.b(beliefs, pseudo)
        return Weights(first.true * second.true, first.pseudo * second.pseudo)
