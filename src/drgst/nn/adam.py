"""Adam without ``torch.optim``, whose first use imports torch's compiler and takes 1.5 s."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8


class Adam:
    """g = ∇L + λθ;  m ← β₁m + (1-β₁)g;  v ← β₂v + (1-β₂)g²;  θ ← θ - lr · m̂ / (√v̂ + ε)  (Kingma, Ba 2015).

    m̂ = m/(1-β₁ᵗ), v̂ = v/(1-β₂ᵗ). On the CPU and on CUDA this is torch's fused kernel, bit-identical to
    ``torch.optim.Adam(fused=True)``; on other devices the same update in plain operations.
    """

    def __init__(self, parameters: Sequence[Tensor], lr: float, weight_decay: float) -> None:
        self.parameters = list(parameters)
        self.lr, self.weight_decay = lr, weight_decay
        self.mean = [torch.zeros_like(p) for p in self.parameters]
        self.square = [torch.zeros_like(p) for p in self.parameters]
        self.steps = [torch.zeros((), dtype=torch.float32, device=p.device) for p in self.parameters]
        self.count = 0

    def zero_grad(self) -> None:
        """Reset the gradients to None."""
        for p in self.parameters:
            p.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """One update of each parameter that has a gradient."""
        found = [(i, p.grad) for i, p in enumerate(self.parameters) if p.grad is not None]
        if not found:
            return
        self.count += 1
        moved, grads = [i for i, _ in found], [grad for _, grad in found]
        if self.parameters[moved[0]].device.type in ("cpu", "cuda"):
            self._fused(moved, grads)
        else:
            self._plain(moved, grads)

    def _fused(self, moved: list[int], grads: list[Tensor]) -> None:
        steps = [self.steps[i] for i in moved]
        torch._foreach_add_(steps, 1)
        torch._fused_adam_(
            [self.parameters[i] for i in moved],
            grads,
            [self.mean[i] for i in moved],
            [self.square[i] for i in moved],
            [],
            steps,
            lr=self.lr,
            beta1=BETA1,
            beta2=BETA2,
            weight_decay=self.weight_decay,
            eps=EPSILON,
            amsgrad=False,
            maximize=False,
        )

    def _plain(self, moved: list[int], grads: list[Tensor]) -> None:
        for i, g in zip(moved, grads, strict=True):
            p, m, v = self.parameters[i], self.mean[i], self.square[i]
            grad = g.add(p, alpha=self.weight_decay)
            m.lerp_(grad, 1 - BETA1)
            v.mul_(BETA2).addcmul_(grad, grad, value=1 - BETA2)
            scale = v.sqrt().div_((1 - BETA2**self.count) ** 0.5).add_(EPSILON)
            p.addcdiv_(m, scale, value=-self.lr / (1 - BETA1**self.count))
