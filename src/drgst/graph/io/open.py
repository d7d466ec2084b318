"""One door for everything that has a name or a path."""

from __future__ import annotations

import logging
import os
import zipfile
from pathlib import Path

from drgst.errors import DataFileError, unknown
from drgst.graph.core import Graph
from drgst.graph.datasets.corafull import read_graph2gauss
from drgst.graph.datasets.load import load
from drgst.graph.datasets.registry import DATASETS
from drgst.graph.io.npz import load_graph
from drgst.graph.io.tables import read_tables, sibling_tables

_log = logging.getLogger("drgst")


def open_graph(
    source: str | os.PathLike[str],
    root: str | os.PathLike[str] | None = None,
    classes: tuple[str, ...] | None = None,
) -> Graph:
    """A graph by data set name or by path: ``cora``, ``graph.npz``, a folder of tables, or one of two tables.

    A known name comes before a path of the same spelling (``./cora`` is the path). ``.npz`` may be drgst's own or of
    the layout of graph2gauss, in which many public graphs come. ``root`` is as for :func:`drgst.load`,
    ``classes`` (for a graph that is only to be predicted) as for :func:`drgst.read_tables`.
    """
    if isinstance(source, str) and source.lower() in DATASETS:
        return load(source, root)
    path = Path(source).expanduser()
    graph = _read(path, str(source), classes)
    for note in graph.notes:
        _log.info("%s: %s", graph.name, note)
    return graph


def _read(path: Path, said: str, classes: tuple[str, ...] | None) -> Graph:
    try:
        is_folder, exists = path.is_dir(), path.exists()
    except (OSError, ValueError) as error:  # no permission on the way there, or a name no file can have
        raise DataFileError(f"can't read {said!r}: {error}") from error
    if is_folder:
        return read_tables(path, classes=classes)
    if not exists:
        raise DataFileError(unknown("data set or path", said, DATASETS))
    if path.suffix == ".npz":
        return read_graph2gauss(path, path.stem) if _is_graph2gauss(path) else load_graph(path)
    if path.suffix in (".csv", ".parquet"):
        return read_tables(*sibling_tables(path), classes=classes)
    raise DataFileError(f"{path} is not a graph: .npz, .csv, .parquet or a folder of tables is read")


def _is_graph2gauss(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return "adj_data.npy" in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False  # load_graph says what is wrong with it
