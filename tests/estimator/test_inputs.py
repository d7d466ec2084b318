"""What fit takes: NetworkX, SciPy, pandas, arrays."""

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
from sklearn.base import clone, is_classifier
from sklearn.utils.estimator_checks import check_estimator

import drgst
from drgst.errors import DrgstError, DrgstWarning, GraphError
from drgst.estimator import EXPECTED_FAILED_CHECKS
from drgst.graph.core import Graph

QUICK: dict[str, Any] = {"epochs": 40, "hidden": 8, "lr": 0.03}
LINEAR = "logistic-ppr"


@pytest.fixture(scope="module")
def graph() -> Graph:
    """Three blocks of 20 nodes; four labels per class are known."""
    graph = drgst.block_model(60, 180, classes=3, features=30, words=8, signal=0.8, seed=1)
    return graph.with_(node_ids=np.array([f"n{k}" for k in range(60)]), class_names=("ant", "bee", "cat"))


@pytest.fixture(scope="module")
def known(graph: Graph) -> np.ndarray:
    """Class indices, -1 for all but the first four of each class."""
    rank = np.array([(graph.labels[:k] == graph.labels[k]).sum() for k in range(60)])
    return np.where(rank < 4, graph.labels, -1)


def test_a_networkx_graph(graph: Graph, known: np.ndarray) -> None:
    source = drgst.to_networkx(graph.with_(labels=known))
    assert isinstance(source, nx.Graph)
    model = drgst.SelfTraining(LINEAR).fit(source)
    assert list(model.classes_) == ["ant", "bee", "cat"]
    assert (model.predict() == model.classes_[graph.labels]).mean() > 0.7
    nx.set_node_attributes(source, nx.get_node_attributes(source, "label"), "kind")
    named = drgst.SelfTraining(LINEAR).fit(source, "kind")
    np.testing.assert_array_equal(named.probabilities_, model.probabilities_)
    with pytest.raises(GraphError, match=r"attribute 'club' \(those of its nodes: .*'kind'\)"):
        drgst.SelfTraining(LINEAR).fit(source, "club")
    bare = drgst.to_networkx(graph.with_(labels=np.full(60, -1)))
    np.testing.assert_allclose(model.predict_proba(bare), model.probabilities_, atol=1e-6)
    assert model.score(drgst.to_networkx(graph)) == pytest.approx(
        (model.predict() == model.classes_[graph.labels]).mean()
    )


def test_a_scipy_adjacency_with_labels(graph: Graph, known: np.ndarray) -> None:
    model = drgst.SelfTraining("label-propagation").fit(graph.adjacency, known)
    assert model.predict().shape == (60,)
    assert (model.predict() == graph.labels).mean() > 0.5
    with pytest.raises(GraphError, match="a SciPy adjacency has no labels"):
        drgst.SelfTraining("label-propagation").fit(graph.adjacency)


def test_arrays_as_in_scikit_learn(graph: Graph, known: np.ndarray, tmp_path: Path) -> None:
    """Labels of y come back, from a saved model, too; the graph form gives the same probabilities."""
    names = np.array(["ant", "bee", "cat"])
    text = np.where(known < 0, "-1", names[known])
    for x in (graph.features, graph.features.toarray()):
        by_number = drgst.SelfTraining(LINEAR).fit(x, known * 10, adjacency=graph.adjacency)  # -10 is a class here
        assert list(by_number.classes_) == [-10, 0, 10, 20]
    model = drgst.SelfTraining(LINEAR).fit(graph.features, text, adjacency=graph.adjacency)
    assert list(model.classes_) == ["ant", "bee", "cat"]
    assert set(model.predict()) <= set(names)
    assert model.n_features_in_ == 30
    as_graph = drgst.SelfTraining(LINEAR).fit(graph.with_(labels=known))
    np.testing.assert_allclose(model.probabilities_, as_graph.probabilities_, atol=1e-6)
    again = model.predict_proba(graph.features, adjacency=graph.adjacency)
    np.testing.assert_allclose(again, model.probabilities_, atol=1e-6)
    score = model.score(graph.features, names[graph.labels], adjacency=graph.adjacency)
    assert score == pytest.approx((model.predict() == names[graph.labels]).mean())
    assert score > 0.7
    half = model.score(graph.features, text, adjacency=graph.adjacency)
    folder = str(tmp_path / "model")
    model.save(folder)
    loaded = drgst.load_model(folder)
    assert (loaded.predict(graph.features, adjacency=graph.adjacency) == model.predict()).all()
    by_number.save(folder)
    assert drgst.load_model(folder).predict().dtype.kind == "i"
    assert (drgst.load_model(folder).predict() == by_number.predict()).all()
    assert half == pytest.approx((model.predict() == text)[known >= 0].mean())


