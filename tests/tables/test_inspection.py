"""All faults at once: each has file, line, column and the option that mends it."""

import random
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import drgst
from drgst.errors import DrgstError, SettingError

NODES = "id,label,age,city\n" + "".join(
    f"{k},{'ab'[k % 2] if k < 6 else ''},{(k * 7) % 50},x{k % 3}\n" for k in range(30)
)
EDGES = "source,target,amount,when\n" + "".join(
    f"{k},{(k * 7 + 1) % 30},{k}.5,2024-01-{k % 28 + 1:02d}\n" for k in range(30)
)


@pytest.fixture
def write(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "n.csv").write_text(NODES)
    (tmp_path / "e.csv").write_text(EDGES)
    return tmp_path / "n.csv", tmp_path / "e.csv"


Paths = tuple[Path, Path]


def sentences(paths: Paths, nodes: str = NODES, edges: str = EDGES, **options: object) -> list[str]:
    paths[0].write_text(nodes)
    paths[1].write_text(edges)
    return [str(fault) for fault in drgst.check_tables(*paths, **{"label": "label", **options})]


def test_good_tables_have_no_faults(write: Paths) -> None:
    assert sentences(write) == []


def test_every_fault_is_listed(write: Paths) -> None:
    nodes = NODES.replace("\n4,", "\n3,").replace("\n9,,", "\n,,").replace(",35,", ",old,") + "77,a,1\n"
    edges = EDGES.replace(",3.5,", ",-3,").replace("\n7,", "\n,") + "99,1,x,2024-01-01\n"
    found = sentences(write, nodes, edges, weight="amount", numeric="age", drop="nix")
    assert found == [
        "n.csv, line 32: has 3 cells, but the header has 4 (1 row like this): cells are missing",
        "n.csv: unknown column 'nix' (known: age, city, id, label) (option: drop=COLUMN)",
        "n.csv, line 11, column 'id': the id is empty (1 row in all)",
        "n.csv, line 6, column 'id': the id '3' occurs again, first in line 5; 1 id in all ('3') "
        "(option: duplicates='first')",
        "n.csv, line 7, column 'age': 'old' is not a number (1 cell in all: 'old') (option: category='age')",
        "e.csv, line 32, column 'amount': the weight 'x' is not a number (1 row in all): weights are numbers of 0 or "
        "above (option: weight=COLUMN)",
        "e.csv, line 5, column 'amount': the weight '-3' is negative (1 row in all): weights are numbers of 0 or above "
        "(option: weight=COLUMN)",
        "e.csv, line 9, column 'source': the end of the edge is empty (1 row in all)",
        "e.csv, line 6, column 'source': '4' is not the id of a node; 3 rows with 3 such ids ('4', '9', '99') "
        "(option: unknown_endpoints='add')",
        "e.csv, line 11, column 'target': '4' is not the id of a node; 2 rows with 2 such ids ('4', '9') "
        "(option: unknown_endpoints='add')",
    ]
    with pytest.raises(drgst.TableError, match="; 9 more faults, listed by") as caught:
        drgst.from_tables(*write, label="label", weight="amount", numeric="age", drop="nix")
    assert [str(fault) for fault in caught.value.faults] == found


