"""Damaged models: any change of ``model.json`` or of a tensor gives predictions or one sentence."""

import json
import shutil
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

import drgst
from drgst.selftrain.views.ensemble import SHARE, fitted_weights

CHECKS = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
SHORT = settings(max_examples=40, deadline=None, derandomize=True, database=None, suppress_health_check=CHECKS)
LONG = settings(SHORT, max_examples=1500, derandomize=False)
RECIPES = ("gcn", "drgst-plus", "label-propagation")
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.sampled_from([-1, 0, 3, 2**31, "gat", "none", "payload:Net", "cuda", "meta"]),
    st.floats(),
    st.text(max_size=5),
    st.lists(st.text(max_size=2), max_size=3),
    st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
)
TYPES = (torch.float16, torch.float64, torch.int8, torch.int64, torch.bool, torch.bfloat16, torch.uint8)


@pytest.fixture(scope="module")
def graph() -> drgst.Graph:
    made = drgst.block_model(40, 120, seed=0, classes=3, features=8, words=4)
    return made.with_(splits=(drgst.random_split(made, per_class=3, val=8, test=12, seed=0),))


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory, graph: drgst.Graph) -> Path:
    folder = tmp_path_factory.mktemp("models")
    for recipe in RECIPES:
        changes = {"epochs": 3} if recipe == "gcn" else None
        drgst.SelfTraining(recipe, changes).fit(graph, progress=False).save(str(folder / recipe))
    return folder


def check_facts(models: Path, tmp_path: Path, graph: drgst.Graph, recipe: str, where: float, value: Any) -> None:
    folder = _copied(models / recipe, tmp_path)
    facts = json.loads((folder / "model.json").read_text())
    places = [(facts, key) for key in facts] + [(facts["settings"], key) for key in facts["settings"]]
    owner, key = places[int(where * len(places))]
    owner[key] = value
    (folder / "model.json").write_text(json.dumps(facts))
    _predicts_or_says_why(folder, graph)


def check_tensors(models: Path, tmp_path: Path, graph: drgst.Graph, recipe: str, where: float, how: int) -> None:
    folder = _copied(models / recipe, tmp_path)
    tensors = load_file(folder / "model.safetensors")
    name = sorted(tensors)[int(where * len(tensors))]
    old = tensors.pop(name)
    if how < len(TYPES):
        tensors[name] = old.to(TYPES[how])
    elif how < len(TYPES) + 5:
        raw = np.random.default_rng(how).integers(0, 256, old.numel() * old.element_size(), dtype=np.uint8)
        shapes = (old.flatten(), old[None], old.new_zeros(0), old.T.contiguous() if old.ndim == 2 else old[..., None])
        random = torch.from_numpy(raw).view(old.dtype).reshape(old.shape) if old.numel() and old.ndim else old
        tensors[name] = (*shapes, random)[how - len(TYPES)]
    save_file(tensors, folder / "model.safetensors")
    _predicts_or_says_why(folder, graph)


@pytest.mark.parametrize("value", [np.ones(3), np.ones((2, 2))])
def test_a_weight_of_a_view_is_a_number(value: np.ndarray) -> None:
    with pytest.raises(drgst.DrgstError, match="the weight of the view 'hops' is not a number"):
        fitted_weights({f"hops{SHARE}": value})


@pytest.mark.parametrize("value", [-5.0, 0.7, float("nan")])
def test_probabilities_of_a_model_are_probabilities(models: Path, tmp_path: Path, value: float) -> None:
    folder = _copied(models / "gcn", tmp_path)
    tensors = load_file(folder / "model.safetensors")
    tensors["fitted.probabilities"][3] = value
    save_file(tensors, folder / "model.safetensors")
    with pytest.raises(drgst.DrgstError, match="its probabilities hold"):
        drgst.load_model(str(folder))


def test_a_class_name_of_a_model_is_short(models: Path, tmp_path: Path) -> None:
    folder = _copied(models / "gcn", tmp_path)
    facts = json.loads((folder / "model.json").read_text())
    facts["class_names"][0] *= 10**6
    (folder / "model.json").write_text(json.dumps(facts))
    with pytest.raises(drgst.DrgstError, match=r"class_names.*at most 10000 characters"):
        drgst.load_model(str(folder))


def _copied(source: Path, tmp_path: Path) -> Path:
    shutil.rmtree(tmp_path / "model", ignore_errors=True)
    return Path(shutil.copytree(source, tmp_path / "model"))


def _predicts_or_says_why(folder: Path, graph: drgst.Graph) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        message, probabilities = "", np.zeros((graph.num_nodes, 3))
        try:
            probabilities = drgst.load_model(str(folder)).predict_proba(graph)
        except drgst.DrgstError as error:
            message = str(error)
    assert "\n" not in message
    assert probabilities.shape == (graph.num_nodes, 3)
    assert np.isfinite(probabilities).all()


places = st.floats(0, 1, exclude_max=True)
each_fact = given(recipe=st.sampled_from(RECIPES), where=places, value=VALUES)
each_tensor = given(recipe=st.sampled_from(RECIPES), where=places, how=st.integers(0, len(TYPES) + 5))
test_facts = SHORT(each_fact(check_facts))
test_tensors = SHORT(each_tensor(check_tensors))
test_facts_long = pytest.mark.slow(LONG(each_fact(check_facts)))
test_tensors_long = pytest.mark.slow(LONG(each_tensor(check_tensors)))
