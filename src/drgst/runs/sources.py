"""Names of data sets and paths of graphs, said in one way."""

from __future__ import annotations

import os
from pathlib import Path

from drgst.graph.datasets.registry import DATASETS


def absolute(data: str, folder: Path | None = None) -> str:
    """A data set's name in small letters, or the absolute path of a graph; what is neither stays as it was said."""
    if data.lower() in DATASETS:
        return data.lower()
    path = (folder or Path()) / Path(data).expanduser()
    return str(path.absolute()) if os.path.exists(path) else data
