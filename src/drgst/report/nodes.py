"""The nodes of a page as packed arrays: position, neighbours, role, predictions of each stage, and table columns.

A page holds a part of a large run: nodes, stages and edges are bounded, and a note says what was left out.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from drgst.graph.core import Graph
from drgst.graph.split import Split
from drgst.runs.folder import NODES as TABLE
from drgst.runs.folder import table_schema
from drgst.runs.result import Result
from drgst.selftrain.history import Stage

TOP = 12  # likeliest classes that are kept per node
ROLES = ("other", "training", "validation", "test", "pool")
NODES = 100_000  # points that a browser moves smoothly
BUDGET = 7_000_000  # bytes for data per node and stage
COST = 38  # bytes of one node in one stage
EDGES = 1_000_000  # neighbour entries
NEIGHBOURS = 24  # per node, where there are more entries than that
KINDS = {"u1": "<u1", "u2": "<u2", "u4": "<u4", "i2": "<i2", "f4": "<f4", "f8": "<f8"}
WHOLE = 65_535  # a share of 1 in 16 bits


@dataclass(frozen=True, eq=False)
class Sample:
    """The nodes (sorted) that a page holds, and a sentence where they are not all."""

    nodes: np.ndarray
    total: int

    @classmethod
    def of(cls, total: int, required: np.ndarray, seed: int) -> Sample:
        """All nodes where they fit; else ``required`` and a uniform sample of the others."""
        if total <= NODES:
            return cls(np.arange(total), total)
        required = np.unique(required[:NODES])
        rest = np.setdiff1d(np.arange(total), required)
        more = np.random.default_rng(seed).choice(rest, NODES - required.size, replace=False)
        return cls(np.union1d(required, more), total)

    @property
    def notes(self) -> list[str]:
        """What was left out."""
        if self.nodes.size == self.total:
            return []
        return [
            f"The page holds {self.nodes.size:,} of {self.total:,} nodes: all training and suggested nodes, and a "
            "uniform sample of the others. Figures and diagrams of the run are of all nodes."
        ]

    def places(self, nodes: Any) -> list[int]:
        """The places on the page of ``nodes``, which it holds."""
        return [int(place) for place in np.searchsorted(self.nodes, np.asarray(nodes, dtype=np.int64))]


def shown_stages(nodes: int, stages: int, result: int) -> list[int]:
    """The stages whose predictions of single nodes fit: evenly spaced, with the first, last and ``result`` stage."""
    most = max(3, BUDGET // (COST * nodes))
    if stages <= most:
        return list(range(stages))
    spaced = np.linspace(0, stages - 1, max(2, most - 1)).round().astype(int)
    return sorted({*spaced.tolist(), result})


def neighbours(adjacency: sp.csr_array, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """(indptr, indices, notes) of the edges among ``nodes``, numbered by place in ``nodes``."""
    among = adjacency[nodes][:, nodes].tocsr() if nodes.size < adjacency.shape[0] else adjacency
    if among.nnz <= EDGES:
        return among.indptr, among.indices, []
    rows = [_heaviest(among, row) for row in range(among.shape[0])]
    indptr = np.concatenate([[0], np.cumsum([row.size for row in rows])])
    note = f"At most {NEIGHBOURS} neighbours of each node are listed, those of the heaviest edges."
    return indptr, np.concatenate(rows), [note]


def _heaviest(matrix: sp.csr_array, row: int) -> np.ndarray:
    part = slice(matrix.indptr[row], matrix.indptr[row + 1])
    best = np.argsort(-matrix.data[part], kind="stable")[:NEIGHBOURS]
    return np.sort(matrix.indices[part][best])


def graph_data(graph: Graph, sample: Sample) -> tuple[dict[str, Any], list[str]]:
    """What does not depend on labels: ids, degrees and neighbours; and notes on edges that are left out."""
    indptr, indices, notes = neighbours(graph.adjacency, sample.nodes)
    data = {
        "count": int(sample.nodes.size),
        "total": sample.total,
        "ids": [str(name) for name in graph.node_ids[sample.nodes].tolist()],
        "degree": pack(graph.degrees[sample.nodes], "u4"),
        "indptr": pack(indptr, "u4"),
        "neighbours": pack(indices, "u4"),
    }
    return data, notes


def place_data(place: np.ndarray) -> dict[str, Any]:
    """Positions on the map, (N, 2) in [0, 1]²."""
    return {"x": pack_shares(place[:, 0]), "y": pack_shares(place[:, 1])}


def node_predictions(result: Result, sample: Sample, shown: list[int]) -> dict[str, Any]:
    """Labels and predictions of the nodes: ``given`` to the run, ``truth`` that was hidden from it, -1 for none."""
    nodes, stages = sample.nodes, [result.history[s] for s in shown]
    given = result.model.arrays["given"]
    return {
        "given": pack(given[nodes], "i2"),
        "truth": pack(np.where(given < 0, result.graph.labels, -1)[nodes], "i2"),
        "role": pack(roles(result.split, result.graph.num_nodes)[nodes], "u1"),
        "entered": pack(result.model.arrays["labeled_stage"][nodes], "i2"),
        **_predictions(stages, nodes),
        "pseudo_labels": [_pseudo_labels(stage, nodes) for stage in stages],
    }


def roles(split: Split, nodes: int) -> np.ndarray:
    """The index of each node's role in ``ROLES``, (N,); a test node that is also in the pool is a test node."""
    role = np.zeros(nodes, dtype=np.uint8)
    for code, part in ((4, split.pool), (1, split.train), (2, split.val), (3, split.test)):
        role[part] = code
    return role


