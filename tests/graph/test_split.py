"""Splits: the public one, draws per class, random ones, masks, and errors; statistics of a graph."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from drgst.errors import SplitError
from drgst.graph.core import Graph, make_graph
from drgst.graph.split import Split, per_class_split, public_split, random_split, splits_from_masks, validated_split
from drgst.graph.stats import edge_homophily, statistics


def ring(labels: list[int], splits: tuple[Split, ...] = ()) -> Graph:
    """A cycle with the given labels."""
    n = len(labels)
    edges = sp.coo_array((np.ones(n), (np.arange(n), (np.arange(n) + 1) % n)), shape=(n, n))
    return make_graph(np.eye(n), edges, labels, splits=splits)


def with_public(counts: list[int], spare: int = 6) -> Graph:
    """A ring whose public training set has counts[c] nodes of class c; two validation nodes, two test nodes."""
    labels = [c for c, count in enumerate(counts) for _ in range(count)]
    size = len(labels)
    labels += [0] * spare
    rule = Split.of(np.arange(size), [size, size + 1], [size + 2, size + 3], len(labels), name="public")
    return ring(labels, (rule,))


def test_public_is_the_split_of_the_data_with_the_pool_asked_for() -> None:
    g = with_public([3, 3])
    assert public_split(g).pool.tolist() == [10, 11]
    assert public_split(g, "all-but-validation").pool.tolist() == [8, 9, 10, 11]


def test_public_is_refused_without_one_or_with_an_unknown_pool() -> None:
    with pytest.raises(SplitError, match="came without a split"):
        public_split(ring([0, 1, 0, 1]))
    with pytest.raises(SplitError, match="unknown pool 'everything'"):
        public_split(with_public([3, 3]), "everything")  # type: ignore[arg-type]


def test_per_class_draws_from_the_public_training_nodes_and_the_rest_joins_the_pool() -> None:
    g = with_public([5, 5, 5])
    whole, drawn = public_split(g), per_class_split(g, 2, seed=1)
    assert np.bincount(g.labels[drawn.train]).tolist() == [2, 2, 2]
    assert set(drawn.train) <= set(whole.train)
    assert set(whole.train) - set(drawn.train) <= set(drawn.pool)
    assert drawn.val.tolist() == whole.val.tolist()
    assert drawn.test.tolist() == whole.test.tolist()


def test_validation_labels_are_drawn_and_the_rest_is_tested() -> None:
    graph = ring([0] * 8 + [1] * 8 + [-1] * 2)
    split = validated_split(graph, 2, 3, seed=1, pool="all-but-validation")
    for part, size in ((split.train, 2), (split.val, 3), (split.test, 3)):
        assert np.bincount(graph.labels[part]).tolist() == [size, size]
    assert split.pool.size == 6 + 2  # test nodes, and nodes without a label
    with pytest.raises(SplitError, match="no test node is left after 5 training and 3 validation labels per class"):
        validated_split(graph, 5, 3, seed=1)


def test_draws_of_one_seed_are_nested_and_differ_between_seeds() -> None:
    g = with_public([9, 9])
    assert set(per_class_split(g, 2, seed=3).train) < set(per_class_split(g, 5, seed=3).train)
    assert len({tuple(per_class_split(g, 3, seed).train) for seed in range(8)}) > 1
    assert per_class_split(g, 3, seed=4).train.tolist() == per_class_split(g, 3, seed=4).train.tolist()


def test_the_usual_number_per_class_is_the_public_split_even_where_two_classes_are_off() -> None:
    g = with_public([4, 4, 4, 3, 5])  # as CoraFull: 15 and 25 among twenties
    assert per_class_split(g, 4, seed=0).train.tolist() == public_split(g).train.tolist()
    assert np.bincount(g.labels[per_class_split(g, 3, seed=0).train]).tolist() == [3] * 5


def test_a_short_class_gives_what_it_has() -> None:
    g = with_public([6, 6, 2])
    assert np.bincount(g.labels[per_class_split(g, 5, seed=0).train]).tolist() == [5, 5, 2]


@pytest.mark.parametrize("k", [0, -1, 7])
def test_a_number_per_class_that_no_class_can_give_is_refused(k: int) -> None:
    with pytest.raises(SplitError, match="allows 1 to 6 labels per class"):
        per_class_split(with_public([6, 6]), k, seed=0)


def test_a_class_without_a_training_label_is_refused() -> None:
    rule = Split.of([0, 1], [2], [3], 6)
    g = ring([0, 0, 1, 1, 0, 1], (rule,))
    with pytest.raises(SplitError, match="class '1' has no training label"):
        public_split(g)
    with pytest.raises(SplitError, match="class '1' has no training label"):
        per_class_split(g, 1, seed=0)


def test_cora_three_per_class(cora: Graph) -> None:
    drawn = per_class_split(cora, 3, seed=0)
    assert (drawn.train.size, drawn.val.size, drawn.test.size, drawn.pool.size) == (21, 500, 1000, 1187)
    assert per_class_split(cora, 20, seed=5).train.tolist() == list(range(140))


@settings(max_examples=60, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 30), min_size=2, max_size=5),
    unknown=st.integers(0, 10),
    k=st.integers(1, 6),
    seed=st.integers(0, 2**32),
)
def test_random_split_keeps_its_promises(sizes: list[int], unknown: int, k: int, seed: int) -> None:
    labels = [c for c, size in enumerate(sizes) for _ in range(size)] + [-1] * unknown
    g = ring([*labels, -1, -1, -1])
    s = random_split(g, per_class=k, val=0, test=0, seed=seed)
    assert np.bincount(g.labels[s.train]).tolist() == [min(k, size) for size in sizes]
    assert s.train.size + s.pool.size == g.num_nodes


def test_random_split_by_fraction_keeps_the_floor() -> None:
    g = ring([0] * 90 + [1] * 8 + [-1] * 4)
    s = random_split(g, fraction=0.1, floor=3, val=10, test=0.2, seed=0)
    assert np.bincount(g.labels[s.train]).tolist() == [9, 3]
    assert (s.val.size, s.test.size) == (10, 20)
    assert (g.labels[np.concatenate([s.val, s.test])] >= 0).all()


def test_random_split_has_the_papers_sizes_where_they_fit(cora: Graph) -> None:
    s = random_split(cora, per_class=20, seed=0)
    assert (s.train.size, s.val.size, s.test.size) == (140, 451, 902)  # a sixth and a third of 2,708
    small = random_split(ring([0, 1] * 30), per_class=2, seed=0)
    assert (small.val.size, small.test.size) == (10, 20)


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({}, "either per_class or fraction"),
        ({"per_class": 2, "fraction": 0.1}, "either per_class or fraction"),
        ({"fraction": 1.5}, "between 0 and 1"),
        ({"per_class": 2, "floor": 0}, "at least 1"),
        ({"per_class": 2, "floor": 3}, "below the floor"),
        ({"per_class": 8, "floor": 8}, "class '1' has 5 labelled nodes; the floor is 8"),
        ({"per_class": 2, "val": 20, "test": 20}, "20 validation and 20 test nodes were asked for, but 11"),
        ({"per_class": 2, "val": -1}, "val is -1"),
        ({"per_class": 2, "test": 2.5}, "test is 2.5"),
        ({"per_class": 2, "test": float("inf")}, "test is inf"),
        ({"fraction": float("nan")}, "between 0 and 1"),
    ],
)
def test_random_split_refuses(wrong: dict[str, float], word: str) -> None:
    with pytest.raises(SplitError, match=word):
        random_split(ring([0] * 10 + [1] * 5), seed=0, **wrong)  # type: ignore[arg-type]


def test_masks_of_one_and_of_several_columns() -> None:
    train = np.array([[1, 0], [1, 0], [0, 1], [0, 1], [0, 0], [0, 0]], dtype=bool)
    val = np.array([0, 0, 0, 0, 1, 0], dtype=bool)
    first, second = splits_from_masks({"train": train, "val": val}, 6)
    assert (first.train.tolist(), second.train.tolist()) == ([0, 1], [2, 3])
    assert first.val.tolist() == second.val.tolist() == [4]
    assert (first.name, first.test.tolist(), first.pool.tolist()) == ("mask 0", [], [2, 3, 5])
    test = np.array([0, 0, 0, 0, 0, 1], dtype=bool)
    (only,) = splits_from_masks({"train": train[:, 0], "val": val, "test": test}, 6)
    assert (only.name, only.test.tolist(), only.pool.tolist()) == ("mask", [5], [2, 3])
    (own_pool,) = splits_from_masks({"train": val, "pool": test}, 6)
    assert own_pool.pool.tolist() == [5]
    assert splits_from_masks({"pool": test}, 6) == []


def test_masks_with_overlap_or_of_a_wrong_shape_type_or_width_are_refused() -> None:
    both = np.array([1, 1, 0, 0], dtype=bool)
    with pytest.raises(SplitError, match="train and val overlap: node 0 is in both"):
        splits_from_masks({"train": both, "val": both}, 4)
    with pytest.raises(SplitError, match="train mask must be boolean with 4 rows"):
        splits_from_masks({"train": both[:3]}, 4)
    with pytest.raises(SplitError, match="test mask must be boolean with 4 rows, not int64"):
        splits_from_masks({"test": both.astype(np.int64)}, 4)
    with pytest.raises(SplitError, match="train mask has 2 columns, but another mask has 3"):
        splits_from_masks({"train": np.zeros((4, 2), dtype=bool), "val": np.zeros((4, 3), dtype=bool)}, 4)


@pytest.mark.parametrize("bad", [-1, 6])
def test_an_index_outside_the_graph_is_refused(bad: int) -> None:
    with pytest.raises(SplitError, match=f"train holds node {bad}, but the graph has nodes 0 to 5"):
        Split.of([bad], [1], [2], 6)


def small() -> Graph:
    """0-1, 1-2, 2-3 and the isolated 4; labels a, a, b, unknown, b."""
    a = sp.coo_array((np.ones(3), ([0, 1, 2], [1, 2, 3])), shape=(5, 5))
    x = sp.csr_array(np.diag([1.0, 1, 0, 0, 0]))
    return make_graph(x, a, [0, 0, 1, -1, 1], class_names=["a", "b"], name="small")


def test_every_figure_by_hand() -> None:
    s = statistics(small())
    assert s.to_dict() == {
        "name": "small",
        "nodes": 5,
        "edges": 3,
        "features": 5,
        "classes": 2,
        "labelled": 4,
        "homophily": 0.5,
        "label_counts": {"a": 2, "b": 2},
        "isolated": 1,
        "components": 2,
        "mean_degree": 1.2,
        "feature_density": 2 / 25,
    }
    assert json.loads(json.dumps(s.to_dict())) == s.to_dict()


def test_homophily_is_unknown_where_no_edge_has_two_labels() -> None:
    assert edge_homophily(small().with_(labels=np.array([0, -1, 1, -1, 1]))) is None


def test_a_graph_without_features_has_density_zero() -> None:
    g = make_graph(None, small().adjacency, [0, 0, 1, 1, 1])
    assert statistics(g).feature_density == 0


def test_cora(cora: Graph) -> None:
    s = statistics(cora)
    assert s.components == 78
    assert sorted(s.label_counts.values()) == [180, 217, 298, 351, 418, 426, 818]
