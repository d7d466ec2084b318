"""Adam without ``torch.optim``, whose first use imports torch's compiler and takes 1.5 s."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor


class Adam:
    """g = ∇L + λθ;  m ← β₁m + (1-β₁)g;  v ← β₂v + (1-β₂)g²;  θ ← θ - lr · m̂ / (√v̂ + ε)  (Kingma, Ba 2015).

    m̂ = m/(1-β₁ᵗ), v̂ = v/(1-β₂ᵗ), β₁ = 0.9, β₂ = 0.999, ε = 1e-8. Torch's fused kernel, bit-identical to
    ``torch.optim.Adam(fused=True)``.
    """

    def __init__(self, parameters: Sequence[Tensor], lr: float, weight_decay: float) -> None:
        self.parameters = list(parameters)
        self.lr, self.weight_decay = lr, weight_decay
        self.mean = [torch.zeros_like(p) for p in self.parameters]
        self.square = [torch.zeros_like(p) for p in self.parameters]
        self.steps = [torch.zeros((), dtype=torch.float32, device=p.device) for p in self.parameters]

    def zero_grad(self) -> None:
        for p in self.parameters:
            p.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """One update of each parameter that has a gradient."""
        each = zip(self.parameters, self.mean, self.square, self.steps, strict=True)
        found = [(p, p.grad, m, v, step) for p, m, v, step in each if p.grad is not None]
        if not found:
            return
        parameters, grads, mean, square, steps = map(list, zip(*found, strict=True))
        torch._foreach_add_(steps, 1)
        settings: Any = {"lr": self.lr, "weight_decay": self.weight_decay, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8}
        torch._fused_adam_(parameters, grads, mean, square, [], steps, **settings, amsgrad=False, maximize=False)
