"""``drgst data``: text, and the one JSON object on standard output."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drgst.graph.core import Graph
from drgst.io.npz import save_graph
from drgst.io.split_files import load_split
from drgst.tables.read import read_tables


@pytest.fixture
def answer(ok: Any) -> Callable[..., dict[str, Any]]:
    """The JSON object that ends standard output; nothing else is there."""

    def run(*args: object) -> dict[str, Any]:
        out, _ = ok(*args, "--json")
        assert out.count("\n") == 1
        return json.loads(out)

    return run


@pytest.fixture
def village(tmp_path: Path) -> Path:
    """A graph written by hand: names as ids, a directed edge, a node without label, one without edge."""
    folder = tmp_path / "village"
    folder.mkdir()
    people = [f"{name},{label},{i},{i % 3}" for i, (name, label) in enumerate(
        [("ann", "baker"), ("bob", "baker"), ("cy", "smith"), ("dee", "smith"), ("[red]eve", "[/bold]"),
         ("flo", "[/bold]"), ("gus", ""), ("hal", "baker")]
    )]  # fmt: skip
    (folder / "nodes.csv").write_text("\n".join(["id,label,age,height", *people]) + "\n")
    (folder / "edges.csv").write_text("source,target\nann,bob\nbob,ann\ncy,dee\n[red]eve,flo\nann,gus\n")
    return folder


def test_list_names_the_five_and_where_they_are(call: Any) -> None:
    _, out, _ = call("data", "list")
    places = [
        out.index(word) for word in ("cora ", "5,278", "part of drgst", "citeseer", "44,324", "flickr", "239,738")
    ]
    assert places == sorted(places)
    assert "to be downloaded" in out


def test_show_answers_with_the_figures_asked_for(answer: Any) -> None:
    found = answer("data", "show", "cora")
    wanted = ("name", "nodes", "edges", "features", "classes", "labelled")
    assert [found[key] for key in wanted] == ["cora", 2708, 5278, 1433, 7, 2708]
    assert found["homophily"] == pytest.approx(0.81, abs=0.001)
    assert found["splits"] == [{"name": "public", "train": 140, "val": 500, "test": 1000, "pool": 1068}]


def test_show_prints_sizes_homophily_and_classes(call: Any) -> None:
    code, out, err = call("data", "show", "cora")
    assert (code, err) == (0, "")
    found = [line.split() for line in out.splitlines() if line.strip()]
    for row in (["edges", "5,278"], ["homophily", "0.810"], ["Neural_Networks", "818", "30.2%"]):
        assert row in found


def test_show_a_graph_with_classes_and_no_labels(ok: Any, cora: Graph, tmp_path: Path) -> None:
    save_graph(cora.with_(labels=np.full(cora.num_nodes, -1), splits=()), tmp_path / "bare.npz")
    out, _ = ok("data", "show", tmp_path / "bare.npz")
    assert "labelled" in out


def test_with_json_the_table_goes_to_standard_error(call: Any) -> None:
    _, out, err = call("data", "show", "cora", "--json")
    assert out.startswith("{")
    assert "Neural_Networks" in err


@pytest.mark.data
def test_get_from_a_data_folder(ok: Any, data_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRGST_DATA", str(data_root))
    out, _ = ok("data", "get", "cora", "Citeseer")
    assert "cora: 2,708 nodes, 5,278 edges\nciteseer: 3,327 nodes, 4,552 edges\n" in out


def test_get_refuses_an_unknown_name_before_it_gets_anything(call: Any) -> None:
    code, out, err = call("data", "get", "cora", "citeser")
    assert (code, out) == (2, "")
    assert "did you mean 'citeseer'?" in err


def test_a_graph_written_by_hand_loads_shows_checks_and_splits(
    answer: Any, ok: Any, village: Path, tmp_path: Path
) -> None:
    found = answer("data", "show", village)
    assert [found[key] for key in ("nodes", "edges", "features", "classes", "labelled")] == [8, 4, 2, 3, 7]
    assert found["label_counts"] == {"[/bold]": 2, "baker": 3, "smith": 2}
    out, _ = ok("data", "show", village)
    assert "[/bold]" in out  # a class name is text, not markup
    checked = answer("data", "check", village)
    assert checked["ok"] is True
    assert {"1 nodes have no edge", "1 nodes have no label"} <= set(checked["remarks"])
    made = answer("data", "split", village, "--per-class", 1, "--seed", 3, "--out", tmp_path / "s.json")
    assert (made["train"], made["val"], made["test"], made["pool"]) == (3, 1, 2, 2)
    graph = read_tables(village)
    split = load_split(tmp_path / "s.json", graph)
    assert np.bincount(graph.labels[split.train]).tolist() == [1, 1, 1]


def test_split_as_in_the_paper(answer: Any, cora: Graph, tmp_path: Path) -> None:
    out = tmp_path / "split.json"
    made = answer("data", "split", "cora", "--per-class", 3, "--seed", 0, "--out", out)
    assert made == {"graph": "cora", "seed": 0, "name": "per-class-3-seed-0", "train": 21, "val": 500, "test": 1000,
                    "pool": 1187, "out": str(out)}  # fmt: skip
    split = load_split(out, cora)
    assert set(split.train) <= set(cora.split.train)


def test_split_to_standard_output_is_the_document_itself(answer: Any) -> None:
    document = answer("data", "split", "cora")
    assert (document["format"], document["pool"], len(document["train"])) == ("drgst-split", "unlabelled", 140)


def test_split_at_random_where_asked(answer: Any) -> None:
    document = answer("data", "split", "cora", "--fraction", 0.05, "--val", 0.1, "--test", 300)
    assert (len(document["val"]), len(document["test"])) == (271, 300)
    assert document["train"] != list(range(140))
    drawn = answer("data", "split", "cora", "--test", 900, "--per-class", 20)
    assert drawn["name"] == "random-20-per-class-seed-0"


@pytest.mark.parametrize(
    ("args", "word"),
    [
        (["--per-class", 21], "allows 1 to 20 labels per class"),
        (["--val", "many"], "--val is 'many'"),
        (["--val", "nan"], "val is nan"),
        (["--per-class", 5, "--test", 5000], "5000 test nodes were asked for"),
        (["--per-class", 3, "--fraction", 0.1], "either per_class or fraction"),
    ],
)
def test_split_refuses_and_writes_nothing(args: list[Any], word: str, tmp_path: Path, call: Any) -> None:
    out = tmp_path / "split.json"
    code, said, err = call("data", "split", "cora", *args, "--out", out, "--json")
    assert (code, said) == (2, "")
    assert word in err
    assert not list(tmp_path.glob("*split*"))


def test_check_says_what_is_wrong(village: Path, call: Any) -> None:
    with (village / "edges.csv").open("a") as edges:
        edges.write("ann,zoe\n")
    with (village / "nodes.csv").open("a") as nodes:
        nodes.write("ann,baker,tall,\n")
    code, out, err = call("data", "check", village, "--json")
    assert code == 2
    found = json.loads(out)
    assert found["ok"] is False
    places = [(fault["file"], fault["row"], fault["column"]) for fault in found["faults"]]
    assert places == [("nodes.csv", 10, "id"), ("edges.csv", 7, "target")]
    assert err.splitlines()[-2] == (
        "- edges.csv, line 7, column 'target': 'zoe' is not the id of a node; 1 row with 1 such id ('zoe') "
        "(option: --set unknown_endpoints=add)"
    )


def test_check_of_tables_of_any_columns(answer: Any, tmp_path: Path, call: Any) -> None:
    nodes, edges = tmp_path / "people.csv", tmp_path / "trades.csv"
    nodes.write_text("name;kind;joined;vip\nann;x;2024-01-01;yes\nbob;y;;no\ncy;;2024-02-01;no\n")
    edges.write_text("from,to,amount\nann,bob,3\nann,bob,4\ncy,cy,1\n")
    options = ("--edges", edges, "--label", "kind", "--column", "amount=weight")
    found = answer("classify", nodes, "--check", *options)
    assert found["ok"]
    assert "trades.csv: 1 self-loop dropped" in found["notes"]
    edges.write_text("from,to,amount\nann,zoe,3\nann,bob,x\n")
    code, out, _ = call("classify", nodes, "--check", *options, "--column", "vpi=drop")
    assert code == 2
    assert out.splitlines() == [
        "column  type     becomes",
        "name    id       node ids",
        "kind    label    2 classes: 'x', 'y'",
        "joined  date     4 features, one of them for missing cells",
        "vip     boolean  1 feature",
        "- people.csv: unknown column 'vpi'; did you mean 'vip'? (known: joined, kind, name, vip) "
        "(option: --column COLUMN=drop)",
        "- trades.csv, line 3, column 'amount': the weight 'x' is not a number (1 row in all): weights are numbers of "
        "0 or above (option: --column COLUMN=weight)",
        "- trades.csv, line 2, column 'to': 'zoe' is not the id of a node; 1 row with 1 such id ('zoe') "
        "(option: --set unknown_endpoints=add)",
        "3 faults found",
    ]
    added = ("--set", "unknown_endpoints=add", "--label", "kind")
    assert answer("classify", nodes, "--check", "--edges", edges, *added)["ok"]


def test_graphs_without_labels_are_shown_and_checked(answer: Any, ok: Any, village: Path, tmp_path: Path) -> None:
    (tmp_path / "g.edgelist").write_text("a b\nb c\n")
    for command in ("show", "check"):
        found = answer("data", command, tmp_path / "g.edgelist")
        assert (found["nodes"], found["classes"], found["labelled"], found["label_counts"]) == (3, 0, 0, {})
        assert any("has no labels: name a file" in note for note in found["notes"])
    nodes = village / "nodes.csv"
    bare = [",".join([line.split(",")[0], "", *line.split(",")[2:]]) for line in nodes.read_text().splitlines()[1:]]
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "nodes.csv").write_text("\n".join(["id,label,age,height", *bare]))
    (tmp_path / "bare" / "edges.csv").write_text("source,target\nann,bob\n")
    assert answer("data", "check", tmp_path / "bare")["labelled"] == 0
    assert "drgst suggest" in ok("data", "show", tmp_path / "bare")[0]
    _, err = ok("suggest", tmp_path / "bare", "--n", 2, "--out", "-")
    assert "drawn at random" in err
    assert "written to" not in err
    assert "village has no faults: 8 nodes" in ok("data", "check", village)[0]


def test_show_a_graph_file_with_labels(answer: Any, tmp_path: Path) -> None:
    (tmp_path / "g.edgelist").write_text("a b\nb c\n")
    (tmp_path / "l.csv").write_text("id,label\na,x\nc,y\n")
    found = answer("data", "show", tmp_path / "g.edgelist", "--labels", tmp_path / "l.csv")
    assert (found["name"], found["nodes"], found["labelled"]) == ("g", 3, 2)
