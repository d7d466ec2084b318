"""Labels added to a graph after ``drgst suggest`` asked for them: ``drgst run --add-labels ask.csv``."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from drgst.errors import nearest
from drgst.files import csv_text
from drgst.graph.core import Graph
from drgst.graph.split import Split
from drgst.tables.faults import Fault, TableError
from drgst.tables.naming import LONGEST_ID

if TYPE_CHECKING:
    from drgst.tables.source import Table

_log = logging.getLogger("drgst")
COLUMNS = ("id", "label", "chosen_by", "probability")


@dataclass(frozen=True)
class AddedLabel:
    """One row: a node, its label, the chooser that chose the node, and with which probability."""

    id: str
    label: str
    chosen_by: str = ""  # "" where nothing is stated
    probability: float | None = None  # of being chosen; None: not known
    file: str = field(default="added labels", compare=False)  # where it was read

    @property
    def is_sample(self) -> bool:
        """Whether the node is part of a simple random sample, or nothing else is stated."""
        return self.chosen_by in ("", "random")


def read_added(paths: Sequence[str | Path]) -> list[AddedLabel]:
    """The rows of tables that have a label; ``id`` and ``label`` are needed, the other columns may be missing.

    A node in several files or rows is refused unless its label is the same.
    """
    from drgst.tables.source import open_table  # pyarrow is slow to import

    found: dict[str, AddedLabel] = {}
    for path in paths:
        table = open_table(path, "labels").checked()
        for name in COLUMNS[:2]:
            if name not in table.texts:
                raise TableError([table.fault(f"has no column {name!r} (columns: {', '.join(table.columns)})")])
        for row in np.flatnonzero(~table.cells["label"].missing).tolist():
            added = _added(table, row)
            first = found.setdefault(added.id, added)
            if first.label != added.label:
                message = f"node {added.id!r} has the label {added.label!r}, and {first.label!r} in {first.file}"
                raise TableError([table.fault(message, row)])
    if not found:
        message = "the column label is empty, so there is nothing to add"
        raise TableError([Fault(", ".join(map(str, paths)), message)])
    return list(found.values())


def write_added(labels: Sequence[AddedLabel]) -> str:
    """The text of a CSV file that :func:`read_added` reads."""
    rows = [(a.id, a.label, a.chosen_by, "" if a.probability is None else repr(a.probability)) for a in labels]
    return csv_text([COLUMNS, *rows])


def add_labels(graph: Graph, split: Split, labels: Sequence[AddedLabel]) -> tuple[Graph, Split, np.ndarray | None]:
    """``graph`` with the labels, ``split`` with their nodes as training nodes, and which labels are a sample, (N,).

    The last is None where all labels are a random sample. A label that is unknown becomes a new class, with a warning.
    One that replaces another gets a warning, too. One that looks like a misspelt class is refused, as are labels of
    validation and test nodes.
    """
    place = {str(node): k for k, node in enumerate(graph.node_ids.tolist())}
    for added in labels:
        if added.id not in place:
            message = f"the label {added.label!r} is of {added.id!r}, which is not a node of {graph.name!r}"
            raise TableError([Fault(added.file, message)])
    nodes = np.array([place[added.id] for added in labels], dtype=np.int64)
    for part, kind in ((split.val, "validation"), (split.test, "test")):
        both = nodes[np.isin(nodes, part)]
        if both.size:
            file = labels[int(np.flatnonzero(nodes == both[0])[0])].file
            message = f"node {graph.node_ids[both[0]]} is a {kind} node, so its label can't be added"
            raise TableError([Fault(file, message)])
    names = _class_names(graph, labels)
    new, sampled = graph.labels.copy(), np.ones(graph.num_nodes, dtype=bool)
    new[nodes], sampled[nodes] = [names.index(a.label) for a in labels], [a.is_sample for a in labels]
    replaced = nodes[(graph.labels[nodes] >= 0) & (graph.labels[nodes] != new[nodes])]
    if replaced.size:
        old, now = (names[y[replaced[0]]] for y in (graph.labels, new))
        example = f"{graph.node_ids[replaced[0]]} was {old!r} and is {now!r}"
        _log.warning("%s labels of %s are replaced by added ones (%s)", f"{replaced.size:,}", graph.name, example)
    split = replace(split, train=np.union1d(split.train, nodes), pool=np.setdiff1d(split.pool, nodes))
    return graph.with_(labels=new, class_names=tuple(names)), split, None if sampled.all() else sampled


def _class_names(graph: Graph, labels: Sequence[AddedLabel]) -> list[str]:
    names = list(graph.class_names)
    files = {added.label: added.file for added in labels}
    for label in sorted(set(files) - set(names)):
        near = nearest(label, graph.class_names)
        if near:
            raise TableError([Fault(files[label], f"the label {label!r} is not a class of {graph.name!r}{near}")])
        if graph.class_names:
            _log.warning("the added label %r is a new class of %s", label, graph.name)
        names.append(label)
    return names


def _added(table: Table, row: int) -> AddedLabel:
    """The row of a table that has a label."""
    cells = {name: table.texts[name].text(row) for name in COLUMNS if name in table.texts}
    if not cells["id"]:
        raise TableError([table.fault(f"the label {cells['label']!r} has no id", row, "id")])
    if len(cells["label"]) > LONGEST_ID:
        message = f"a label has {len(cells['label'])} characters; {LONGEST_ID} are allowed"
        raise TableError([table.fault(message, row, "label")])
    given, probability = cells.get("probability"), None
    if given:
        try:
            probability = float(given)
        except ValueError:
            probability = float("nan")
        if not 0 < probability <= 1:
            message = f"is {given!r} (allowed: above 0, up to 1, or empty)"
            raise TableError([table.fault(message, row, "probability")])
    return AddedLabel(cells["id"], cells["label"], cells.get("chosen_by", ""), probability, table.file)
