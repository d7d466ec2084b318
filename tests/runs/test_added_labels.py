"""Labels that are added to a graph, and which of them are a sample."""

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import drgst
from drgst.datasets.synthetic import block_model
from drgst.errors import DataFileError
from drgst.graph.core import Graph
from drgst.graph.split import Split, random_split
from drgst.runs.added_labels import AddedLabel, add_labels, read_added, write_added
from drgst.runs.config import RunConfig
from drgst.runs.run import Run


@pytest.fixture(scope="module")
def town() -> Graph:
    return block_model(60, 150, seed=0, classes=3, features=20, words=4)


def test_files_are_read_and_written(tmp_path: Path) -> None:
    """Any delimiter, columns in any order, rows without a label left out; what is written reads the same."""
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    first.write_text(
        "\ufefflabel;reason;id;chosen_by;probability\nred;x;7;variance;\n;x;8;variance;\nblue;x;9;random;0.5\n"
    )
    second.write_text("id,label\n7,red\n11,red\n")
    found = read_added([first, second])
    assert found == [
        AddedLabel("7", "red", "variance"),
        AddedLabel("9", "blue", "random", 0.5),
        AddedLabel("11", "red"),
    ]
    assert [added.is_sample for added in found] == [False, True, True]
    (tmp_path / "c.csv").write_text(write_added(found))
    assert read_added([tmp_path / "c.csv"]) == found


def test_a_label_is_as_long_as_those_of_tables_at_most(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f"id,label\na,x\nb,{'y' * 256}\n")
    with pytest.raises(drgst.TableError, match=r"line 3, column 'label': a label has 256 characters; 255 are"):
        read_added([tmp_path / "a.csv"])


def test_nodes_become_training_nodes(town: Graph) -> None:
    split = random_split(town, per_class=2, val=5, test=5, seed=0)
    u, v = (int(node) for node in split.pool[:2])
    labels = [
        AddedLabel(str(u), town.class_names[0], "variance"),
        AddedLabel(str(v), town.class_names[1], "random", 0.1),
    ]
    graph, made, sampled = add_labels(town, split, labels)
    assert graph.labels[[u, v]].tolist() == [0, 1]
    assert set(made.train) == {*split.train, u, v}
    assert not np.isin([u, v], made.pool).any()
    assert add_labels(town, made, labels)[1].train.tolist() == made.train.tolist()
    assert np.flatnonzero(~sampled).tolist() == [u]
    assert add_labels(town, split, labels[1:])[2] is None
    for part in (split.val, split.test):
        with pytest.raises(DataFileError, match="can't be added"):
            add_labels(town, split, [AddedLabel(str(part[0]), town.class_names[0])])


def test_new_classes(town: Graph, caplog: Any) -> None:
    with caplog.at_level(logging.WARNING, "drgst"):
        graph, _, _ = add_labels(town, Split.of([], [], [], 60), [AddedLabel("7", "quite another")])
    assert graph.class_names[-1] == "quite another"
    assert "new class" in caplog.text


def test_a_label_that_replaces_another_is_a_warning(town: Graph, caplog: Any) -> None:
    labels = [AddedLabel(str(node), town.class_names[0]) for node in range(60)]
    add_labels(town, Split.of([], [], [], 60), labels)
    number = int((town.labels != 0).sum())
    assert f"{number} labels of {town.name} are replaced by added ones" in caplog.text


def test_labels_that_were_asked_for_do_not_calibrate(town: Graph, tmp_path: Path) -> None:
    """The temperature is that of the sample; without any column of choices nothing changes."""
    split = random_split(town, per_class=3, val=0, test=10, seed=0)
    nodes = split.pool[:12]

    def temperature(chosen_by: str) -> float:
        rows = [f"{u},{town.class_names[town.labels[u]]},{chosen_by}" for u in nodes]
        (tmp_path / "a.csv").write_text("\n".join(["id,label,chosen_by", *rows]))
        config = RunConfig(recipe="drgst-plus", seed=0, add_labels=str(tmp_path / "a.csv"), settings={"stages": 1})
        return float(Run.of(town, config, split).execute().stage.note.split("temperature ")[1].rstrip("."))

    merged = RunConfig(recipe="drgst-plus", seed=0, settings={"stages": 1})
    more = replace(split, train=np.union1d(split.train, nodes), pool=split.pool[12:])
    plain = Run.of(town, merged, more).execute().stage.note
    assert f"temperature {temperature(''):.2f}" in plain
    assert temperature("variance") != temperature("")