def test_without_an_adjacency_the_graph_is_that_of_nearest_neighbours(graph: Graph, known: np.ndarray) -> None:
    model = drgst.SelfTraining(LINEAR).fit(graph.features.toarray(), known)
    assert model.graph_.num_edges >= 60 * 10 / 2
    assert (model.predict() == graph.labels).mean() > 0.6


def test_data_frames(graph: Graph, known: np.ndarray) -> None:
    x = pd.DataFrame(graph.features.toarray(), index=graph.node_ids, columns=[f"w{k}" for k in range(30)])
    upper = sp.triu(graph.adjacency).tocoo()
    ends = {"from": graph.node_ids[upper.coords[0]], "to": graph.node_ids[upper.coords[1]]}
    edges = pd.DataFrame(ends)
    model = drgst.SelfTraining(LINEAR).fit(x, known, adjacency=edges)
    assert list(model.feature_names_in_[:2]) == ["w0", "w1"]
    matrix = drgst.SelfTraining(LINEAR).fit(x, known, adjacency=graph.adjacency)
    np.testing.assert_array_equal(model.probabilities_, matrix.probabilities_)
    with pytest.raises(GraphError, match="the edge column 'from' names 'n77', which is not in the index of X"):
        model.fit(x, known, adjacency=pd.DataFrame({"from": ["n77"], "to": ["n1"]}))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(x.rename(columns={"w0": "other"}), adjacency=edges)


def test_tables_with_a_label_column(graph: Graph, known: np.ndarray) -> None:
    """Columns of any type; a later table is read by the schema of the first."""
    names = np.array(["ant", "bee", "cat", None], dtype=object)
    nodes = pd.DataFrame(
        {"id": graph.node_ids, "size": np.arange(60.0), "kind": names[graph.labels], "y": names[known]}
    )
    upper = sp.triu(graph.adjacency).tocoo()
    edges = pd.DataFrame({"source": graph.node_ids[upper.coords[0]], "target": graph.node_ids[upper.coords[1]]})
    model = drgst.SelfTraining(LINEAR).fit(nodes, "y", adjacency=edges)
    assert (model.predict() == names[graph.labels]).mean() > 0.9
    with pytest.raises(GraphError, match=r"score\(nodes, 'y', adjacency=edges\) takes the name of the label column"):
        model.score(nodes, nodes["kind"], adjacency=edges)
    np.testing.assert_allclose(model.predict_proba(nodes, adjacency=edges), model.probabilities_, atol=1e-5)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((None, None, None), "fit needs a graph, or X and y"),
        (
            (np.ones((4, 2)), [0, 1, 0, 1], np.ones((3, 3))),
            r"the adjacency has shape \(3, 3\), but there are 4 samples",
        ),
        ((np.ones((4, 2)), [0, 1, 0, 1], np.ones(4)), "the adjacency must be square"),
        ((np.ones((4, 2)), [0, -1, 0, -1], np.ones((4, 4))), "y has 1 class besides -1"),
        ((None, [0, 1], pd.DataFrame({"a": [0], "b": [1]})), "a data frame of edges needs X"),
    ],
)
def test_wrong_arrays(given: tuple[Any, Any, Any], message: str) -> None:
    x, y, adjacency = given
    with pytest.raises(DrgstError, match=message):
        drgst.SelfTraining(LINEAR).fit(x, y, adjacency=adjacency)


