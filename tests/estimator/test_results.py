"""What a fitted estimator shows (data frames, network, card, figures), cross-validation, and pseudo-labels for PyG."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from torch_geometric.nn.models import GCN
from torch_geometric.transforms import Compose, ToUndirected

import drgst
from drgst.errors import GraphError, RunError, SettingError, SplitError
from drgst.estimator.display import MOST_CLASSES, class_shares
from drgst.estimator.pseudo_label import PseudoLabel
from drgst.graph.core import Graph
from drgst.runs.config import RunConfig
from drgst.runs.folder import RunFolder
from drgst.runs.run import Run
from drgst.selftrain.recipe import Recipe
from drgst.selftrain.slots.select import Threshold


@pytest.fixture(scope="module")
def graph() -> Graph:
    graph = drgst.block_model(90, 250, classes=3, features=30, words=8, signal=0.8, seed=1)
    named = graph.with_(class_names=("ant", "<b>bee</b>", "cat"), node_ids=np.array([f"n{k}" for k in range(90)]))
    return named.with_(splits=(drgst.random_split(graph, per_class=4, val=15, test=40, seed=0),))


@pytest.fixture(scope="module")
def model(graph: Graph) -> drgst.SelfTraining:
    settings: dict[str, Any] = {"epochs": 40, "samples": 3, "threshold": 0.4, "lr": 0.03, "stages": 1, "keep": "last"}
    return drgst.SelfTraining("drgst-de", settings, backbone=GCN).fit(graph)


def test_data_frames(model: drgst.SelfTraining, graph: Graph) -> None:
    history = model.history_.to_frame()
    assert list(history.index) == [0, 1]
    assert history.loc[1, "pseudo_labelled"] == model.history_[1].pseudo_labels.nodes.size
    frame = model.predictions()
    assert list(frame.index) == graph.node_ids.tolist()
    assert (frame["label"] == model.predict()).all()
    np.testing.assert_allclose(frame["confidence"], model.probabilities_.max(axis=1), atol=1e-6)
    np.testing.assert_allclose(frame["p:ant"], model.probabilities_[:, 0], atol=1e-6)


def test_the_fitted_network(model: drgst.SelfTraining, graph: Graph) -> None:
    """The user's own module with the weights of the result: it gives the logits of the model."""
    network = model.network()
    assert isinstance(network, GCN)
    assert not network.training
    data = drgst.to_pyg(graph)
    with torch.no_grad():
        logits = network(data.x / data.x.sum(dim=1, keepdim=True).clamp_min(1e-12), data.edge_index)
    assert (model.classes_[logits.argmax(dim=1).numpy()] == model.predict()).mean() > 0.95
    with pytest.raises(RunError, match="trains no network"):
        drgst.SelfTraining("label-propagation").fit(graph).network()


def test_the_card_escapes_names(model: drgst.SelfTraining) -> None:
    html = model._repr_mimebundle_()["text/html"]
    for words in ("test accuracy", "pseudo-labelled nodes", "stopped", "predicted classes", "&lt;b&gt;bee"):
        assert words in html
    assert "<b>bee" not in html
    assert "text/html" in drgst.DRGST()._repr_mimebundle_(), "before fit, the parameters"
    shares = class_shares(model.result_)
    assert sum(count for _, count, _ in shares) == 90
    assert len(shares) <= MOST_CLASSES + 1


@pytest.mark.parametrize("figure", ["stages", "calibration", "map"])
def test_figures(model: drgst.SelfTraining, figure: str) -> None:
    made = getattr(model.plot, figure)()
    assert made.axes[0].has_data()
    assert made._repr_png_().startswith(b"\x89PNG")


def test_short_texts(model: drgst.SelfTraining, graph: Graph) -> None:
    text = str(model.history_)
    assert text.splitlines()[0].split()[:3] == ["stage", "pseudo-labelled", "mean"]
    assert text.splitlines()[-1].startswith("stopped: ")
    assert repr(model.history_).startswith("History(2 stages, ")
    assert repr(model.history_[0]).startswith("Stage(0: teacher, validation accuracy ")
    assert repr(Recipe(select=Threshold(0.5))) == "Recipe(select=Threshold(threshold=0.5))"
    assert repr(drgst.statistics(graph)).startswith("Statistics('block-model': 90 nodes, 250 edges, mean degree 5.6, ")
    assert repr(model.result_).startswith("Result('drgst-de' on 'block-model': 90 nodes, 3 classes, ")
    assert repr(model.plot) == "Plot: stages(), calibration(), map()"
    assert repr(graph.split).startswith("Split('random-4-per-class-seed-0': train 12, val 15, test 40, pool ")


