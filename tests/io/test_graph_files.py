"""Graph files of other programs."""

import gzip
import os
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

import drgst
from drgst.datasets.load import GRAPH_FILES
from drgst.errors import DataFileError, NoLabels

NAMES = ["ann", "bob", "cy", "dee", "eve", "flo"]


def village(directed: bool = False) -> nx.Graph:
    graph = nx.DiGraph() if directed else nx.Graph()
    for k, name in enumerate(NAMES):
        graph.add_node(name, **{"class": "xy"[k % 2]} if k < 4 else {}, age=20 + k, city=("Rome", "Oslo")[k // 3])
    graph.add_weighted_edges_from([("ann", "bob", 2.0), ("bob", "cy", 1.0), ("cy", "dee", 3.0), ("eve", "eve", 1.0)])
    if directed:
        graph.add_edge("bob", "ann", weight=5.0)
    return graph


WRITERS = {"graphml": nx.write_graphml, "gml": nx.write_gml, "gexf": nx.write_gexf}


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("suffix", WRITERS)
def test_networkx_files(tmp_path: Path, suffix: str, directed: bool) -> None:
    WRITERS[suffix](village(directed), tmp_path / f"village.{suffix}")
    graph = drgst.open_graph(tmp_path / f"village.{suffix}")
    assert graph.name == "village"
    assert graph.node_ids.tolist() == NAMES
    assert graph.class_names == ("x", "y")
    assert graph.labels.tolist() == [0, 1, 0, 1, -1, -1]
    assert graph.adjacency[0, 1] == (7 if directed else 2)  # the sum over both directions
    assert graph.num_edges == 3
    assert graph.num_features == 3  # age and two cities


@pytest.mark.parametrize("suffix", GRAPH_FILES)
@pytest.mark.parametrize("zipped", [False, True])
def test_every_suffix_is_read(tmp_path: Path, suffix: str, zipped: bool) -> None:
    path = tmp_path / f"g{suffix}"
    if suffix[1:] in WRITERS:
        WRITERS[suffix[1:]](village(), path)
    else:
        path.write_text("# from to weight\nann bob 2\nbob\tcy 1\n\ncy,dee,3\neve eve 1\n")
        (tmp_path / "labels.csv").write_text("id,label\nann,x\nbob,y\ncy,x\ndee,y\n")
    labels = None if suffix[1:] in WRITERS else tmp_path / "labels.csv"
    if zipped:
        (tmp_path / f"g{suffix}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path = tmp_path / f"g{suffix}.gz"
    graph = drgst.open_graph(path, labels=labels)
    assert graph.labels[:4].tolist() == [0, 1, 0, 1]
    assert [graph.adjacency[0, 1], graph.adjacency[2, 3], graph.num_edges] == [2, 3, 3]


def test_labels_by_file_attribute_and_position(tmp_path: Path) -> None:
    nx.write_graphml(village(), tmp_path / "g.graphml")
    (tmp_path / "l.csv").write_text("node;kind\nann;p\nflo;q\n")
    graph = drgst.open_graph(tmp_path / "g.graphml", labels=tmp_path / "l.csv")
    assert graph.class_names == ("p", "q")
    assert graph.labels.tolist() == [0, -1, -1, -1, -1, 1]
    assert any("g.graphml: node attributes read as features: " in n and "'city'" in n for n in graph.notes)
    by_city = drgst.open_graph(tmp_path / "g.graphml", labels="city")
    assert by_city.class_names == ("Oslo", "Rome")
    with pytest.raises(DataFileError, match="unknown labels file or node attribute 'citi'; did you mean 'city'"):
        drgst.open_graph(tmp_path / "g.graphml", labels="citi")
    (tmp_path / "bad.csv").write_text("id,label\nzoe,p\nann,q\nann,p\n")
    with pytest.raises(drgst.TableError, match=r"bad.csv, line 2, column 'id': 'zoe' is not a node of g") as caught:
        drgst.open_graph(tmp_path / "g.graphml", labels=tmp_path / "bad.csv")
    assert str(caught.value.faults[1]) == "bad.csv, line 4, column 'label': node 'ann' has two labels"
    drgst.save_graph(graph, tmp_path / "g.npz")
    with pytest.raises(DataFileError, match="has its own labels"):
        drgst.open_graph(tmp_path / "g.npz", labels=tmp_path / "l.csv")


def test_display_names_are_no_labels(tmp_path: Path) -> None:
    graph = village()
    for name in NAMES:
        del graph.nodes[name]["age"], graph.nodes[name]["city"]
        graph.nodes[name].pop("class", None)
        graph.nodes[name]["label"] = name.title()
    nx.write_gexf(graph, tmp_path / "g.gexf")
    with pytest.raises(NoLabels, match="has no labels"):
        drgst.open_graph(tmp_path / "g.gexf")
    predicted = drgst.open_graph(tmp_path / "g.gexf", classes=("x", "y"))
    assert predicted.class_names == ("x", "y")
    assert (predicted.labels == -1).all()


def test_a_header_and_faults_of_an_edge_list(tmp_path: Path) -> None:
    path = tmp_path / "e.txt"
    path.write_text("Source Target\n1 2\n2 3\n")
    (tmp_path / "l.csv").write_text("id,label\n1,a\n3,b\n")
    graph = drgst.open_graph(path, labels=tmp_path / "l.csv")
    assert graph.node_ids.tolist() == [1, 2, 3]
    assert isinstance(graph.features, sp.csr_array | np.ndarray)
    assert graph.num_features == 0
    path.write_text("1 2\n7\n2 3\n8\n")
    with pytest.raises(drgst.TableError, match=r"e.txt, line 2: '7' is not an edge: two ids are needed; 1 more fault"):
        drgst.open_graph(path, labels=tmp_path / "l.csv")
    path.write_text("# nothing\n")
    with pytest.raises(drgst.TableError, match="is empty"):
        drgst.open_graph(path)
    path.write_text("1 2 -4\n2 3 1\n")
    with pytest.raises(drgst.TableError, match=r"e.txt, line 1, column 'weight': the weight '-4' is negative"):
        drgst.open_graph(path, labels=tmp_path / "l.csv")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("g.graphml", b"", "damaged or not a GraphML graph"),
        ("g.graphml", b"<graphml><graph>", "damaged or not a GraphML graph"),
        ("g.graphml", b'<!DOCTYPE x [<!ENTITY a "b">]><graphml/>', "document type, which is not allowed"),
        ("g.graphml", b'<!DOCTYPE x SYSTEM "http://127.0.0.1/x.dtd"><graphml/>', "document type, which is not allowed"),
        (
            "g.graphml",
            b'<graphml><graph><node id="a"/><node id="b"/><node id="a"/></graph></graphml>',
            "the node 'a' is declared 2 times",
        ),
        (
            "g.gexf",
            b'<gexf><graph><nodes><node id="a"/></nodes><edges><edge source="a" target="z"/></edges></graph></gexf>',
            "an edge leads to 'z', which is not a node of the file",
        ),
        ("g.gexf", b"<gexf></gexf>", "damaged or not a GEXF graph"),
        ("g.gml", b"graph [ node [ id 0", "damaged or not a GML graph"),
        ("g.gml", b"graph [ " * 3000, "damaged or not a GML graph"),
        ("g.gml", b'graph [ node [ id 0 label "&#55296;" ] ]', "damaged or not a GML graph"),
        ("g.gml.gz", b"no gzip", "can't read"),
        ("g.gml.gz", gzip.compress(b"graph [ ]", mtime=0)[:12] + b"\xff" * 20, "damaged or not a GML graph|can't read"),
        ("g.edges.gz", gzip.compress(b"1 2\n", mtime=0)[:12] + b"\xff" * 20, "damaged or not an edge list|can't read"),
        ("g.edges", b"a\0 b\n", "zero bytes"),
        ("g.txt", b"\xff\xfe\xff", "damaged or not an edge list"),
    ],
)
def test_damaged_files(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataFileError, match=message):
        drgst.open_graph(tmp_path / name)


GRAPHML = """<?xml version="1.0" encoding="{encoding}"?>{doctype}
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="d0" for="node" attr.name="{name}" attr.type="string"/>
<key id="d1" for="node" attr.name="class" attr.type="string"/>
<graph edgedefault="undirected">
<node id="a"><data key="d0">Jörg</data><data key="d1">x</data></node>
<node id="b"><data key="d0">z</data><data key="d1">x</data></node>
<node id="c"><data key="d1">y</data></node><node id="d"><data key="d1">y</data></node>
<edge source="a" target="b"/></graph></graphml>"""


def graphml(encoding: str = "utf-8", doctype: str = "", name: str = "town") -> str:
    return GRAPHML.format(encoding=encoding, doctype=doctype, name=name)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-16-be", "iso-8859-1", "windows-1252"])
def test_encodings_of_xml(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "g.graphml").write_bytes(graphml(encoding).encode(encoding))
    assert drgst.open_graph(tmp_path / "g.graphml").class_names == ("x", "y")


@pytest.mark.parametrize("encoding", ["rot13", "hex", "base64", "zlib", "utf-7", "idna", "no-such", ""])
def test_other_encodings_of_xml_are_refused(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "g.graphml").write_text(graphml(encoding or "\x01"))
    with pytest.raises(DataFileError, match="is not read \\(allowed: utf-8"):
        drgst.open_graph(tmp_path / "g.graphml")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-16-be"])
def test_entities_are_refused_in_every_encoding(tmp_path: Path, encoding: str) -> None:
    doctype = '<!DOCTYPE g [<!ENTITY e SYSTEM "file:///etc/passwd">]>'
    (tmp_path / "g.graphml").write_bytes(graphml(encoding, doctype).encode(encoding))
    with pytest.raises(DataFileError, match="document type"):
        drgst.open_graph(tmp_path / "g.graphml")


def test_an_attribute_without_name_is_a_column(tmp_path: Path) -> None:
    (tmp_path / "g.graphml").write_text(graphml(name=""), encoding="utf-8")
    assert drgst.open_graph(tmp_path / "g.graphml").num_nodes == 4


def test_lists_and_records_are_named(tmp_path: Path) -> None:
    nodes = "".join(f'node [ id {k} label "n{k}" class "{"xy"[k % 2]}" at [ x 1 y {k} ] ] ' for k in range(4))
    (tmp_path / "g.gml").write_text(f"graph [ {nodes} edge [ source 0 target 1 ] ]")
    graph = drgst.open_graph(tmp_path / "g.gml")
    assert "g.gml: attribute 'at' holds lists or records and is not used" in graph.notes


@pytest.mark.parametrize("suffix", ["graphml", "gml", "gexf", "edges", "npz", "csv", "parquet"])
def test_only_regular_files_are_read(tmp_path: Path, suffix: str) -> None:
    """A pipe without a writer would block for ever, and a device without end would fill the memory."""
    os.mkfifo(tmp_path / f"nodes.{suffix}")
    (tmp_path / f"zero.{suffix}").symlink_to("/dev/zero")
    for path in (tmp_path / f"nodes.{suffix}", tmp_path / f"zero.{suffix}"):
        with pytest.raises(DataFileError, match="neither a regular file nor a folder"):
            drgst.open_graph(path)


def test_an_attribute_that_is_the_answer_is_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    nx.write_graphml(nx.karate_club_graph(), tmp_path / "karate.graphml")
    clubs = nx.get_node_attributes(nx.karate_club_graph(), "club")
    lines = [f"{node},{'a' if clubs[node] == 'Officer' else 'b'}" for node in (*range(8), *range(24, 34))]
    (tmp_path / "labels.csv").write_text("\n".join(["id,label", *lines]))
    drgst.open_graph(tmp_path / "karate.graphml", labels=tmp_path / "labels.csv")
    (warning,) = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert "column 'club' tells the classes of all 18 labelled nodes apart" in warning


def test_a_file_without_labels_names_its_attributes(tmp_path: Path) -> None:
    nx.write_graphml(nx.karate_club_graph(), tmp_path / "club.graphml")
    with pytest.raises(NoLabels, match=r"has no labels: .* an attribute \(of this file: 'club'\) \(--labels\)"):
        drgst.open_graph(tmp_path / "club.graphml")
