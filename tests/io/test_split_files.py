"""Splits in files survive a re-ordering of the nodes, and damaged ones are refused."""

import json
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from drgst.errors import DataFileError, DrgstError, SplitError
from drgst.graph.core import Graph, make_graph
from drgst.graph.split import Split
from drgst.io.split_files import from_id_files, from_json, load_split, save_split, to_json

NAMES = ["ann", "bob", "cy", "dee", "eve", "flo"]


def path_graph(ids: Any = NAMES, order: Any = range(6)) -> Graph:
    """Six nodes on a path with labels 0, 1, 0, 1, …, in the order asked for."""
    order = np.asarray(order)
    a = sp.coo_array((np.ones(5), (range(5), range(1, 6))), shape=(6, 6)).tocsr()
    return make_graph(np.eye(6), a[order][:, order], np.array([0, 1, 0, 1, 0, 1])[order], node_ids=np.array(ids)[order])


def named(graph: Graph, split: Split) -> dict[str, set[str]]:
    return {part: set(graph.node_ids[getattr(split, part)].tolist()) for part in ("train", "val", "test", "pool")}


@settings(max_examples=40, deadline=None)
@given(order=st.permutations(range(6)), roles=st.permutations(["train", "train", "val", "test", "pool", "none"]))
def test_json_survives_any_order_of_the_nodes(order: list[int], roles: list[str]) -> None:
    g = path_graph()
    parts = {part: [i for i, role in enumerate(roles) if role == part] for part in ("train", "val", "test", "pool")}
    split = Split(parts["train"], parts["val"], parts["test"], parts["pool"], name="mine")
    other = path_graph(order=order)
    if len(set(g.labels[split.train])) < 2:
        with pytest.raises(SplitError, match="has no training label"):
            from_json(to_json(split, g), other)
    else:
        again = from_json(to_json(split, g), other)
        assert named(other, again) == named(g, split)
        assert again.name == "mine"


@pytest.mark.parametrize("pool", ["unlabelled", "all-but-validation"])
def test_the_pool_is_written_as_its_rule(pool: Any, tmp_path: Path) -> None:
    g = path_graph(ids=[10, 20, 30, 40, 50, 60])
    split = Split.of([0, 1], [2], [3], 6, pool)
    save_split(split, g, tmp_path / "s.json")
    assert json.loads((tmp_path / "s.json").read_text())["pool"] == pool
    assert load_split(tmp_path / "s.json", g).pool.tolist() == split.pool.tolist()


def test_numbers_and_text_name_the_same_node() -> None:
    numbered = path_graph(ids=[10, 20, 30, 40, 50, 60])
    texts = path_graph(ids=["10", "20", "30", "40", "50", "60"])
    split = Split.of([0, 1], [2], [3], 6)
    assert from_json(to_json(split, numbered), texts).train.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"format": "other"}, "not a split"),
        ({"version": 2}, "version 2"),
        ({"nodes": 7}, "made for 7 nodes, but the graph has 6"),
        ({"nodes": "6"}, 'a number "nodes"'),
        ({"train": ["ann", "zoe"]}, "names node zoe, which the graph does not have"),
        ({"train": "ann"}, 'list of node ids "train"'),
        ({"train": [["ann"]]}, 'list of node ids "train"'),
        ({"val": None}, 'list of node ids "val"'),
        ({"val": ["ann"]}, "train and val overlap"),
        ({"test": ["dee", "dee"]}, "test names a node more than once"),
        ({"train": ["ann"]}, "class '1' has no training label"),
        ({"pool": "everyone"}, "unknown pool 'everyone'"),
        ({"pool": ["ann"]}, "train and pool overlap"),
        ({"pool": ["cy"]}, "val and pool overlap"),
    ],
)
def test_a_wrong_document_is_refused(tmp_path: Path, change: dict[str, Any], word: str) -> None:
    g = path_graph()
    document = json.loads(to_json(Split.of([0, 1], [2], [3], 6), g)) | change
    (tmp_path / "s.json").write_text(json.dumps(document))
    with pytest.raises(DrgstError, match=rf"s\.json.*{word}"):
        load_split(tmp_path / "s.json", g)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=40) | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(json.dumps))
def test_garbage_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(DataFileError):
        from_json(text, path_graph())


def test_a_cut_or_missing_file_is_refused(tmp_path: Path) -> None:
    g = path_graph()
    whole = to_json(Split.of([0, 1], [2], [3], 6), g)
    (tmp_path / "cut.json").write_text(whole[:40])
    with pytest.raises(DataFileError, match="not valid JSON"):
        load_split(tmp_path / "cut.json", g)
    (tmp_path / "bin.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataFileError, match="not a text file"):
        load_split(tmp_path / "bin.json", g)
    with pytest.raises(DataFileError, match="can't read"):
        load_split(tmp_path / "none.json", g)


def test_id_files_merge_repeats_and_say_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for part, text in {"train": "ann\nbob\n", "val": "cy\n\ncy\n", "test": " dee \n"}.items():
        (tmp_path / part).write_text(text)
    with caplog.at_level(logging.INFO, logger="drgst"):
        split = from_id_files(path_graph(), *(tmp_path / part for part in ("train", "val", "test")))
    assert [p.tolist() for p in (split.train, split.val, split.test, split.pool)] == [[0, 1], [2], [3], [4, 5]]
    assert "names 1 nodes more than once" in caplog.text


def test_id_files_with_an_unknown_node_are_refused(tmp_path: Path) -> None:
    (tmp_path / "train").write_text("ann\nbob\nzoe\n")
    (tmp_path / "rest").write_text("")
    with pytest.raises(SplitError, match="train names node zoe"):
        from_id_files(path_graph(), tmp_path / "train", tmp_path / "rest", tmp_path / "rest")