@pytest.mark.parametrize("recipe", [LINEAR, "gcn"])
def test_sample_weights(graph: Graph, known: np.ndarray, recipe: str) -> None:
    """One weight for all changes nothing; a class of small weight is predicted less often."""
    arrays = {"adjacency": graph.adjacency}
    plain = drgst.SelfTraining(recipe, QUICK if recipe == "gcn" else None)
    equal = clone(plain).fit(graph.features, known, sample_weight=np.full(60, 7.0), **arrays)
    np.testing.assert_allclose(equal.probabilities_, clone(plain).fit(graph.features, known, **arrays).probabilities_)
    light = np.where(known == 0, 0.01, 1.0)
    less = clone(plain).fit(graph.features, known, sample_weight=light, **arrays)
    assert (less.predict() == 0).sum() < (equal.predict() == 0).sum()
    for wrong in (np.ones(3), np.full(60, -1.0), np.full(60, np.nan)):
        with pytest.raises(DrgstError, match="sample_weight"):
            clone(plain).fit(graph.features, known, sample_weight=wrong, **arrays)


def test_scikit_learns_own_checks() -> None:
    """All pass but the explained ones, and these do fail: a graph is not a table of independent rows."""
    model = drgst.SelfTraining(LINEAR)
    assert is_classifier(model)
    results = check_estimator(model, on_fail=None, on_skip=None, expected_failed_checks=EXPECTED_FAILED_CHECKS)
    failed = {str(r["check_name"]): str(r["exception"]) for r in results if r["status"] == "failed"}
    assert failed == {}
    assert {str(r["check_name"]) for r in results if r["status"] == "xfail"} == EXPECTED_FAILED_CHECKS.keys()
    assert sum(r["status"] == "passed" for r in results) > 50


@pytest.mark.parametrize("missing", [np.nan, None, pd.NA, -1])
def test_missing_labels_among_text_are_unknown(graph: Graph, known: np.ndarray, missing: Any) -> None:
    y = np.array([missing if label < 0 else "abc"[label] for label in known.tolist()], dtype=object)
    for given in (y, pd.Series(y)):
        model = drgst.SelfTraining(LINEAR).fit(graph.features, given, adjacency=graph.adjacency)
        assert model.classes_.tolist() == ["a", "b", "c"]
        assert (model.split_.train == np.flatnonzero(known >= 0)).all()


def test_ends_of_edges_are_an_adjacency(graph: Graph, known: np.ndarray) -> None:
    """As in PyG, as an array or a tensor; by position they are refused with the ways to write it."""
    x, ends = graph.features.toarray(), np.vstack(graph.adjacency.tocoo().coords)
    matrix = drgst.SelfTraining(LINEAR).fit(x, known, adjacency=graph.adjacency)
    for pairs in (ends, torch.from_numpy(ends.astype(np.int64))):
        model = drgst.SelfTraining(LINEAR).fit(x, known, adjacency=pairs)
        np.testing.assert_array_equal(model.probabilities_, matrix.probabilities_)
        np.testing.assert_allclose(model.predict_proba(x, adjacency=pairs), matrix.probabilities_, atol=1e-6)
    with pytest.raises(GraphError, match=r"two arguments without a name, not 3: .* fit\(X, y, adjacency=A\)"):
        model.fit(x, ends, known)
    with pytest.raises(GraphError, match="from 0 to 59"):
        model.fit(x, known, adjacency=ends + 1)


def test_a_mask_of_training_nodes(graph: Graph) -> None:
    """Validation and test nodes are those that came with the graph."""
    split = drgst.random_split(graph, per_class=4, val=9, test=12, seed=0)
    whole = graph.with_(splits=(split,))
    mask = np.isin(np.arange(60), split.train[::2])
    for data, given in ((whole, mask), (drgst.to_pyg(whole), torch.from_numpy(mask))):
        found = drgst.SelfTraining(LINEAR).fit(data, given).split_
        assert found.train.tolist() == split.train[::2].tolist()
        assert (found.val.tolist(), found.test.tolist()) == (split.val.tolist(), split.test.tolist())
    assert not drgst.SelfTraining(LINEAR).fit(graph, mask).split_.val.size


