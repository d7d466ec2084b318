"""All faults of tables with fixed column names."""

from __future__ import annotations

from pathlib import Path

import pytest

from drgst.tables.fixed import check_fixed_tables

NODES = "id,label,split,age\nann,x,train,3\nbob,y,train,4.5\ncy,,,5\n"
EDGES = "source,target,weight\nann,bob,1\nbob,cy,2\n"


@pytest.mark.parametrize(
    ("nodes", "edges", "messages"),
    [
        (NODES, EDGES, []),
        (NODES, EDGES + "ann,zoe,3\n", ["edges.csv, line 4, column 'target': 'zoe' is not the id of a node"]),
        (
            NODES.replace("4.5", "old").replace(",5\n", ",\n"),
            EDGES.replace(",2\n", ",-2\n"),
            [
                "edges.csv, line 3, column 'weight': the weight '-2' is negative",
                "nodes.csv, line 3, column 'age': 'old' is not a number (1 cell in all: 'old'): drgst.from_tables",
                "nodes.csv, line 4, column 'age': is empty (1 cell in all): drgst.from_tables imputes",
            ],
        ),
        (
            NODES.replace(",", ";"),
            EDGES,
            ["nodes.csv: cells must be separated by commas, but nodes.csv: cells are separated by semicolons"],
        ),
        (
            "name,label\nann,x\n",
            "from,to\nann,ann\n",
            ["'id' is missing", "'source' is missing", "'target' is missing"],
        ),
        (
            "id,label\n0.0,x\n1.0,y\n",
            "source,target\n0,1\n",
            [
                "'0' is not the id of a node; 1 row with 1 such id ('0'): the ids of one table end in '.0'",
                "'target': '1'",
            ],
        ),
    ],
)
def test_faults(tmp_path: Path, nodes: str, edges: str, messages: list[str]) -> None:
    (tmp_path / "nodes.csv").write_text(nodes)
    (tmp_path / "edges.csv").write_text(edges)
    found = [str(problem) for problem in check_fixed_tables(tmp_path / "nodes.csv", tmp_path / "edges.csv")]
    assert len(found) == len(messages), found
    for sentence, message in zip(found, messages, strict=True):
        assert message in sentence
        assert "option" not in sentence or "weight" in sentence