@pytest.mark.parametrize(
    ("nodes", "edges", "options", "message"),
    [
        (NODES, EDGES, {"label": "lable"}, "n.csv: unknown column 'lable'; did you mean 'label'?"),
        (NODES, EDGES, {"id": "key"}, "n.csv: unknown column 'key'"),
        (NODES, EDGES, {"source": "src"}, "e.csv: unknown column 'src'"),
        (NODES, EDGES, {"time": "city"}, "e.csv: unknown column 'city'"),
        (NODES, EDGES, {"date": "city"}, "n.csv, line 2, column 'city': 'x0' is not a date"),
        (NODES, EDGES, {"time": "amount", "weight": "when"}, "e.csv, line 2, column 'when': the weight '2024-01-01'"),
        (NODES, EDGES.replace("2024", "soon"), {"time": "when"}, "line 2, column 'when': 'soon-01-01' is neither"),
        (NODES, EDGES, {"numeric": "age", "text": "age"}, "n.csv, column 'age': both numeric and text name it"),
        (NODES, EDGES, {"label": "age"}, "n.csv, column 'age': both"),
        (NODES, EDGES.replace("source", "p").replace("target", "q"), {"id": "city"}, "column 'city': the id 'x0'"),
        (NODES.replace("id,", "k,"), "p,q,r\nu,v,w\n", {}, "e.csv: no column for this end of the edges was found"),
        (NODES.replace("\n1,", "\nK,"), EDGES.replace("\n1,", "\nk,"), {}, "upper and lower case differ"),
    ],
)
def test_each_fault_names_its_place(
    write: Paths, nodes: str, edges: str, options: dict[str, object], message: str
) -> None:
    if options.get("label") == "age":
        options = {"label": "age", "numeric": "age"}
    found = sentences(write, nodes, edges, **options)
    assert any(message in sentence for sentence in found), found


def test_ids_are_not_guessed_where_nothing_fits(write: Paths) -> None:
    nodes = "city,label\nx,a\nx,b\ny,a\n"
    assert (
        "n.csv: which column holds the node ids is not clear (columns: city, label) (option: id=COLUMN)"
        in sentences(write, nodes)
    )


def test_labels_that_are_numbers_of_their_own(write: Paths) -> None:
    nodes = "id,label\n" + "".join(f"{k},{k * 3}\n" for k in range(30))
    assert "30 classes for 30 labelled nodes" in sentences(write, nodes)[0]


def test_ids_saved_as_decimals_are_read_and_noted(write: Paths) -> None:
    nodes = "\n".join(line.replace(",", ".0,", 1) if k else line for k, line in enumerate(NODES.split("\n")))
    assert sentences(write, nodes) == []
    made = drgst.from_tables(*write, label="label")
    assert made.graph.node_ids.tolist() == list(range(30))
    assert any("were read as whole numbers" in note for note in made.notes)


def test_notes_on_labels(write: Paths) -> None:
    nodes = NODES.replace("\n6,,", "\n6,unknown,").replace("\n7,,", "\n7,none,")
    sentences(write, nodes)
    notes = drgst.from_tables(*write, label="label").notes
    for note in ("has the class 'unknown'", "1 cell 'none' without"):
        assert any(note in text for text in notes), note


@pytest.mark.parametrize(
    ("other", "shown"), [("A", "'A' and 'a'"), ("a  ", ""), ("new a", ""), ("A A", "'A A' and 'aa'")]
)
def test_classes_that_differ_in_case_or_spaces_are_refused(write: Paths, other: str, shown: str) -> None:
    nodes = NODES.replace("\n2,a,", "\n2,aa,").replace("\n4,a,", f"\n4,{other},")
    fault = f"the classes {shown} differ in case or spaces only: write them alike"
    assert any(fault in sentence for sentence in sentences(write, nodes)) == bool(shown)


def test_faults_come_with_the_columns(write: Paths) -> None:
    sentences(write, NODES.replace("\n3,", "\n2,"))
    with pytest.raises(drgst.TableError) as caught:
        drgst.from_tables(*write, label="label")
    assert caught.value.report.splitlines() == [
        "column  type      becomes",
        "id      id        node ids",
        "label   label     2 classes: 'a', 'b'",
        "age     number    1 feature",
        "city    category  3 features",
    ]


