"""Relations: their invariants, as part of a graph, and in its files."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drgst.errors import DataFileError, GraphError
from drgst.graph.core import Graph, make_graph
from drgst.graph.relation import Relation
from drgst.io.folder import open_graph_folder, save_graph_folder
from drgst.io.npz import load_graph, save_graph
from drgst.runs.fingerprint import data_fingerprint

DEVICES = np.array([[1, 0], [1, 2], [0, 1]])


def small(*relations: Relation) -> Graph:
    return make_graph(np.eye(3), np.zeros((3, 3)), [0, 1, -1]).with_(relations=relations)


def test_of_adds_duplicates_and_numbers_entities() -> None:
    relation = Relation.of("device", DEVICES)
    assert relation.entities.tolist() == ["0", "1"]
    assert relation.members.tolist() == [2, 2]
    assert relation.rows(np.array([2, 1])).incidence.toarray().tolist() == [[0, 1], [1, 2]]


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: Relation.of("", DEVICES), "the name of a relation"),
        (lambda: Relation.of("a/b", DEVICES), "without ., / and +"),
        (lambda: Relation.of("device", DEVICES, ["D1"]), "has 2 entities, but 1 names"),
        (lambda: Relation.of("device", DEVICES, ["D1", "D1"]), "have the same name"),
        (lambda: Relation.of("device", -DEVICES), "must be finite and above 0"),
        (lambda: small(Relation.of("device", DEVICES[:2])), "has 2 rows for 3 nodes"),
        (lambda: small(Relation.of("device", DEVICES), Relation.of("device", DEVICES)), "two relations"),
    ],
)
def test_refused(make: Any, reason: str) -> None:
    with pytest.raises(GraphError, match=reason):
        make()


def test_files_keep_relations(tmp_path: Path) -> None:
    graph = small(Relation.of("device", DEVICES, ["D1", "D2"]), Relation.of("phone", DEVICES > 0))
    save_graph(graph, tmp_path / "graph.npz")
    save_graph_folder(graph, tmp_path / "folder")
    for found in (load_graph(tmp_path / "graph.npz"), open_graph_folder(tmp_path / "folder")):
        assert [relation.name for relation in found.relations] == ["device", "phone"]
        assert found.relations[0].entities.tolist() == ["D1", "D2"]
        assert found.relations[0].incidence.toarray().tolist() == DEVICES.tolist()
        assert data_fingerprint(found) == data_fingerprint(graph)
    assert data_fingerprint(graph) != data_fingerprint(graph.with_(relations=graph.relations[:1]))


def test_damaged_relation_of_a_folder_is_refused(tmp_path: Path) -> None:
    save_graph_folder(small(Relation.of("device", DEVICES)), tmp_path / "folder")
    np.array([-1.0, 1, 2, 1], dtype=np.float32).tofile(tmp_path / "folder" / "relation.0.data.bin")
    with pytest.raises((DataFileError, GraphError), match="must be finite and above 0"):
        open_graph_folder(tmp_path / "folder")
