"""Threads of every library that computes: BLAS of NumPy and SciPy, OpenMP of torch, scikit-learn and faiss.

The threads of a small product wait for each other longer than they compute, on a busy machine many times longer. So
the number follows the size of the work and the processors that this process may use. BLAS always has one thread: its
threads wait actively, and its matrices are small or blocks that threads of our own work on.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

# (entries of A and X, threads): a second thread costs more than it saves on a small graph
SIZES = ((2_000_000, 1), (20_000_000, 2), (math.inf, 4))
VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")  # read once, when a library is loaded


def default_threads(entries: int) -> int:
    """The number of threads for a graph with so many entries of A and X, at most one per available processor.

    Sums of floating-point numbers differ in the last bits with the number of threads, so a run records it and a resumed
    run keeps it.
    """
    wanted = next(count for size, count in SIZES if entries < size)
    if wanted == 1:
        return 1
    return min(wanted, available_processors())


def available_processors() -> int:
    """The processors that this process may use, by affinity and the CPU quota of its container."""
    from joblib import cpu_count

    return int(cpu_count())


@contextmanager
def limit_threads(count: int) -> Iterator[None]:
    """Let every library use ``count`` threads inside, BLAS one, and restore the numbers afterwards.

    A library that is loaded inside reads the variables of the environment, and has its own default afterwards.
    """
    import scipy.linalg  # noqa: F401  # loads its BLAS, so that it is limited, too
    from threadpoolctl import threadpool_info, threadpool_limits

    loaded = {pool["filepath"] for pool in threadpool_info()}
    torch = sys.modules.get("torch")
    before = None if torch is None else torch.get_num_threads()
    variables = {name: os.environ.get(name) for name in VARIABLES}
    os.environ.update(dict.fromkeys(VARIABLES, str(count)))
    try:
        with threadpool_limits(count, "openmp"), threadpool_limits(1, "blas"):
            threadpool_limits(count, "openmp")  # again: the BLAS of faiss limits the OpenMP threads of faiss, too
            if torch is not None:
                torch.set_num_threads(count)
            yield
    finally:
        for name, value in variables.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
        _restore(loaded, before)


def _restore(loaded: set[str], torch_threads: int | None) -> None:
    """Give torch its number of threads again, and libraries that were not ``loaded`` before their default."""
    from threadpoolctl import ThreadpoolController

    new = [library for library in ThreadpoolController().lib_controllers if library.filepath not in loaded]
    torch = sys.modules.get("torch")
    if torch is not None and torch_threads is not None:
        torch.set_num_threads(torch_threads)
    if not new:
        return
    default = int(os.environ.get(VARIABLES[0]) or available_processors())
    for library in new:
        library.set_num_threads(default)
    if torch is not None and torch_threads is None:
        torch.set_num_threads(default)


def start_with_one_thread() -> None:
    """Let libraries that this process loads later start with one thread; :func:`limit_threads` can raise it.

    Threads that wait sleep: where others use the processors, those that spin took half as long again.
    """
    for name in VARIABLES:
        os.environ.setdefault(name, "1")
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
