"""The graph: its creation from raw arrays, its invariants, and its HTML for notebooks."""

import numpy as np
import pytest
import scipy.sparse as sp

from drgst.errors import GraphError
from drgst.graph.core import Graph, clean_adjacency, make_graph
from drgst.graph.html import html_table
from drgst.graph.split import Split

PATH = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]  # 0 -> 1 -> 2


def graph(**changes: object) -> Graph:
    given = {"features": np.eye(3), "adjacency": PATH, "labels": [0, 1, -1]}
    return make_graph(**{**given, **changes})  # type: ignore[arg-type]


def test_directed_edges_become_undirected_and_that_is_said() -> None:
    made = graph()
    assert made.adjacency.toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert made.num_edges == 2
    assert made.notes == ("directed edges were made undirected",)


def test_loops_go_and_duplicates_merge_to_the_largest_weight() -> None:
    raw = sp.coo_array(([1.0, 3.0, 2.0, 5.0], ([0, 0, 1, 2], [1, 1, 0, 2])), shape=(3, 3))
    cleaned, notes = clean_adjacency(raw)
    assert cleaned.toarray().tolist() == [[0, 3, 0], [3, 0, 0], [0, 0, 0]]
    assert notes == [
        "1 self-loops were removed",
        "1 duplicate edges were merged",
        "directed edges were made undirected",
    ]


def test_isolated_nodes_stay() -> None:
    made = graph(adjacency=np.zeros((3, 3)))
    assert made.num_nodes == 3
    assert made.degrees.tolist() == [0, 0, 0]


def test_arrays_can_not_be_changed_from_outside() -> None:
    made = graph()
    with pytest.raises(ValueError, match="read-only"):
        made.labels[0] = 1


def test_what_was_given_is_not_kept_nor_frozen() -> None:
    features = np.eye(3, dtype=np.float32)
    made = graph(features=features)
    features[0, 0] = 7
    assert made.features[0, 0] == 1


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"adjacency": np.zeros((0, 0)), "features": None, "labels": []}, "no nodes"),
        ({"adjacency": np.zeros((2, 3))}, "must be square"),
        ({"adjacency": [[0, -1, 0], [0, 0, 0], [0, 0, 0]]}, "weight -1.0: weights must be finite and above 0"),
        ({"adjacency": [[0, np.nan, 0], [0, 0, 0], [0, 0, 0]]}, "weight nan"),
        ({"features": [[1.0], [np.nan], [0.0]]}, "feature of node 1 is NaN or infinite"),
        ({"features": sp.csr_array([[1.0], [0.0], [np.inf]])}, "feature of node 2 is NaN or infinite"),
        ({"features": [["a"], ["b"], ["c"]]}, "features must be numbers"),
        ({"features": np.eye(2)}, "but the graph has 3 nodes"),
        ({"labels": [0, 1]}, "2 labels for 3 nodes"),
        ({"labels": [0, 1, -2]}, "label -2 is not allowed"),
        ({"labels": [0, 1.5, 1]}, "1.5 is not whole"),
        ({"labels": [-1, -1, -1]}, "all labels are missing"),
        ({"labels": [0, 0, -1]}, "one class only"),
        ({"labels": [0, 2, 1], "class_names": ["a", "b"]}, "label 2 has no class name"),
        ({"labels": [0, 1, 1], "class_names": ["a", "b" * 10_001]}, "a class name has 10,001 characters"),
        ({"class_names": ["a", "a"]}, "two classes have the same name"),
        ({"node_ids": ["x", "y", "x"]}, "node id x occurs more than once"),
        ({"node_ids": ["x", "y"]}, "2 node ids for 3 nodes"),
    ],
)
def test_bad_input_is_one_sentence(changes: dict[str, object], sentence: str) -> None:
    with pytest.raises(GraphError, match=sentence):
        graph(**changes)


def test_a_split_that_leaves_the_graph_is_refused() -> None:
    with pytest.raises(ValueError, match="train holds node 3, but the graph has nodes 0 to 2"):
        graph(splits=[Split(np.array([3]), [], [], [])])


def test_a_graph_to_predict_may_have_no_labels() -> None:
    assert graph(labels=[-1] * 3, class_names=["a", "b"], unlabelled=True).num_classes == 2


def test_whole_numbers_that_are_stored_as_decimals_are_ids() -> None:
    assert make_graph(None, np.ones((2, 2)), [0, 1], node_ids=np.array([4.0, 7.0])).node_ids.tolist() == [4, 7]


def test_self_loops_and_edges_out_of_the_graph_are_refused(cora: Graph) -> None:
    loop = sp.csr_array(cora.adjacency + sp.csr_array(([1.0], ([0], [0])), shape=cora.adjacency.shape))
    with pytest.raises(GraphError, match="self-loops"):
        cora.with_(adjacency=loop)
    outside = cora.adjacency.copy()
    outside.indices = outside.indices.copy()
    outside.indices[-1] = cora.num_nodes
    with pytest.raises(GraphError, match="outside the graph"):
        cora.with_(adjacency=outside)


def test_with_checks_what_it_changes(cora: Graph) -> None:
    with pytest.raises(GraphError, match="has no class name"):
        cora.with_(class_names=("a", "b"))
    with pytest.raises(GraphError, match="occurs more than once"):
        cora.with_(node_ids=np.zeros(2708, dtype=np.int64))
    with pytest.raises(GraphError, match="not symmetric"):
        cora.with_(adjacency=sp.csr_array(sp.triu(cora.adjacency, format="csr")))
    with pytest.raises(GraphError, match="nodes"):
        cora.with_(labels=cora.labels[:-1])
    with pytest.raises(TypeError, match="no field 'label'"):
        cora.with_(label=cora.labels)
    x = cora.features.copy()
    x.data = x.data.copy()
    x.data[0] = np.nan
    with pytest.raises(GraphError, match="NaN"):
        cora.with_(features=x)
    assert x.data.flags.writeable


def test_all_text_is_escaped() -> None:
    bad = "<script>&"
    shown = html_table(bad, [bad], [[bad, 1]], [bad])
    assert "<script>" not in shown
    assert shown.count("&lt;script&gt;&amp;") == 4
    assert "<td>1</td>" in shown


def test_a_graph_in_a_notebook() -> None:
    graph = make_graph(None, [[0, 2], [0, 0]], [0, 1], class_names=["a", "b"], name="two")
    shown = graph._repr_html_()
    for text in ("two", "<td>1, weighted</td>", "a (1), b (1)", "directed edges were made undirected"):
        assert text in shown
    assert ", weighted" not in graph.with_(adjacency=(graph.adjacency > 0).astype(np.float32))._repr_html_()
