"""Labels added to a graph after ``drgst suggest`` asked for them: ``drgst run --add-labels ask.csv``."""

from __future__ import annotations

import csv
import io
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from drgst.errors import DataFileError, nearest
from drgst.files import csv_text, original_cell
from drgst.graph.core import Graph
from drgst.graph.split import Split

_log = logging.getLogger("drgst")
DELIMITERS = ",;\t"  # a spreadsheet may save with another one
COLUMNS = ("id", "label", "chosen_by", "probability")


@dataclass(frozen=True)
class AddedLabel:
    """One row: a node, its label, the chooser that chose the node, and with which probability."""

    id: str
    label: str
    chosen_by: str = ""  # "" where nothing is stated
    probability: float | None = None  # of being chosen; None: not known

    @property
    def is_sample(self) -> bool:
        """Whether the node was drawn at random, or nothing else is stated."""
        return not self.chosen_by or self.probability is not None


def read_added(paths: Sequence[str | Path]) -> list[AddedLabel]:
    """The rows of CSV files that have a label; ``id`` and ``label`` are needed, the other columns may be missing.

    A node in several files or rows is refused unless its label is the same.
    """
    found: dict[str, AddedLabel] = {}
    for path in paths:
        for number, row in enumerate(_rows(Path(path)), 2):
            label = _row(row, f"{path}, line {number}")
            if label is None:
                continue
            if label.id in found and found[label.id].label != label.label:
                other = found[label.id].label
                message = f"{path}, line {number}: node {label.id!r} has the labels {other!r} and {label.label!r}"
                raise DataFileError(message)
            found.setdefault(label.id, label)
    if not found:
        raise DataFileError(f"{', '.join(map(str, paths))}: the column label is empty, so there is nothing to add")
    return list(found.values())


def write_added(labels: Sequence[AddedLabel]) -> str:
    """The text of a CSV file that :func:`read_added` reads."""
    rows = [(a.id, a.label, a.chosen_by, "" if a.probability is None else repr(a.probability)) for a in labels]
    return csv_text([COLUMNS, *rows])


def add_labels(graph: Graph, split: Split, labels: Sequence[AddedLabel]) -> tuple[Graph, Split, np.ndarray | None]:
    """``graph`` with the labels, ``split`` with their nodes as training nodes, and which labels are a sample, (N,).

    The last is None where all labels are a random sample. An unknown label becomes a new class, with a warning. One
    that looks like a misspelt class is refused, as are labels of validation and test nodes.
    """
    place = {str(node): k for k, node in enumerate(graph.node_ids.tolist())}
    for added in labels:
        if added.id not in place:
            raise DataFileError(
                f"the added label {added.label!r} is of {added.id!r}, which is not a node of {graph.name!r}"
            )
    nodes = np.array([place[added.id] for added in labels], dtype=np.int64)
    for part, kind in ((split.val, "validation"), (split.test, "test")):
        both = nodes[np.isin(nodes, part)]
        if both.size:
            raise DataFileError(f"node {graph.node_ids[both[0]]} is a {kind} node, so its label can't be added")
    names = _class_names(graph, labels)
    new, sampled = graph.labels.copy(), np.ones(graph.num_nodes, dtype=bool)
    new[nodes], sampled[nodes] = [names.index(a.label) for a in labels], [a.is_sample for a in labels]
    split = replace(split, train=np.union1d(split.train, nodes), pool=np.setdiff1d(split.pool, nodes))
    return graph.with_(labels=new, class_names=tuple(names)), split, None if sampled.all() else sampled


def _class_names(graph: Graph, labels: Sequence[AddedLabel]) -> list[str]:
    names = list(graph.class_names)
    for label in sorted({added.label for added in labels} - set(names)):
        near = nearest(label, graph.class_names)
        if near:
            raise DataFileError(f"the added label {label!r} is not a class of {graph.name!r}{near}")
        if graph.class_names:
            _log.warning("the added label %r is a new class of %s", label, graph.name)
        names.append(label)
    return names


def _rows(path: Path) -> list[dict[str, str]]:
    try:
        text = path.read_bytes().decode("utf-8-sig")
        delimiter = max(DELIMITERS, key=text.partition("\n")[0].count)
        rows = list(csv.DictReader(io.StringIO(text), delimiter=delimiter))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataFileError(f"can't read {path}: {getattr(error, 'strerror', None) or error}") from error
    for name in COLUMNS[:2]:
        if rows and name not in rows[0]:
            raise DataFileError(f"{path} has no column {name!r} (columns: {', '.join(rows[0])})")
    return rows


def _row(row: dict[str, str], where: str) -> AddedLabel | None:
    """None for a row without a label."""
    cells = {name: original_cell(str(row.get(name) or "")).strip() for name in COLUMNS}
    if not cells["label"]:
        return None
    if not cells["id"]:
        raise DataFileError(f"{where}: the label {cells['label']!r} has no id")
    probability = None
    if cells["probability"]:
        try:
            probability = float(cells["probability"])
        except ValueError:
            probability = float("nan")
        if not 0 < probability <= 1:
            raise DataFileError(
                f"{where}: probability is {cells['probability']!r} (allowed: above 0, up to 1, or empty)"
            )
    return AddedLabel(cells["id"], cells["label"], cells["chosen_by"], probability)
