"""One place sets the threads of every library."""

import os
import subprocess
import sys
from pathlib import Path

import joblib
import pytest
import torch
from threadpoolctl import threadpool_info

import drgst
from drgst import threads
from drgst.graph.core import Graph
from drgst.selftrain.callbacks import Callback
from drgst.threads import default_threads, limit_threads

PRINT = "from threadpoolctl import threadpool_info as i; print({pool['num_threads'] for pool in i()})"


def pools() -> dict[str, int]:
    """Library -> its threads."""
    return {pool["filepath"]: pool["num_threads"] for pool in threadpool_info()}


def openmp_threads() -> set[int]:
    """The numbers of threads of OpenMP libraries."""
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "openmp"}


def own_threads_of_blas() -> set[int]:
    """The numbers of threads of BLAS libraries that do not use those of OpenMP."""
    return {pool["num_threads"] for pool in threadpool_info() if pool.get("threading_layer") == "pthreads"}


@pytest.mark.parametrize(("entries", "count"), [(1_999_999, 1), (2_000_000, 2), (20_000_000, 4)])
def test_the_number_grows_with_the_graph(entries: int, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joblib, "cpu_count", lambda: 64)
    assert default_threads(entries) == count
    monkeypatch.setattr(joblib, "cpu_count", lambda: 1)
    assert default_threads(entries) == 1


def test_all_pools_are_limited_and_restored() -> None:
    pytest.importorskip("faiss")  # has an OpenMP library, and a BLAS that limits it
    before, of_torch = pools(), torch.get_num_threads()
    with limit_threads(3):
        assert openmp_threads() == {3}
        assert own_threads_of_blas() == {1}, "threads of BLAS wait actively, on a busy machine for very long"
        assert torch.get_num_threads() == 3
        with limit_threads(1):
            assert set(pools().values()) == {1}
        assert openmp_threads() == {3}
    with pytest.raises(KeyError), limit_threads(3):
        raise KeyError
    assert pools() == before
    assert torch.get_num_threads() == of_torch


def test_a_fit_uses_one_thread_on_a_small_graph(cora: Graph) -> None:
    found: list[set[int]] = []

    class Watch(Callback):
        def stage(self, history: object) -> None:
            found.append(set(pools().values()))

    before = pools()
    drgst.SelfTraining("label-propagation").fit(cora, drgst.per_class_split(cora, 3, seed=0), callback=Watch())
    assert found
    assert all(counts == {1} for counts in found)
    assert pools() == before


def test_a_command_starts_with_one_thread() -> None:
    """Also in libraries that are loaded later; if it has more, those that wait sleep."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OMP_")}
    program = f"from drgst.threads import start_with_one_thread as s; s(); import torch, scipy.linalg; {PRINT}"
    program += "; import os; print(os.environ['OMP_WAIT_POLICY'])"
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "{1}\nPASSIVE\n"


def _printed(program: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name not in threads.VARIABLES}
    return subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    ).stdout


def test_a_library_that_is_loaded_inside_is_limited_and_restored() -> None:
    """torch is loaded late, where a recipe needs it."""
    program = (
        "import os, sys; from drgst.threads import available_processors, limit_threads\n"
        "with limit_threads(1):\n    import torch; print(torch.get_num_threads())\n"
        "print(torch.get_num_threads() == available_processors(), 'OMP_NUM_THREADS' in os.environ)"
    )
    assert _printed(program).split() == ["1", "True", "False"]


def test_a_run_of_drgst_plus_imports_only_what_it_needs(tmp_path: Path) -> None:
    """torch takes a second to import, a third of a run on Cora; pyarrow and scikit-learn take a tenth each."""
    program = (
        "import sys; from drgst.cli import _run\n"
        f"_run('run cora --recipe drgst-plus --set stages=0 --json --out {tmp_path}/r'.split())\n"
        "print([name for name in ('torch', 'pyarrow', 'sklearn', 'pandas', 'joblib') if name in sys.modules])"
    )
    assert _printed(program).splitlines()[-1] == "[]"