def test_a_warning_names_the_line_that_called(graph: Graph) -> None:
    data = drgst.to_pyg(graph.with_(splits=(drgst.random_split(graph, per_class=4, seed=0),)))
    data.edge_attr = torch.ones(data.edge_index.shape[1])
    with pytest.warns(DrgstWarning, match="edge_attr is not used") as found:
        drgst.SelfTraining(LINEAR).fit(data)
    assert {warning.filename for warning in found} == {__file__}


@pytest.mark.parametrize("missing", [np.nan, None, pd.NA])
def test_missing_labels_are_unknown(graph: Graph, known: np.ndarray, missing: Any) -> None:
    y = np.array([missing if label < 0 else label for label in known.tolist()], dtype=object)
    y = pd.Series(y, dtype="Int64") if missing is pd.NA else y
    fitted = [
        drgst.SelfTraining("gcn", QUICK).fit(graph.features, given, adjacency=graph.adjacency, progress=False)
        for given in (known, y)
    ]
    np.testing.assert_array_equal(fitted[0].probabilities_, fitted[1].probabilities_)
    assert fitted[1].classes_.tolist() == [0, 1, 2]


def test_an_empty_training_mask_is_one_sentence(graph: Graph) -> None:
    data = drgst.to_pyg(graph)
    for part in ("train", "val", "test"):
        data[f"{part}_mask"] = torch.zeros(60, dtype=torch.bool)
    with pytest.raises(DrgstError, match="has no training node: its training mask or list is empty"):
        drgst.SelfTraining(LINEAR).fit(data)


def test_tables_have_a_short_text(graph: Graph) -> None:
    nodes = pd.DataFrame({"id": graph.node_ids, "x": np.arange(60.0), "y": ["a", "b"] * 30})
    assert len(repr(drgst.from_tables(nodes, label="y"))) < 200


@pytest.mark.parametrize("extra", [{"y": np.zeros(60, dtype=int)}, {"y": "label"}, {"adjacency": sp.eye_array(60)}])
def test_labels_or_edges_beside_a_graph_are_refused(graph: Graph, extra: dict[str, Any]) -> None:
    with pytest.raises(GraphError, match=r"a graph has labels and edges of its own: fit\(graph, split\)"):
        drgst.SelfTraining(LINEAR).fit(graph, **extra)


def test_the_truth_by_id(graph: Graph, known: np.ndarray) -> None:
    """A dict or a Series by node id is matched by id, a Series without names by place."""
    model = drgst.SelfTraining(LINEAR).fit(graph.with_(labels=known))
    truth = pd.Series(np.array(graph.class_names)[graph.labels], index=pd.Index(graph.node_ids, name="id"))
    by_place = model.evaluate(truth.to_numpy()).to_dict()
    mixed = truth.sample(frac=1, random_state=0)
    assert all(model.evaluate(y).to_dict() == by_place for y in (mixed, mixed.to_dict(), truth.reset_index(drop=True)))
    with pytest.raises(GraphError, match="node 'n99'"):
        model.evaluate({"n99": "ant"})


def test_nothing_to_pseudo_label_is_said(graph: Graph) -> None:
    split = drgst.Split.of(np.arange(12), [], np.arange(12, 60), 60)
    with pytest.warns(DrgstWarning, match="no node may be pseudo-labelled"):
        drgst.SelfTraining("drgst-plus").fit(graph, split)


def test_a_frame_of_features_is_one_of_numbers_in_the_order_of_y(graph: Graph, known: np.ndarray) -> None:
    frame = pd.DataFrame(graph.features if isinstance(graph.features, np.ndarray) else graph.features.toarray())
    y = pd.Series(known)
    for column, words in (("ant", "'kind' of X has text"), (np.nan, "'kind' of X has missing cells")):
        with pytest.raises(GraphError, match=words):
            drgst.SelfTraining(LINEAR).fit(frame.assign(kind=column), y)
    with pytest.raises(GraphError, match="same index in another order"):
        drgst.SelfTraining(LINEAR).fit(frame, y.iloc[::-1])
