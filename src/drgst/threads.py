"""Threads of every library that computes: BLAS of NumPy and SciPy, OpenMP of torch, scikit-learn and faiss.

The threads of a small product wait for each other longer than they compute, on a busy machine many times longer. So
the number follows the size of the work and the processors that this process may use.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager

# (entries of A and X, threads): a second thread costs more than it saves on a small graph
SIZES = ((2_000_000, 1), (20_000_000, 2), (math.inf, 4))
VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")  # read once, when a library is loaded


def default_threads(entries: int) -> int:
    """The number of threads for a graph with so many entries of A and X, at most one per available processor.

    Affinity and the CPU quota of a container limit the processors. Sums of floating-point numbers differ in the last
    bits with the number of threads, so a run records it and a resumed run keeps it.
    """
    from joblib import cpu_count

    return min(next(count for size, count in SIZES if entries < size), cpu_count())


@contextmanager
def limit_threads(count: int) -> Iterator[None]:
    """Let every loaded library use ``count`` threads inside, and restore the numbers afterwards."""
    import scipy.linalg  # noqa: F401  # loads its BLAS, so that it is limited, too
    import torch
    from threadpoolctl import threadpool_limits

    before = torch.get_num_threads()
    with threadpool_limits(count):
        torch.set_num_threads(count)
        try:
            yield
        finally:
            torch.set_num_threads(before)


def start_with_one_thread() -> None:
    """Let libraries that this process loads later start with one thread; :func:`limit_threads` can raise it."""
    for name in VARIABLES:
        os.environ.setdefault(name, "1")