def test_reasons_and_figures_are_shown_as_tables(model: drgst.SelfTraining, graph: Graph) -> None:
    found = model.explain("n5")
    strongest = found.of_kind("neighbour")[0]
    title, header, *rows = repr(found).splitlines()
    assert title == f"n5: {found.label}, probability {found.probability:.3f}"
    assert header.split()[0] == "reason"
    assert any(row.split()[:2] == ["neighbour", strongest.name] and f"{strongest.pull:+.2f}" in row for row in rows)
    bee = next(node for node, name in zip(graph.node_ids, model.predict(), strict=True) if name == "<b>bee</b>")
    assert "<b>" not in model.explain(bee)._repr_html_()
    figures = model.evaluate()
    assert f"accuracy  {figures.figures['accuracy']}" in " ".join(repr(figures).split()).replace(
        "accuracy ", "accuracy  ", 1
    )
    assert f"<td>{figures.figures['accuracy'].value:.3f}</td>" in figures._repr_html_()


def test_suggestions(model: drgst.SelfTraining) -> None:
    """By the chooser that was measured for the recipe, which it says."""
    frame = model.suggest(5)
    assert 0 < len(frame) <= 5  # confident nodes that stand for few others are left out
    assert set(frame.index) <= set(model.graph_.node_ids[model.split_.pool].tolist())
    assert set(frame["chosen_by"]) <= {"random", "half-random"}  # 12 labels are few
    assert frame.attrs["note"].startswith("Chosen by half-random")
    frame = model.suggest(5, "typical-first")
    assert set(frame["chosen_by"]) == {"typical-first"}
    assert "that represent fewer than 5 others were left out" in frame.attrs["note"]
    assert len(model.suggest(5, "balanced")) == 5
    assert set(model.suggest(3, "margin")["chosen_by"]) == {"margin"}


def test_calibration_of_out_of_fold_labels(graph: Graph) -> None:
    """Where no other label is known."""
    labels = np.where(np.isin(np.arange(90), graph.split.train), graph.labels, -1)
    model = drgst.SelfTraining("drgst-plus", {"stages": 0}).fit(graph.with_(labels=labels, splits=()))
    title = model.plot.calibration().axes[0].get_title()
    (panel,) = model.plot.stages().axes  # no accuracy is known, so there is no empty panel for it
    assert panel.get_ylabel() == "pseudo-labels"
    assert title.startswith("12 out-of-fold labels, ECE")
    with pytest.raises(RunError, match="no test, validation or out-of-fold labels"):
        drgst.SelfTraining("label-propagation").fit(graph.with_(labels=labels, splits=())).plot.calibration()


def test_a_map_of_more_classes_than_colours() -> None:
    """Every class has its own colour and shape, and its name in the legend."""
    graph = drgst.block_model(240, 900, seed=1, classes=12, features=40)
    split = drgst.random_split(graph, per_class=3, val=0, test=0, seed=0)
    figure = drgst.SelfTraining("logistic-ppr").fit(graph, split).plot.map()
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == [*map(str, range(12)), "training node"]
    drawn = figure.axes[0].collections[:12]
    assert len({(*c.get_facecolor()[0], c.get_paths()[0].vertices.tobytes()) for c in drawn}) == 12


def test_the_default_recipe_is_that_of_the_command(graph: Graph) -> None:
    assert drgst.SelfTraining(settings={"stages": 0}).fit(graph).model_.recipe == "drgst-plus"
    cora = graph.with_(name="cora")
    assert drgst.SelfTraining(settings={"stages": 0, "epochs": 1}).fit(cora).model_.recipe == "drgst-de"


