"""Class shares that a user states, and the shift of logits that gives predictions these shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from drgst.errors import SettingError, unknown
from drgst.transforms.softmax import log_softmax, softmax
from drgst.uncertainty.calibration import PRIOR_STD

TOLERANCE = 1e-6  # by which stated shares may differ from a sum of 1
LONGEST = 60  # characters of a text that a message repeats
MAX_NODES = 20_000  # on which a temperature is fitted
MOST_TEMPERATURE = 5.0  # T and 1 / T are at most 5


def parse_shares(given: str | Mapping[str, float]) -> dict[str, float]:
    """``"fraud=0.02, ok=0.98"``, or a mapping, as class -> share.

    Each share lies between 0 and 1, their sum is 1 at most. A class name may contain commas and equal signs.
    """
    pairs = list(given.items()) if isinstance(given, Mapping) else _pairs(str(given))
    if not pairs:
        stated = str(given)
        shown = stated if len(stated) <= LONGEST else f"{stated[:LONGEST]}..."
        raise SettingError(f"the prior {shown!r} is not a list of CLASS=SHARE, such as fraud=0.02")
    shares: dict[str, float] = {}
    for name, text in pairs:
        try:
            percent = isinstance(text, str) and text.endswith("%")
            share = float(str(text)[:-1]) / 100 if percent else float(text)
        except (TypeError, ValueError):
            raise SettingError(f"the prior of class {name!r} is {text!r}, but must be a number or percentage") from None
        if not 0 < share < 1:
            raise SettingError(f"the prior of class {name!r} is {share:g}, but must lie between 0 and 1")
        if name in shares:
            raise SettingError(f"the prior of class {name!r} is given twice")
        shares[str(name)] = share
    if sum(shares.values()) > 1 + TOLERANCE:
        raise SettingError(f"the prior {shares_text(shares)} adds up to {sum(shares.values()):g}, which is above 1")
    return shares


def _pairs(text: str) -> list[tuple[str, str]]:
    """The names and shares of ``a=x, b=y``; none where a part is not of that form."""
    pairs: list[tuple[str, str]] = []
    parts: list[str] = []  # of a pair whose name has commas
    for part in text.split(","):
        parts.append(part)
        if "=" in part:
            name, _, share = (word.strip() for word in ",".join(parts).rpartition("="))
            if not name or not share:
                return []
            pairs.append((name, share))
            parts = []
    return [] if "".join(parts).strip() else pairs


def shares_text(shares: Mapping[str, float]) -> str:
    """``fraud=0.02, ok=0.98``: what :func:`parse_shares` reads."""
    return ", ".join(f"{name}={share:.12g}" for name, share in shares.items())


def class_shares(shares: Mapping[str, float], class_names: Sequence[str]) -> np.ndarray:
    """π, (C,), NaN for classes without a stated share; unknown classes and impossible sums are refused."""
    for name in shares:
        if name not in class_names:
            raise SettingError(unknown("class in the prior", name, class_names))
    total = sum(shares.values())
    if len(shares) == len(class_names) and abs(total - 1) > TOLERANCE:
        raise SettingError(f"the prior {shares_text(shares)} names every class, but adds up to {total:g}, not 1")
    if len(shares) < len(class_names) and total > 1 - TOLERANCE:
        raise SettingError(f"the prior {shares_text(shares)} leaves nothing for the other classes")
    return np.array([shares.get(name, np.nan) for name in class_names])


def prior_shift(logits: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """b, (C,), with 1/N Σ_u softmax(z_u + b)_c = π_c for every stated class c, and b_c = 0 for the others.

    ``logits`` are z, (N, C), and ``shares`` are π, (C,), NaN where not stated: such classes keep their odds among each
    other. b minimises 1/N Σ_u log Σ_c exp(z_uc + b_c) - Σ_c π_c b_c, which is convex, so b is unique; where all classes
    are stated the first b is 0.
    """
    z = np.asarray(logits, dtype=np.float64)
    free = np.flatnonzero(np.isfinite(shares))
    if free.size == shares.size:
        free = free[1:]
    target = shares[free]

    def moments(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        shifted = z.copy()
        shifted[:, free] += values
        top = shifted.max(axis=1)
        p = softmax(shifted)[:, free]
        log_sum = top + np.log(np.exp(shifted - top[:, None]).sum(axis=1))
        return p, p.mean(axis=0), float(log_sum.mean() - target @ values)

    def hessian(values: np.ndarray) -> np.ndarray:
        p, mean, _ = moments(values)
        return np.diag(mean) - p.T @ p / p.shape[0]

    start = np.log(target / np.maximum(softmax(z)[:, free].mean(axis=0), 1e-12))
    from scipy.optimize import minimize  # slow to import

    found = minimize(
        lambda v: (lambda m: (m[2], m[1] - target))(moments(v)),
        start,
        jac=True,
        hess=hessian,
        method="trust-exact",
        options={"gtol": 1e-9, "maxiter": 500},
    )
    shift = np.zeros(shares.size)
    shift[free] = found.x
    return shift


def fit_temperature_under_prior(
    logits: np.ndarray, shares: np.ndarray, held_out: np.ndarray, labels: np.ndarray
) -> float:
    """T = argmin_T Σ_i v_i CE(y_i, softmax(o_i / T + b)) + (log T)² / 2σ², b = prior_shift(z / T, π), σ = 0.7.

    ``logits`` are z, (N, C), of the nodes that ``shares`` π is stated for; ``held_out`` are o, (M, C), the out-of-fold
    logits of the ``labels`` y, (M,), NaN where there are none. Labels are weighted by v_c = π_c / (M_c / M), so that
    they stand for those nodes: with π_fraud = 0.02 the temperature is that of nodes of which 2 % are fraud. Classes of
    which no share is stated have the mean probability that b gives them.
    """
    known = np.isfinite(held_out).all(axis=1)
    o, y = held_out[known].astype(np.float64), labels[known]
    z = np.asarray(logits[:: -(-len(logits) // MAX_NODES)], dtype=np.float64)
    counted = np.bincount(y, minlength=shares.size) / max(y.size, 1)

    def loss(log_t: float) -> float:
        t = np.exp(log_t)
        b = prior_shift(z / t, shares)
        weights = softmax(z / t + b).mean(axis=0) / np.maximum(counted, 1 / max(y.size, 1))
        log_p = log_softmax(o / t + b)[np.arange(y.size), y]
        return float(-(weights[y] * log_p).sum() + log_t**2 / (2 * PRIOR_STD**2))

    bound = np.log(MOST_TEMPERATURE)
    from scipy.optimize import minimize_scalar  # slow to import

    return float(np.exp(minimize_scalar(loss, bounds=(-bound, bound), method="bounded", options={"xatol": 0.01}).x))
