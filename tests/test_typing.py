"""Types for client code: the names of the package, and a program that mypy checks strictly."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import drgst

ROOT = Path(__file__).parents[1]
CLIENT = """
import numpy as np

import drgst
from drgst import Callback, Graph, Split
from drgst.lab import Results


class Count(Callback):
    def __init__(self) -> None:
        self.epochs = 0

    def epoch(self, epoch: int, train_loss: float, val_loss: float) -> None:
        self.epochs += 1


def accuracy(graph: Graph, split: Split) -> float:
    counter = Count()
    model = drgst.DRGST(gain="dropedge", epochs=10).fit(graph, split, callback=counter)
    labels: np.ndarray = model.predict()
    print(labels.shape, counter.epochs, model.history_.stop_reason)
    return model.score(graph, split.test)


def compare(graph: Graph) -> str:
    results: Results = drgst.lab.bench([graph], ["gcn", "drgst-de"], 3, draws=2)
    return results.table("latex")


graph = drgst.load("cora")
print(accuracy(graph, drgst.per_class_split(graph, 3, seed=0)), compare(graph))
"""


def test_type_checkers_see_the_same_names() -> None:
    tree = ast.parse((ROOT / "src" / "drgst" / "__init__.py").read_text(encoding="utf-8"))
    blocks = [node for node in tree.body if isinstance(node, ast.If)]
    names = {alias.asname for node in blocks[0].body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert names | {"__version__"} == set(drgst.__all__)
    for name in drgst.__all__:
        assert getattr(drgst, name) is not None


@pytest.mark.slow
def test_a_client_program_is_strictly_typed(tmp_path: Path) -> None:
    (tmp_path / "client.py").write_text(CLIENT)
    untyped = ",".join(f"{name}.*" for name in ("scipy", "pandas", "networkx", "sklearn", "torch_geometric", "pyarrow"))
    (tmp_path / "mypy.ini").write_text(f"[mypy]\n[mypy-{untyped}]\nignore_missing_imports = true\n")

    def checked(program: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / "client.py").write_text(program)
        command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "client.py"]
        environment = {**os.environ, "MYPYPATH": str(ROOT / "src")}
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    done = checked(CLIENT)
    assert done.returncode == 0, done.stdout + done.stderr
    wrong = checked(CLIENT.replace('results.table("latex")', "results.table(7)"))
    assert 'incompatible type "int"; expected "str"' in wrong.stdout, "the types of drgst are read"