def test_a_model_of_a_run_folder_can_do_all_that_a_fitted_one_can(tmp_path: Path) -> None:
    """Labels are in one form everywhere: fitted, loaded, and in the file of predictions."""
    graph = drgst.block_model(120, 400, seed=0, classes=3, features=30, words=5).with_(
        class_names=("ant", "bee", "cat")
    )
    split = drgst.random_split(graph, per_class=5, val=0, test=0, seed=0)
    labels = np.where(np.isin(np.arange(120), split.train), graph.labels, -1)
    labels[split.train[0]] = (labels[split.train[0]] + 1) % 3  # a wrong one
    drgst.save_graph(graph.with_(labels=labels), tmp_path / "graph.npz")
    run = Run.from_config(RunConfig(data=str(tmp_path / "graph.npz"), settings={"stages": 1}))
    run.execute(folder=RunFolder(tmp_path / "run"))
    fitted = drgst.SelfTraining("drgst-plus", {"stages": 1}).fit(graph.with_(labels=labels))
    loaded = drgst.load_model(str(tmp_path / "run"))
    assert set(loaded.predict()) == {"ant", "bee", "cat"} == set(loaded.classes_)
    np.testing.assert_array_equal(loaded.predict(), fitted.predict())
    np.testing.assert_array_equal(loaded.predict(graph), loaded.predict())
    assert loaded.predictions()["label"].tolist() == pd.read_csv(tmp_path / "run" / "predictions.csv")["label"].tolist()
    assert loaded.predictions()["label"].tolist() == loaded.predict().tolist()
    review = loaded.review()
    assert review.index.tolist() == fitted.review().index.tolist()
    assert review.index[0] == split.train[0]
    truth = loaded.classes_[graph.labels].astype(object)
    truth[3:9] = None
    found = loaded.evaluate(truth)
    assert found.truth.size == 120 - 15 - (~np.isin(np.arange(3, 9), split.train)).sum()
    assert loaded.explain(5).label == loaded.predict()[5]
    assert loaded.suggest(3).shape[0] == 3
    with pytest.raises(GraphError, match="y has the label 'dog', which is not a class of the model"):
        loaded.evaluate(np.full(120, "dog"))
    fitted.save(str(tmp_path / "model"))
    with pytest.raises(RunError, match="loaded without its run"):
        drgst.load_model(str(tmp_path / "model")).review()


@pytest.fixture(scope="module")
def small() -> Graph:
    return drgst.block_model(60, 180, classes=3, features=30, words=8, signal=0.8, seed=1)


def test_each_labelled_node_is_predicted_once_without_its_label(small: Graph) -> None:
    labels = np.where(np.arange(60) < 30, small.labels, -1)
    found = drgst.cross_validate(drgst.SelfTraining("logistic-ppr"), small.with_(labels=labels), folds=3)
    assert sorted(found.nodes.tolist()) == list(range(30))
    assert found.probabilities.shape == (30, 3)
    correct = found.probabilities.argmax(axis=1) == labels[found.nodes]
    sizes = [split.test.size for split in found.splits]
    np.testing.assert_allclose(np.average(found.scores(), weights=sizes), correct.mean())
    assert correct.mean() > 0.6
    frame = found.to_frame()
    assert list(frame.index) == [1, 2, 3]
    assert frame["test_accuracy"].mean() == pytest.approx(found.scores().mean())
    assert repr(found).startswith("CrossValidation(3 folds: accuracy ")
    with pytest.raises(SettingError, match="unknown metric 'f1'"):
        found.scores("f1")


def test_folds_keep_class_shares_and_validation_nodes(small: Graph) -> None:
    split = drgst.random_split(small, per_class=6, val=10, test=12, seed=0)
    folds = drgst.fold_splits(small, 3, seed=1, split=split)
    np.testing.assert_array_equal(np.sort(np.concatenate([fold.test for fold in folds])), split.train)
    for fold in folds:
        assert (np.bincount(small.labels[fold.test]) == 2).all()
        np.testing.assert_array_equal(fold.val, split.val)
        assert np.isin(split.test, fold.pool).all()
        assert not np.isin(fold.test, fold.pool).any()
    again = drgst.fold_splits(small, 3, seed=1, split=split)
    assert all(np.array_equal(a.test, b.test) for a, b in zip(folds, again, strict=True))
    with pytest.raises(SplitError, match="folds is 1"):
        drgst.fold_splits(small, 1, split=split)


def test_pseudo_labels_in_data() -> None:
    graph = drgst.block_model(60, 180, classes=3, features=30, words=8, signal=0.8, seed=1)
    split = drgst.random_split(graph, per_class=4, val=15, test=20, seed=0)
    data = drgst.to_pyg(graph.with_(splits=(split,)))
    settings = {"epochs": 40, "samples": 3, "lr": 0.03, "threshold": 0.4, "keep": "last"}
    transform = PseudoLabel("drgst-de", settings=settings)
    made = Compose([ToUndirected(), transform])(data)
    assert "pseudo_y" not in data
    assert made.probability.shape == (60, 3)
    train = torch.from_numpy(split.train)
    assert torch.equal(made.pseudo_y[train], data.y[train])
    assert (made.pseudo_weight[train] == 1).all()
    assert torch.equal(made.pseudo_mask, made.pseudo_y >= 0)
    assert made.pseudo_mask.sum() > train.numel()
    assert (made.pseudo_weight[~made.pseudo_mask] == 0).all()
    assert not made.pseudo_mask[torch.from_numpy(split.val)].any()
    new = made.pseudo_mask.clone()
    new[train] = False
    assert (made.pseudo_y[new] == data.y[new]).float().mean() > 0.6
    assert repr(transform).startswith("PseudoLabel('drgst-de', settings={")
    assert drgst.estimator.pseudo_label.PseudoLabel is PseudoLabel
