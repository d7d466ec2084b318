"""Cross-validation on one graph."""

from __future__ import annotations

import numpy as np
import pytest

import drgst
from drgst.errors import SettingError, SplitError
from drgst.graph.core import Graph


@pytest.fixture(scope="module")
def graph() -> Graph:
    return drgst.block_model(60, 180, classes=3, features=30, words=8, signal=0.8, seed=1)


def test_each_labelled_node_is_predicted_once_without_its_label(graph: Graph) -> None:
    labels = np.where(np.arange(60) < 30, graph.labels, -1)
    found = drgst.cross_validate(drgst.SelfTraining("logistic-ppr"), graph.with_(labels=labels), folds=3)
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


def test_folds_keep_class_shares_and_validation_nodes(graph: Graph) -> None:
    split = drgst.random_split(graph, per_class=6, val=10, test=12, seed=0)
    folds = drgst.fold_splits(graph, 3, seed=1, split=split)
    np.testing.assert_array_equal(np.sort(np.concatenate([fold.test for fold in folds])), split.train)
    for fold in folds:
        assert (np.bincount(graph.labels[fold.test]) == 2).all()
        np.testing.assert_array_equal(fold.val, split.val)
        assert np.isin(split.test, fold.pool).all()
        assert not np.isin(fold.test, fold.pool).any()
    again = drgst.fold_splits(graph, 3, seed=1, split=split)
    assert all(np.array_equal(a.test, b.test) for a, b in zip(folds, again, strict=True))
    with pytest.raises(SplitError, match="folds is 1"):
        drgst.fold_splits(graph, 1, split=split)
