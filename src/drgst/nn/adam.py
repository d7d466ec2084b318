"""Adam without torch.optim, whose first use imports the compiler and costs 1.5 s of every short run."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8


class Adam:
    """g = ∇L + λθ;  m ← β₁m + (1-β₁)g;  v ← β₂v + (1-β₂)g²;  θ ← θ - lr · m̂ / (√v̂ + ε)  (Kingma, Ba 2015).

    m̂ = m/(1-β₁ᵗ), v̂ = v/(1-β₂ᵗ). On the CPU and on CUDA it is torch's own fused kernel, to the same bits as
    ``torch.optim.Adam(fused=True)``; elsewhere the same update in plain operations.
    """

    def __init__(self, parameters: Sequence[Tensor], lr: float, weight_decay: float) -> None:
        self.parameters = list(parameters)
        self.lr, self.weight_decay = lr, weight_decay
        self.mean = [torch.zeros_like(p) for p in self.parameters]
        self.square = [torch.zeros_like(p) for p in self.parameters]
        self.steps = [torch.zeros((), dtype=torch.float32, device=p.device) for p in self.parameters]
        self.count = 0

    def clear(self) -> None:
        """Forget the gradients."""
        for p in self.parameters:
            p.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """One update of every parameter that has a gradient."""
        moved = [i for i, p in enumerate(self.parameters) if p.grad is not None]
        if not moved:
            return
        self.count += 1
        if self.parameters[moved[0]].device.type in ("cpu", "cuda"):
            self._fused(moved)
        else:
            self._plain(moved)

    def _fused(self, moved: list[int]) -> None:
        steps = [self.steps[i] for i in moved]
        torch._foreach_add_(steps, 1)
        torch._fused_adam_(
            [self.parameters[i] for i in moved],
            [self._grad(i) for i in moved],
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

    def _plain(self, moved: list[int]) -> None:
        for i in moved:
            p, m, v = self.parameters[i], self.mean[i], self.square[i]
            grad = self._grad(i).add(p, alpha=self.weight_decay)
            m.lerp_(grad, 1 - BETA1)
            v.mul_(BETA2).addcmul_(grad, grad, value=1 - BETA2)
            scale = v.sqrt().div_((1 - BETA2**self.count) ** 0.5).add_(EPSILON)
            p.addcdiv_(m, scale, value=-self.lr / (1 - BETA1**self.count))

    def _grad(self, i: int) -> Tensor:
        grad = self.parameters[i].grad
        assert grad is not None
        return grad
