"""Every recipe can be resumed after its first stage, bit-identical, and its model can be loaded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import drgst
from drgst.datasets.synthetic import block_model
from drgst.graph.core import Graph
from drgst.graph.split import random_split
from drgst.recipes import find_recipe, recipe_names
from drgst.runs.config import RunConfig
from drgst.runs.folder import RunFolder
from drgst.runs.run import Run

QUICK = {"epochs": 12, "lr": 0.05, "stages": 3, "samples": 5, "hidden": 8, "threshold": 0.5, "normalise": "none"}


def village() -> Graph:
    """150 nodes of 9 classes: sums over more than 8 numbers show their order in the last bit."""
    graph = block_model(150, 450, seed=1, classes=9, features=36, homophily=0.8, signal=0.4)
    return graph.with_(name="village", splits=(random_split(graph, per_class=4, val=30, test=30, seed=0),))


@pytest.mark.slow
@pytest.mark.parametrize("recipe", recipe_names())
def test_every_recipe_resumes(recipe: str, tmp_path: Path) -> None:
    """Run; remove the summary and all stages but the first; resume; compare."""
    graph = village()
    settings = find_recipe(recipe).readable(QUICK)
    run = Run.from_config(RunConfig(data="village", recipe=recipe, settings=settings, threads=1), lambda _: graph)
    folder = RunFolder(tmp_path / "run")
    run.execute(folder=folder)
    names = ("predictions.csv", "model.safetensors", "model.json")
    before = {name: (folder / name).read_bytes() for name in names}
    for path in (folder / "summary.json", *folder.stage_files()[1:]):
        path.unlink()
    Run.from_config(folder.config(), lambda _: graph).execute(folder=folder, resume=True)
    assert {name: (folder / name).read_bytes() for name in names} == before
    model = drgst.load_model(str(folder))
    assert model.predict().shape == (150,)
    assert np.isfinite(model.predict_proba(graph)).all()
