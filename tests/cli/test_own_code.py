"""Recipes and networks of one's own on the command line, by import path, and logs of a run."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Call = Callable[..., tuple[int, str, str]]
QUICK = ("--set", "epochs=5")
MODULE = '''
import torch
from drgst.selftrain.parts import MaxStages, Threshold
from drgst.selftrain.recipe import Recipe


def make(settings):
    """Self-training above a threshold."""
    return Recipe(select=Threshold(settings.threshold), stop=(MaxStages(1),))


class Net(torch.nn.Module):
    def __init__(self, features, classes):
        super().__init__()
        self.layer = torch.nn.Linear(features, classes)

    def forward(self, x, edge_index):
        h = self.layer(x)
        return h.index_add(0, edge_index[1], h[edge_index[0]])
'''


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module in the working folder."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "code_of_mine", raising=False)
    (tmp_path / "code_of_mine.py").write_text(MODULE)
    return "code_of_mine"


def test_bench_with_a_recipe_of_the_working_folder(tiny: Path, code: str, call: Call) -> None:
    grid = ("--datasets", tiny, "--per-class", 3, "--recipes", f"gcn,{code}:make", "--draws", 2, "--jobs", 2)
    done, out, err = call("lab", "bench", *grid, *QUICK, "--json")
    assert done == 0, err
    assert {cell["recipe"] for cell in json.loads(out.splitlines()[-1])["cells"]} == {"gcn", f"{code}:make"}


def test_run_and_predict_with_a_recipe_and_a_network_of_the_working_folder(tiny: Path, code: str, call: Call) -> None:
    words = ("run", tiny, "--recipe", f"{code}:make", "--per-class", 3, *QUICK, f"backbone={code}:Net")
    done, _, err = call(*words, "--out", "mine", "--log", "csv", "--log", "tensorboard")
    assert done == 0, err
    assert Path("mine/log.csv").read_text().startswith("kind,step,name,value\nrun,0,dataset,tiny\n")
    assert list(Path("mine/tensorboard").glob("events.out.tfevents.*"))
    done, _, err = call("predict", "mine", tiny)
    assert done == 0, err
    assert call(*words)[0] == 0
    assert Path(f"runs/tiny-{code}-make-3-seed0/summary.json").is_file()


def test_unknown_logs_are_refused_before_the_run(tiny: Path, call: Call) -> None:
    done, _, err = call("run", tiny, "--per-class", 3, "--out", "x", "--log", "csvs")
    assert done == 2
    assert "unknown log 'csvs'; did you mean 'csv'" in err
    assert not Path("x").exists()
