"""Names of data sets and paths of graphs, said in one way."""

from __future__ import annotations

from pathlib import Path

from drgst.graph.registry import DATASETS


def absolute(data: str, folder: Path | None = None) -> str:
    """A data set's name in small letters, or the absolute path of a graph."""
    if data.lower() in DATASETS:
        return data.lower()
    return str(((folder or Path()) / Path(data).expanduser()).absolute())
