"""Student's t in closed form: SciPy's takes longer to import than a table takes to make."""

from __future__ import annotations

import math
from functools import cache


@cache
def student_quantile(freedom: int, level: float) -> float:
    """t with P(|T| ≤ t) = ``level`` for so many degrees of freedom, found by halving in θ = atan(t/√ν)."""
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, freedom) < level else (low, middle)
    return math.sqrt(freedom) * math.tan((low + high) / 2)


def _within(theta: float, freedom: int) -> float:
    """P(|T| ≤ √ν tan θ): a finite sum of powers of cos θ (Abramowitz and Stegun, 26.7.3 and 26.7.4).

    Odd ν: 2/π (θ + sin θ (cos θ + 2/3 cos³ θ + … )), even ν: sin θ (1 + 1/2 cos² θ + 3/8 cos⁴ θ + …), both up to
    the power ν - 2.
    """
    odd = freedom % 2
    cosine = math.cos(theta)
    term, total = (cosine if odd else 1.0), 0.0
    for power in range(odd, freedom - 1, 2):
        total += term
        term *= cosine * cosine * (power + 1) / (power + 2)
    found = math.sin(theta) * total
    return 2 / math.pi * (theta + found) if odd else found
