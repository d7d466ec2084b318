"""Recipes and networks of one's own on the command line, by import path, and logs of a run."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import drgst
from drgst import extras

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
def code(tmp_path: Path) -> Iterator[str]:
    """A module in the working folder, which is not on ``sys.path``."""
    (tmp_path / "code_of_mine.py").write_text(MODULE)
    yield "code_of_mine"
    sys.modules.pop("code_of_mine", None)
    extras.OWN_FILES.clear()


def test_bench_with_a_recipe_of_the_working_folder(tiny: Path, code: str, call: Any) -> None:
    """Also in the processes of the bench."""
    grid = ("--datasets", tiny, "--per-class", 3, "--recipes", f"gcn,{code}:make", "--draws", 2, "--jobs", 2)
    done, out, err = call("lab", "bench", *grid, *QUICK, "--json")
    assert done == 0, err
    assert {cell["recipe"] for cell in json.loads(out.splitlines()[-1])["cells"]} == {"gcn", f"{code}:make"}


def test_run_and_predict_with_a_recipe_and_a_network_of_the_working_folder(
    ok: Any, tiny: Path, code: str, call: Any
) -> None:
    options = ("--recipe", f"{code}:make", "--per-class", 3, *QUICK, "--set", f"backbone={code}:Net")
    done, _, err = call("run", tiny, *options, "--out", "mine", "--log", "csv", "--log", "tensorboard")
    assert done == 0, err
    assert Path("mine/log.csv").read_text().startswith("kind,step,name,value\nrun,0,dataset,tiny\n")
    assert list(Path("mine/tensorboard").glob("events.out.tfevents.*"))
    done, _, err = call("predict", "mine", tiny)  # the module is loaded
    assert done == 0, err
    ok("recipes", "show", f"{code}:make")
    ok("run", tiny, *options)
    assert Path(f"runs/tiny-{code}-make-3-seed0/summary.json").is_file()
    del sys.modules[code]
    done, _, err = call("predict", "mine", tiny)  # a model does not load code from the working folder
    assert done == 2
    assert "names the code 'code_of_mine:make', and code that a file names is not imported" in err
    for again in (("--import", code, "predict", "mine", tiny), ("predict", "mine", tiny, "--backbone", f"{code}:Net")):
        sys.modules.pop(code, None)
        ok(*again)


PAYLOAD = "open('executed', 'w').close()\n" + MODULE


@pytest.mark.parametrize("key", ["backbone", "settings", "recipe", "config"])
def test_a_file_never_imports_code(
    refused: Any, ok: Any, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    """Whatever a model or a config of somebody else names; the refusal says how to name it oneself."""
    ok("run", tiny, "--recipe", "gcn", "--per-class", 3, *QUICK, "--out", "r")
    (tmp_path / "payload.py").write_text(PAYLOAD)
    monkeypatch.syspath_prepend(tmp_path)
    config, facts = Path("r/config.toml").read_text(), json.loads(Path("r/model.json").read_text())
    for name in ("payload:Net", "payload:make", "antigravity:Net", "venv.__main__:x"):
        if key == "config":
            Path("c.toml").write_text(config.replace('recipe = "gcn"', f'recipe = "{name}"'))
            err = refused("run", "--config", "c.toml", "--out", "other")
        else:
            changed = json.loads(json.dumps(facts))
            (changed["settings"] if key == "settings" else changed)["recipe" if key == "recipe" else "backbone"] = name
            Path("r/model.json").write_text(json.dumps(changed))
            err = refused("predict", "r", tiny)
        assert f"{name!r}, and code that a file names is not imported; name it yourself: " in err
        assert not Path("executed").exists()
        assert name.partition(":")[0] not in sys.modules


def test_no_other_module_is_imported_from_the_working_folder(tmp_path: Path) -> None:
    """Neither an optional dependency nor a module of the standard library, by either way to start the command."""
    for name in ("tensorboard", "openTSNE", "csv", "typer"):
        (tmp_path / f"{name}.py").write_text("open('imported', 'w').close()")
    environment = {**os.environ, "PYTHONPATH": str(Path(drgst.__file__).parents[1])}
    for start in ([sys.executable, "-m", "drgst"], [str(Path(sys.executable).parent / "drgst")]):
        words = [*start, "run", "--set", "epochs=1,samples=1", "--log", "tensorboard", "--out", start[-1][-3:]]
        subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, check=False)
        assert not (tmp_path / "imported").exists()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("..:x", "recipe '..:x' is not of the form module:name"),
        (".a:b", "recipe '.a:b' is not of the form module:name"),
        ("a/b:c", "recipe 'a/b:c' is not of the form module:name"),
        (":make", "recipe ':make' is not of the form module:name"),
        ("broken:make", "recipe 'broken:make' can't be imported: SyntaxError: "),
        ("absent:make", "recipe 'absent:make' can't be imported: No module named 'absent'"),
        ("json:make", "recipe 'json:make' can't be imported: AttributeError: "),
    ],
)
def test_names_that_can_not_be_imported_are_one_sentence(refused: Any, name: str, words: str) -> None:
    Path("broken.py").write_text("def make(:\n")
    assert words in refused("run", "--recipe", name)


def test_unknown_logs_are_refused_before_the_run(tiny: Path, call: Any) -> None:
    done, _, err = call("run", tiny, "--per-class", 3, "--out", "x", "--log", "csvs")
    assert done == 2
    assert "unknown log 'csvs'; did you mean 'csv'" in err
    assert not Path("x").exists()
