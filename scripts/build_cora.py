"""Build src/drgst/datasets/data/cora.npz, the embedded Cora, from the LINQS files.

    python scripts/build_cora.py FOLDER

``cora.content`` holds one paper per line (id, 1,433 words as 0 or 1, class), ``cora.cites`` one citation per line, and
``public_split.csv`` says which Planetoid node a paper is and in which part of the public split.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from drgst.datasets.registry import CORA_CLASSES
from drgst.graph.core import Graph, make_graph
from drgst.graph.split import Split
from drgst.io.npz import save_graph

TARGET = Path(__file__).parents[1] / "src" / "drgst" / "datasets" / "data" / "cora.npz"


def build(folder: Path) -> Graph:
    """Cora in Planetoid's order with the public split."""
    with open(folder / "public_split.csv", encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    node = {row["paper_id"]: int(row["planetoid_index"]) for row in rows}
    part = {name: [node[r["paper_id"]] for r in rows if r["split"] == name] for name in ("train", "val", "test")}
    papers = [line.split() for line in (folder / "cora.content").read_text(encoding="utf-8").splitlines()]
    order = np.argsort([node[paper[0]] for paper in papers])
    words = np.array([paper[1:-1] for paper in papers], dtype=np.float32)[order]
    labels = np.array([CORA_CLASSES.index(paper[-1]) for paper in papers])[order]
    return make_graph(
        sp.csr_array(words),
        citations(folder / "cora.cites", node),
        labels,
        class_names=CORA_CLASSES,
        name="cora",
        splits=[Split.of(part["train"], part["val"], part["test"], len(node), name="public")],
    )


def citations(path: Path, node: dict[str, int]) -> sp.coo_array:
    """A_ij = 1 where paper i cites paper j."""
    pairs = np.array([[node[p] for p in line.split()] for line in path.read_text(encoding="utf-8").splitlines()])
    return sp.coo_array((np.ones(len(pairs), dtype=np.float32), (pairs[:, 1], pairs[:, 0])), shape=(len(node),) * 2)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    save_graph(build(Path(sys.argv[1])), TARGET)
