"""from_tables and the application of its schema to later tables."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

import drgst
from drgst.errors import GraphError

PEOPLE = pd.DataFrame(
    {
        "name": ["ann", "bob", "cy", "dee", "eve", "flo"],
        "job": ["smith", "smith", "baker", "baker", None, "baker"],
        "age": [31, 45, 27, None, 38, 60],
        "joined": ["2024-01-05", "2024-02-01", "2023-12-24", "2024-01-05", "2024-03-09", None],
        "member": ["yes", "no", "yes", "yes", "no", "no"],
        "club": ["chess"] * 6,
        "likes": ["tea", "coffee", "tea", "", "", "tea"],
        "class": ["x", "y", None, "x", "y", None],
    }
)
TRADES = pd.DataFrame(
    {
        "from": ["ann", "ann", "bob", "cy", "eve", "dee"],
        "to": ["bob", "bob", "ann", "dee", "eve", "cy"],
        "amount": [10.0, 5.0, 1.0, 2.0, 9.0, 4.0],
        "day": ["2024-04-03", "2024-04-01", "2024-04-02", "2024-04-01", "2024-04-01", "2024-04-05"],
    }
)


def feature(made: drgst.TableGraph, name: str) -> list[float]:
    x = made.graph.features
    column = made.schema.feature_names.index(name)
    return np.asarray(x.toarray() if sp.issparse(x) else x)[:, column].tolist()


def test_frames_become_a_graph() -> None:
    made = drgst.from_tables(PEOPLE, TRADES, label="class")
    graph, schema = made.graph, made.schema
    assert graph.node_ids.tolist() == PEOPLE["name"].tolist()
    assert graph.class_names == ("x", "y")
    assert graph.labels.tolist() == [0, 1, -1, 0, 1, -1]
    assert graph.adjacency[0, 1] == 3  # rows in both directions
    assert graph.adjacency[2, 3] == 2
    assert graph.degrees.tolist() == [1, 1, 1, 1, 0, 0]
    assert schema.relations[0].model_dump(exclude={"unit"}) == {
        **{"name": "edges", "source": "from", "target": "to", "weight": None, "time": "day"},
        "amounts": ("amount",),
    }
    assert feature(made, "member") == [1, 0, 1, 1, 0, 0]
    assert feature(made, "job = baker") == [0, 0, 1, 1, 0, 1]
    assert feature(made, "job is missing") == [0, 0, 0, 0, 1, 0]
    assert feature(made, "age is missing") == [0, 0, 0, 1, 0, 0]
    assert np.argsort(feature(made, "age"))[-1] == 5
    assert np.argmax(feature(made, "edges out: amount sum")) == 0
    assert graph.num_features == len(schema.feature_names) == len(schema.feature_columns)
    for note in ("1 self-loop dropped", "1 column dropped ('club')", "3 repeated or returning edges merged (sum)"):
        assert any(note in text for text in made.notes), note
    text = schema.describe()
    assert "club           dropped   all cells are the same" in text
    assert "age            number    2 features, one of them for missing cells" in text
    assert "likes" in made.report


@pytest.mark.parametrize(("how", "weight"), [("sum", 16), ("count", 3), ("max", 10), ("last", 10)])
def test_weights_and_times(how: str, weight: float) -> None:
    made = drgst.from_tables(PEOPLE, TRADES, label="class", weight="amount", time="day", aggregate=how)
    assert made.graph.adjacency[0, 1] == weight


def test_files_frames_and_arrow_give_the_same_graph(tmp_path: Path) -> None:
    whole = PEOPLE.drop(columns=["age"])
    one = drgst.from_tables(whole, TRADES, label="class")
    whole.to_csv(tmp_path / "people.csv", index=False, sep=";")
    TRADES.to_csv(tmp_path / "edges.csv.gz", index=False)
    pq.write_table(pa.Table.from_pandas(whole), tmp_path / "people.parquet")
    for nodes in (tmp_path / "people.csv", tmp_path / "people.parquet", pa.Table.from_pandas(whole)):
        other = drgst.from_tables(nodes, str(tmp_path / "edges.csv.gz"), label="class")
        assert other.schema == one.schema
        assert (other.graph.features != one.graph.features).sum() == 0
        assert (other.graph.adjacency != one.graph.adjacency).nnz == 0


def test_types_by_option() -> None:
    made = drgst.from_tables(PEOPLE, TRADES, label="class", text="likes", category="age", drop=["member", "job"])
    kinds = {encoder.column: encoder.kind for encoder in made.schema.columns}
    assert kinds == {"age": "category", "joined": "date", "likes": "text"}
    dropped = {column.column: column.reason for column in made.schema.dropped}
    assert dropped == {"job": "dropped by option", "member": "dropped by option", "club": "all cells are the same"}


def test_without_edges_and_without_ids() -> None:
    made = drgst.from_tables(PEOPLE.drop(columns=["name"]), label="class")
    assert made.graph.node_ids.tolist() == list(range(6))
    assert made.graph.num_edges == 0
    plain = drgst.from_tables(PEOPLE, TRADES, label="class", edge_columns=False)
    assert not plain.schema.edge_columns


def test_several_relations() -> None:
    calls = pd.DataFrame({"caller": ["ann", "flo"], "callee": ["flo", "eve"], "minutes": [3.5, 4.0]})
    made = drgst.from_tables(PEOPLE, {"trades": TRADES, "calls": calls}, label="class")
    assert [relation.name for relation in made.schema.relations] == ["trades", "calls"]
    assert made.graph.adjacency[0, 5] == 1
    assert made.graph.adjacency[0, 1] == pytest.approx(3 / 2.5)
    assert "calls out: minutes sum" in made.schema.feature_names
    unnamed = drgst.from_tables(PEOPLE, [TRADES, calls], label="class")
    assert [relation.name for relation in unnamed.schema.relations] == ["edges 1", "edges 2"]


def test_unknown_endpoints_are_added_as_nodes_without_features() -> None:
    trades = pd.concat([TRADES, pd.DataFrame({"from": ["zed"], "to": ["ann"], "amount": [1.0]})])
    with pytest.raises(drgst.TableError, match="'zed' is not the id of a node"):
        drgst.from_tables(PEOPLE, trades, label="class")
    made = drgst.from_tables(PEOPLE, trades, label="class", unknown_endpoints="add")
    assert made.graph.node_ids[-1] == "zed"
    assert made.graph.labels[-1] == -1
    assert made.graph.adjacency[6, 0] == 1
    assert feature(made, "not in the node table") == [0] * 6 + [1]
    assert feature(made, "age is missing")[-1] == 1
    assert made.new.tolist() == list(range(6))


def test_edges_of_unknown_endpoints_are_dropped() -> None:
    trades = pd.concat([TRADES, pd.DataFrame({"from": ["zed"], "to": ["ann"], "amount": [1.0]})], ignore_index=True)
    made = drgst.from_tables(PEOPLE, trades, label="class", unknown_endpoints="drop")
    without = drgst.from_tables(PEOPLE, TRADES, label="class")
    assert (made.graph.adjacency != without.graph.adjacency).nnz == 0
    assert (made.graph.features != without.graph.features).sum() == 0
    assert "edges: 1 row with ends that are not nodes dropped" in made.notes
    assert made.schema.apply(PEOPLE, trades).graph.num_nodes == 6


def test_the_first_row_of_a_node_counts() -> None:
    again = pd.DataFrame({"name": ["bob", "ann"], "job": ["cook", "cook"], "age": [1, 2], "class": ["z", "y"]})
    twice = pd.concat([PEOPLE, again], ignore_index=True)
    made = drgst.from_tables(twice, TRADES, label="class", id="name", duplicates="first")
    once = drgst.from_tables(PEOPLE, TRADES, label="class")
    assert made.schema == once.schema.model_copy(update={"duplicates": "first"})
    assert (made.graph.features != once.graph.features).sum() == 0
    assert made.graph.class_names == ("x", "y")
    assert "nodes: 2 further rows of the same id dropped" in made.notes
    assert made.schema.apply(twice, TRADES).graph.num_nodes == 6
    empty = pd.concat([PEOPLE, pd.DataFrame({"name": [None, None], "class": ["x", "y"]})])
    faults = drgst.check_tables(empty, TRADES, label="class", id="name", duplicates="first")
    assert "the id is empty (2 rows in all)" in str(faults[0])


def test_columns_that_differ_in_case_are_read_and_noted() -> None:
    fitted = drgst.from_tables(PEOPLE, TRADES, label="class")
    later = PEOPLE.rename(columns={"name": "NAME", "age": "Age", "joined": "since"})
    made = fitted.schema.apply(later, TRADES.rename(columns={"from": "From", "day": "DAY"}))
    assert feature(made, "age") == feature(fitted, "age")
    assert (made.graph.adjacency != fitted.graph.adjacency).nnz == 0
    assert feature(made, "edges out: amount sum") == feature(fitted, "edges out: amount sum")
    said = [note for note in made.notes if "was read as" in note]
    assert said == [
        "nodes: column 'Age' was read as 'age'",
        "nodes: column 'NAME' was read as 'name'",
        "edges: column 'From' was read as 'from'",
        "edges: column 'DAY' was read as 'day'",
    ]
    assert "nodes has no column 'joined': all its cells count as missing" in made.notes


def test_later_tables_get_the_same_columns_and_differences_are_reported(tmp_path: Path) -> None:
    fitted = drgst.from_tables(PEOPLE, TRADES, label="class")
    fitted.schema.save(tmp_path / "schema.json")
    schema = drgst.TableSchema.load(tmp_path / "schema.json")
    assert schema == fitted.schema
    same = schema.apply(PEOPLE, TRADES)
    assert (same.graph.features != fitted.graph.features).sum() == 0
    assert (same.graph.adjacency != fitted.graph.adjacency).nnz == 0
    assert same.graph.labels.tolist() == fitted.graph.labels.tolist()
    later = pd.DataFrame(
        {
            "name": ["gus", "hal"],
            "job": ["pilot", "baker"],
            "age": ["old", "30"],
            "member": ["no", "yes"],
            "shoe": [4, 5],
        }
    )
    made = schema.apply(later)
    assert made.graph.num_features == fitted.graph.num_features
    assert made.graph.labels.tolist() == [-1, -1]
    assert feature(made, "job = baker") == [0, 1]
    assert feature(made, "age is missing") == [1, 0]
    assert feature(made, "joined is missing") == [1, 1]
    for note in (
        "no columns 'joined', 'likes': all its cells count as missing",
        "column 'shoe' not known from fitting",
        "column 'age': 1 cell not a number ('old')",
        "column 'job': 1 cell not a known category ('pilot')",
    ):
        assert any(note in text for text in made.notes), (note, made.notes)


def test_new_nodes_join_a_fitted_graph() -> None:
    fitted = drgst.from_tables(PEOPLE, TRADES, label="class")
    later = pd.DataFrame({"name": ["gus", "ann"], "age": [30, 99], "class": ["z", "x"]})
    trades = pd.DataFrame(
        {"from": ["gus", "ann"], "to": ["ann", "bob"], "amount": [2.0, 3.0], "day": ["2024-05-01"] * 2}
    )
    made = fitted.schema.apply(later, trades, base=fitted.graph)
    graph = made.graph
    assert graph.node_ids.tolist() == [*PEOPLE["name"], "gus"]
    assert made.new.tolist() == [6]
    assert (graph.features[:6] != fitted.graph.features).sum() == 0
    assert graph.adjacency[6, 0] == 1
    assert graph.adjacency[0, 1] == 4  # 3 old rows and a new one
    assert graph.labels[6] == -1
    for note in ("1 row of nodes of the fitted graph left out", "the labels 'z' were not classes"):
        assert any(note in text for text in made.notes), note
    with pytest.raises(GraphError, match="the base graph has 0 features"):
        fitted.schema.apply(later, base=fitted.graph.with_(features=sp.csr_array((6, 0), dtype=np.float32)))


def test_rows_without_ids_are_numbered_after_those_of_the_fitted_graph() -> None:
    fitted = drgst.from_tables(PEOPLE.drop(columns=["name"]), label="class")
    made = fitted.schema.apply(pd.DataFrame({"age": [30, 31]}), base=fitted.graph)
    assert made.graph.node_ids.tolist() == list(range(8))
    assert made.new.tolist() == [6, 7]


def test_later_tables_with_faults() -> None:
    schema = drgst.from_tables(PEOPLE, TRADES, label="class", weight="amount").schema
    with pytest.raises(drgst.TableError, match="the id column 'name' of fitting is missing"):
        schema.apply(PEOPLE.drop(columns=["name"]))
    with pytest.raises(drgst.TableError, match="the column 'amount' of fitting is missing"):
        schema.apply(PEOPLE, TRADES.drop(columns=["amount"]))
    two = drgst.from_tables(PEOPLE, {"a": TRADES, "b": TRADES}, label="class").schema
    with pytest.raises(drgst.TableError, match=r"^c: there was no such relation in fitting \(relations: a, b\)"):
        two.apply(PEOPLE, {"c": TRADES})
    with pytest.raises(drgst.TableError, match="no such relation"):
        schema.apply(PEOPLE, [TRADES, TRADES])
    made = two.apply(PEOPLE, {"b": TRADES.drop(columns=["day"])})
    assert any("has no column 'day'" in note for note in made.notes)