def _predictions(stages: list[Stage], nodes: np.ndarray) -> dict[str, Any]:
    """The likeliest classes with their probabilities, and the information gain, (stages, nodes, …)."""
    p = np.stack([stage.probabilities[nodes] for stage in stages])
    order = np.argsort(-p, axis=2, kind="stable")[:, :, :TOP]
    return {
        "top": pack(order, "u1" if p.shape[2] <= 256 else "u2"),
        "share": pack_shares(np.take_along_axis(p, order, axis=2)),
        "gain": pack(np.stack([stage.all_gain[nodes] for stage in stages]), "f4"),
    }


def _pseudo_labels(stage: Stage, nodes: np.ndarray) -> dict[str, Any]:
    """The pseudo-labelled nodes of a stage with their labels and weights."""
    here = np.isin(stage.pseudo_labels.nodes, nodes)
    return {
        "node": pack(np.searchsorted(nodes, stage.pseudo_labels.nodes[here]), "u4"),
        "label": pack(stage.pseudo_labels.labels[here], "u2"),
        "weight": pack(stage.weights[here], "f4"),
    }


def pack(values: Any, kind: str) -> dict[str, Any]:
    """``{"kind", "shape", "data"}``."""
    array = np.ascontiguousarray(values, dtype=KINDS[kind])
    return {"kind": kind, "shape": list(array.shape), "data": base64.b64encode(array.tobytes()).decode("ascii")}


def pack_shares(values: np.ndarray) -> dict[str, Any]:
    """Numbers between 0 and 1 in 16 bits."""
    return pack(np.rint(np.clip(values, 0, 1) * WHOLE), "u2")


FEATURES = 24  # up to which the features of a graph without a table are columns
LETTERS = 6_000_000  # of all texts of a page
LONGEST = 400  # letters of one text
NUMERIC = 0.95  # share of the cells that must be numbers for a column of numbers
_NUMBER = re.compile(r"[+-]?(0|[1-9]\d{0,14})(\.\d+)?([eE][+-]?\d{1,2})?")  # 0012 is a code, not a number

Column = dict[str, Any]  # name, and "values" (numbers, NaN where missing) or "texts" and "codes" (-1 where missing)


def run_columns(graph: Graph, data: str, sample: Sample) -> tuple[list[Column], list[str]]:
    """The columns of a run on ``data``, and notes: of the table in its folder, else of :func:`feature_columns`."""
    schema, table = table_schema(data), Path(data).with_name(TABLE)
    if schema is None or not table.is_file():
        return feature_columns(graph, sample), []
    return table_columns(graph, str(table), schema.id, sample, hidden=schema.label)


def feature_columns(graph: Graph, sample: Sample) -> list[Column]:
    """One column per feature where there are few and they are dense."""
    x = graph.features
    if not isinstance(x, np.ndarray) or x.shape[1] > FEATURES:
        return []
    return [{"name": f"feature {k}", "values": pack(x[sample.nodes, k], "f4")} for k in range(x.shape[1])]


def table_columns(
    graph: Graph, table: Any, id_column: str | None, sample: Sample, hidden: str | None = None
) -> tuple[list[Column], list[str]]:
    """The columns of a node table but ids and ``hidden``, the labels; and notes on columns that are left out."""
    from drgst.tables.source import open_table

    cells = open_table(table, "nodes").checked().cells
    ids = cells.get(id_column or "")
    row_of = _rows(graph, ids)[sample.nodes]
    columns: list[Column] = []
    notes, left = [], LETTERS
    for name, each in cells.items():
        if name in (id_column, hidden) or name.partition(":")[0] == "features":
            continue
        codes = np.append(each.codes, -1)[row_of]
        values = np.array([float(text) if _NUMBER.fullmatch(text) else np.nan for text in each.texts], dtype=np.float64)
        if each.share(np.isfinite(values)) >= NUMERIC:
            columns.append({"name": name, "values": pack(np.append(values, np.nan)[codes], "f8")})
            continue
        used, codes = np.unique(codes, return_inverse=True)
        texts = [str(each.texts[k])[:LONGEST] for k in used[used >= 0].tolist()]
        codes = codes - int((used < 0).any())
        size = sum(map(len, texts))
        if size > left:
            notes.append(f"The column {name} is too long for the page and was left out.")
            continue
        left -= size
        columns.append({"name": name, "texts": texts, "codes": pack(np.where(codes < 0, 2**32 - 1, codes), "u4")})
    return columns, notes


def _rows(graph: Graph, ids: Any) -> np.ndarray:
    """The row of each node in the table, (N,); -1 (the last, which is missing) for nodes that it does not have."""
    if ids is None:
        return np.arange(graph.num_nodes)
    place = {text: k for k, text in enumerate(ids.spread(np.array(ids.texts, dtype=object), "").tolist())}
    return np.array([place.get(str(name), -1) for name in graph.node_ids.tolist()], dtype=np.int64)