@pytest.mark.parametrize(
    ("labels", "told"), [("aaaaabbbbb", True), ("aaaaabbbba", False), ("aabb", False), ("xxyy", True), ("xyyx", False)]
)
def test_a_column_that_gives_the_classes_away_is_noted(labels: str, told: bool) -> None:
    rows = len(labels)
    nodes = pa.table({"label": [*labels, ""], "club": ["x"] * (rows // 2) + ["y"] * (rows // 2) + ["x"]})
    notes = drgst.from_tables(nodes, label="label").notes
    said = f"nodes: column 'club' tells the classes of all {rows} labelled nodes apart: drop it if"
    assert any(note.startswith(said) for note in notes) == told


def test_unknown_options_are_refused(write: Paths) -> None:
    with pytest.raises(SettingError, match="unknown option 'lables'"):
        drgst.check_tables(*write, lables="label")
    with pytest.raises(SettingError, match="unknown_endpoints is 'lose', but must be one of refuse, add, drop"):
        drgst.check_tables(*write, label="label", unknown_endpoints="lose")


def test_columns_of_lists_long_names_and_long_labels() -> None:
    nodes = pa.table({"id": [1, 2], "label": [["a"], ["b"]], "x" * 2000: [1, 2]})
    found = [str(fault) for fault in drgst.check_tables(nodes, label="label", id="id")]
    assert found[0] == "nodes: a column name has 2000 characters; 1000 are allowed"
    assert "nodes: the column 'label' holds list<" in found[1]
    assert len(found) == 2
    nodes = pa.table({"id": [1, 2], "label": ["a" * 300, "b"]})
    assert "a label has 300 characters; 255 are allowed" in str(drgst.check_tables(nodes, label="label")[0])
    nodes = pa.table({"id": [1, 2, 3, 4], "label": ["a", "b"] * 2, "blob": ["p" * 9999, "q"] * 2})
    made = drgst.from_tables(nodes, label="label")
    assert made.schema.feature_names == ["blob = q", "blob = other"]


def test_words_for_missing_can_be_ids() -> None:
    nodes = pa.table({"id": ["none", "-", "x"], "label": ["a", "b", ""]})
    edges = pa.table({"source": ["none", "x"], "target": ["-", ""]})
    assert [str(fault) for fault in drgst.check_tables(nodes, edges, label="label")] == [
        "edges, row 2, column 'target': the end of the edge is empty (1 row in all)"
    ]
    assert drgst.from_tables(nodes, edges.slice(0, 1), label="label").graph.adjacency[0, 1] == 1


def test_weights_too_large_for_sums() -> None:
    nodes, edges = pa.table({"id": [1, 2], "label": ["a", "b"]}), pa.table({"source": [1], "target": [2], "w": [1e35]})
    assert "the weight '1e+35' is too large" in str(drgst.check_tables(nodes, edges, label="label", weight="w")[0])


JUNK = [*'",;|\n\t\0aé', "", '""', "-1", "1e400", "NaN", "0.0", "x" * 300, "2024-13-45"]


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 2**32), st.integers(1, 4), st.sampled_from([{}, {"weight": "amount"}, {"numeric": "age"}]))
def test_any_broken_table_gets_sentences(write: Paths, seed: int, cuts: int, options: dict[str, str]) -> None:
    """Random edits either leave tables that are read or give faults with a place; no other error is raised."""
    draw = random.Random(seed)
    texts = [NODES, EDGES]
    for _ in range(cuts):
        k = draw.randrange(2)
        start = draw.randrange(len(texts[k]))
        end = start + draw.choice([0, 1, 1, 5, 400])
        texts[k] = texts[k][:start] + draw.choice(JUNK) + texts[k][end:]
    for path, text in zip(write, texts, strict=True):
        path.write_bytes(text.encode())
    faults = drgst.check_tables(*write, label="label", **options)
    for fault in faults:
        text = texts[0] if fault.file == "n.csv" else texts[1]
        assert fault.message
        assert "\n" not in str(fault).replace("\\n", "")
        assert fault.row is None or 1 <= fault.row <= text.count("\n") + 1
    try:
        made = drgst.from_tables(*write, label="label", **options)
    except DrgstError:
        assert faults
    else:
        assert not faults
        assert made.schema.apply(*write).graph.num_features == made.graph.num_features


def test_the_columns_of_a_huge_number_of_features_are_described_at_once() -> None:
    nodes = pa.table({"id": ["a", "b"], "label": ["x", "y"], "features:2147483647": ["1", "2"]})
    assert drgst.from_tables(nodes, label="label").report.endswith("features  2,147,483,647 features")
