"""Our Adam against torch's."""

from __future__ import annotations

import torch

from drgst.nn.adam import Adam


def train(make: object, steps: int = 30) -> list[torch.Tensor]:
    torch.manual_seed(0)
    weights = [torch.nn.Parameter(torch.randn(5, 3)), torch.nn.Parameter(torch.randn(3))]
    x, y = torch.randn(20, 5), torch.randint(3, (20,))
    adam = make(weights)  # type: ignore[operator]
    for _ in range(steps):
        for w in weights:
            w.grad = None
        torch.nn.functional.cross_entropy(x @ weights[0] + weights[1], y).backward()
        adam.step()
    return [w.detach().clone() for w in weights]


def theirs(weights: list[torch.nn.Parameter]) -> torch.optim.Adam:
    return torch.optim.Adam(weights, lr=0.05, weight_decay=0.01, fused=True)


def ours(weights: list[torch.nn.Parameter]) -> Adam:
    return Adam(weights, lr=0.05, weight_decay=0.01)


def test_bit_identical_to_torch() -> None:
    for a, b in zip(train(ours), train(theirs), strict=True):
        assert torch.equal(a, b)


def test_a_parameter_without_gradient_stays() -> None:
    used, unused = torch.nn.Parameter(torch.ones(2)), torch.nn.Parameter(torch.ones(2))
    adam = Adam([used, unused], lr=0.1, weight_decay=0.5)
    used.sum().backward()
    adam.step()
    assert torch.equal(unused, torch.ones(2))
    assert not torch.equal(used, torch.ones(2))


def test_importing_and_stepping_leaves_the_compiler_out() -> None:
    """What this class is for: torch.optim would import torch._dynamo."""
    import subprocess
    import sys

    code = (
        "import sys, torch\nfrom drgst.nn.adam import Adam\np = torch.nn.Parameter(torch.ones(1))\n"
        "p.sum().backward()\nAdam([p], 0.1, 0.0).step()\nassert 'torch._dynamo' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
