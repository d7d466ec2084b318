"""Time limits of the project: each is measured once and printed beside its limit.

DRGST_DATA=/path/to/data python benchmarks/limits.py
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")


def report(what: str, limit: float, action: Callable[[], object]) -> None:
    """Time ``action`` once and print it beside its limit."""
    began = time.perf_counter()
    action()
    seconds = time.perf_counter() - began
    print(f"{what:58s} {seconds:8.2f} s   limit {limit:5.1f} s   {'met' if seconds < limit else 'MISSED'}", flush=True)


def python(code: str) -> Callable[[], object]:
    """An action in a fresh interpreter."""
    return lambda: subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    """Measure everything that takes less than a few minutes."""
    import drgst
    from drgst.transforms.knn import knn_adjacency

    with tempfile.TemporaryDirectory() as cache:
        os.environ["XDG_CACHE_HOME"] = cache
        help_text = python("from drgst.cli import main; main(['--help'])")
        help_text()
        report("drgst --help, warm", 1.5, help_text)
        report("Flickr, first load (182 MB of text)", 30, lambda: drgst.load("flickr"))
        report("Flickr, next load", 1, lambda: drgst.load("flickr"))
        flickr = drgst.load("flickr")
        report("Flickr, 10 nearest neighbours", 15, lambda: knn_adjacency(flickr.features, 10))
        report("block model, 1,000,000 nodes and 10,000,000 edges", 60, lambda: drgst.block_model(10**6, 10**7, seed=0))
        run = Path(cache) / "run"
        command = [str(Path(sys.executable).with_name("drgst"))]
        report(
            "drgst run on Cora, 3 labels per class",
            60,
            lambda: subprocess.run([*command, "run", "--out", str(run)], check=True, capture_output=True),
        )
        report(
            "drgst report of that run",
            30,
            lambda: subprocess.run([*command, "report", str(run)], check=True, capture_output=True),
        )


if __name__ == "__main__":
    main()
