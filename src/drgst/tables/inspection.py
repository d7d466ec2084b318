"""Opening of a node table and its edge tables, and the search for all their faults at once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from drgst.errors import GraphError
from drgst.graph.split import PARTS, Split
from drgst.tables.cells import MISSING, CellError, Cells, empty_cells, read_cells
from drgst.tables.faults import Fault, counted, some
from drgst.tables.kinds import KINDS
from drgst.tables.kinds.features import is_features_name, list_cells
from drgst.tables.naming import LONGEST_ID, as_integer, encode_labels
from drgst.tables.options import TableOptions
from drgst.tables.relations import EdgeReader
from drgst.tables.roles import OpenTable, are_whole, check_names, find_id, find_relation, id_texts
from drgst.tables.schema import RelationSchema, TableSchema, missing_columns
from drgst.tables.source import Table, open_table

MOST_COLUMNS = 1 << 15  # of a table whose columns are encoded: about 2 ms each
MOST_CLASSES = 0.5  # classes per labelled node above which labels are rather numbers or ids
NO_LABEL = "no node has a label: at least two classes need one"
ONE_CLASS = "only one class has a label: at least two classes need one"
FEW_LABELS = 20  # labelled nodes up to which that is not checked
_NUMERIC = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean)
_NO_LABEL = {"unknown", "unlabelled", "unlabeled", "missing", "tbd", "n.a."}  # class names that may mean no label


@dataclass(eq=False)
class Inspection:
    """The tables with what was found out about them; ``faults`` lists every fault."""

    options: TableOptions
    nodes: OpenTable | None = None
    id: str | None = None
    ids: list[str] = field(default_factory=list)  # of the rows of the node table
    splits: list[Split] = field(default_factory=list)
    edges: list[EdgeReader] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def rows(self) -> int:
        """Rows of the node table."""
        return len(self.ids)

    def labels(self) -> tuple[np.ndarray, tuple[str, ...]]:
        """Class indices with -1 for unknown, (rows,), and the class names."""
        column = self.options.label
        if self.nodes is None or column is None or column not in self.nodes.cells:
            return np.full(self.rows, -1, dtype=np.int64), ()
        cells = self.nodes.cells[column]
        per_value, names = encode_labels(cells.texts)
        return cells.spread(per_value, -1).astype(np.int64), names


def inspect_tables(
    nodes: Any, edges: Any, options: TableOptions, schema: TableSchema | None = None, known: set[str] | None = None
) -> Inspection:
    """Open the tables, find the role of each column and all faults.

    With ``schema`` the roles are those of fitting and labels are optional. ``known`` are further ids that edges may
    lead to.
    """
    found = Inspection(options)
    found.nodes = _open(nodes, "nodes", found, options.raw)
    tables = {name: _open(given, name, found) for name, given in _edge_tables(edges).items()}
    opened = {name: table for name, table in tables.items() if table is not None}
    if found.nodes is None:
        return found
    table = found.nodes.table
    if table.data.num_rows == 0:
        found.faults.append(table.fault("has no rows below its header"))
        return found
    if schema is None:
        found.faults += check_names(options, found.nodes, [edge.table for edge in opened.values()])
    else:
        found.notes += missing_columns(schema, table.columns, table.file)
    inspect_nodes(found, opened, schema, len(known or ()))
    whole = are_whole(found.ids)
    ids = {*found.ids, *(known or ())}
    for name, edge in opened.items():
        relation = _relation(name, edge, found, ids) if schema is None else _fitted_relation(name, edge, found, schema)
        if relation is not None:
            found.edges.append(EdgeReader(_with_columns(edge, relation), relation, whole))
            refuse = options.unknown_endpoints == "refuse" and bool(found.ids)
            found.faults += found.edges[-1].faults(ids if refuse else None)
    return found


def inspect_nodes(found: Inspection, edges: Mapping[str, OpenTable], schema: TableSchema | None, first: int) -> None:
    """Ids, labels and splits of the open node table, and the faults of its cells."""
    _find_ids(found, edges, schema, first)
    _check_labels(found, schema)
    if schema is None:
        _read_splits(found)
    _check_types(found)


def _edge_tables(edges: Any) -> dict[str, Any]:
    """Name -> edge table: keys of a dict, else the names of files without suffix, else ``edges``."""
    if edges is None:
        return {}
    if isinstance(edges, Mapping):
        return {str(name) or "edges": table for name, table in edges.items()}
    several = edges if isinstance(edges, list | tuple) else [edges]
    found: dict[str, Any] = {}
    for k, table in enumerate(several, start=1):
        is_path = isinstance(table, str | os.PathLike)
        stem = Path(table).name.partition(".")[0] if is_path else ""
        name = stem or ("edges" if len(several) == 1 else f"edges {k}")
        found[f"{name} {k}" if name in found else name] = table
    return found


def _open(given: Any, name: str, found: Inspection, raw: bool = False) -> OpenTable | None:
    table = open_table(given, name, found.faults)
    if table is None:
        return None
    found.notes += table.notes
    opened = open_columns(table, found.faults, raw)
    return opened if opened.texts or opened.raw or not found.faults else None


def open_columns(table: Table, faults: list[Fault], raw: bool) -> OpenTable:
    """The table with the cells of its columns; with ``raw``, numbers that are used as they are have no cells."""
    numbers = raw_numbers(table) if raw else None
    texts: dict[str, Cells] = {}
    if not numbers and len(table.columns) > MOST_COLUMNS:
        faults.append(table.fault(f"has {len(table.columns):,} columns; {MOST_COLUMNS:,} are allowed"))
        return OpenTable(table, texts)
    for column in table.columns:
        if numbers is not None and column in numbers:
            continue
        try:
            cells = read_cells(table.data.column(column), table.unit == "line")
        except CellError as error:
            faults.append(table.fault(str(error), error.row, column))
            continue
        if cells is None and is_features_name(column):
            cells = list_cells(table.data.column(column))
        if cells is not None:
            texts[column] = cells
    return OpenTable(table, texts, numbers or {})


def is_feature(column: str) -> bool:
    """Whether the column of a graph folder has a feature, not an id, a label, a split or a list of features."""
    return column not in ("id", "label") and column.partition(":")[0] not in ("split", "features")


def raw_numbers(table: Table) -> dict[str, np.ndarray] | None:
    """Column -> its numbers, (N,) float32; None if a feature column has another cell, such as a missing one."""
    found: dict[str, np.ndarray] = {}
    for column in filter(is_feature, table.columns):
        data = table.data.column(column)
        try:
            data = data.cast(data.type.value_type) if pa.types.is_dictionary(data.type) else data
            if pa.types.is_string(data.type):
                data = pc.utf8_trim_whitespace(data).cast(pa.float64())
            elif not (
                pa.types.is_integer(data.type) or pa.types.is_floating(data.type) or pa.types.is_boolean(data.type)
            ):
                return None
            with np.errstate(over="ignore"):
                x = data.to_numpy().astype(np.float64).astype(np.float32)
        except (pa.ArrowException, TypeError, ValueError):
            return None
        if data.null_count or not np.isfinite(x).all():
            return None
        found[column] = x
    return found


def _find_ids(found: Inspection, edges: Mapping[str, OpenTable], schema: TableSchema | None, first: int) -> None:
    """Set the id column and the ids of the rows; without one, rows are numbered from ``first``."""
    assert found.nodes is not None
    table, cells = found.nodes.table, found.nodes.cells
    column = find_id(found.options, cells, [edge.cells for edge in edges.values()])
    if schema is not None and schema.id is not None:
        column = schema.id if schema.id in cells else None
        if column is None:
            found.faults.append(table.fault(f"the id column {schema.id!r} of fitting is missing"))
            return
    if column is None:
        if edges and found.options.id is None:
            message = f"which column holds the node ids is not clear (columns: {', '.join(cells)})"
            found.faults.append(table.fault(message, option="id"))
        else:
            found.ids = [str(first + k) for k in range(table.data.num_rows)]
        return
    found.id = column
    plain = found.nodes.texts[column]
    texts = id_texts(plain)
    if texts != plain.texts:
        found.notes.append(f"{table.file}: the ids of column {column!r} were read as whole numbers")
    found.faults += _bad_ids(table, column, plain, texts)
    found.ids = ["" if code < 0 else texts[code] for code in plain.codes.tolist()]


def _bad_ids(table: Table, column: str, cells: Cells, texts: list[str]) -> list[Fault]:
    faults = []
    if cells.missing.any():
        message = f"the id is empty ({counted(int(cells.missing.sum()), 'row')} in all)"
        faults.append(table.fault(message, int(np.flatnonzero(cells.missing)[0]), column))
    index = {text: k for k, text in enumerate(dict.fromkeys(texts))}  # 7 and 7.0 are one id
    codes = cells.spread(np.array([index[text] for text in texts], dtype=np.int64), -1)
    repeated = np.bincount(codes[codes >= 0], minlength=len(index)) > 1
    if repeated.any():
        rows = np.flatnonzero(codes == int(np.flatnonzero(repeated)[0]))
        names = [text for text, twice in zip(index, repeated, strict=True) if twice]
        message = f"the id {names[0]!r} occurs again, first in {table.unit} {table.place(int(rows[0]))}"
        message += f"; {counted(len(names), 'id')} in all ({some(names)})"
        faults.append(table.fault(message, int(rows[1]), column, option="id"))
    for k, text in enumerate(texts):
        if len(text) > LONGEST_ID:
            message = f"the id has {len(text)} characters; {LONGEST_ID} are allowed"
            faults.append(table.fault(message, cells.first_row(np.arange(len(texts)) == k), column))
            break
    whole = [as_integer(text) for text in texts]
    if None not in whole and texts and min(n for n in whole if n is not None) < 0:
        bad = np.array([n is not None and n < 0 for n in whole])
        message = f"the id {texts[int(np.flatnonzero(bad)[0])]!r} is negative: ids are numbers of 0 or above, or names"
        faults.append(table.fault(message, cells.first_row(bad), column))
    return faults


def _relation(name: str, edge: OpenTable, found: Inspection, ids: set[str]) -> RelationSchema | None:
    """The columns of an edge table that options, names and contents give."""
    relation, faults = find_relation(name, edge, found.options, ids)
    found.faults += faults
    if relation is None:
        return None
    used = {relation.source, relation.target, relation.weight, relation.time, *relation.amounts}
    others = [column for column in edge.table.columns if column not in used]
    if others:
        found.notes.append(f"{edge.table.file}: column{'s' if len(others) > 1 else ''} {some(others)} not used")
    return relation


def _fitted_relation(name: str, edge: OpenTable, found: Inspection, schema: TableSchema) -> RelationSchema | None:
    """The columns of fitting: of the relation of the table's name, or of the only one."""
    table = edge.table
    known = {relation.name: relation for relation in schema.relations}
    fitted = known.get(name) or (schema.relations[0] if len(known) == 1 else None)
    if fitted is None or any(reader.schema.name == fitted.name for reader in found.edges):
        message = f"there was no such relation in fitting (relations: {', '.join(known) or 'none'})"
        found.faults.append(table.fault(message))
        return None
    needed = [column for column in (fitted.source, fitted.target, fitted.weight) if column is not None]
    lacking = [column for column in needed if column not in edge.texts]
    found.faults += [table.fault(f"the column {column!r} of fitting is missing") for column in lacking]
    gone = [column for column in (*fitted.amounts, fitted.time) if column is not None and column not in edge.texts]
    if gone and not lacking:
        found.notes.append(f"{table.file} has no column {some(gone)}: its cells count as missing")
    return None if lacking else fitted


def _with_columns(edge: OpenTable, relation: RelationSchema) -> OpenTable:
    """The edge table with empty cells in the columns that it lacks."""
    names = [column for column in (*relation.amounts, relation.time) if column is not None]
    gone = [column for column in names if column not in edge.texts]
    return OpenTable(edge.table, {**edge.texts, **dict.fromkeys(gone, empty_cells(edge.table.data.num_rows))})


def _check_labels(found: Inspection, schema: TableSchema | None) -> None:
    assert found.nodes is not None
    table, column = found.nodes.table, found.options.label
    if column is None or column not in found.nodes.cells:
        return
    try:
        labels, names = found.labels()
    except GraphError as error:
        found.faults.append(table.fault(str(error), column=column, option="label"))
        return
    known = int((labels >= 0).sum())
    longest = max((len(name) for name in names), default=0)
    if longest > LONGEST_ID:
        message = f"a label has {longest} characters; {LONGEST_ID} are allowed"
        found.faults.append(table.fault(message, column=column, option="label"))
    found.notes += _missing_words(table, column, found.nodes.texts[column])
    if found.options.predict:
        return
    if schema is not None:
        others = [name for name in names if name not in schema.class_names]
        if others:
            message = f"the labels {some(others)} were not classes when the model was fitted and count as unknown"
            found.notes.append(f"{table.file}: {message}")
    elif len(names) < 2:
        message = ONE_CLASS if names else NO_LABEL
        found.faults.append(table.fault(message, column=column, option="label"))
    elif not found.options.raw and known > FEW_LABELS and len(names) > MOST_CLASSES * known:
        message = f"{len(names):,} classes for {known:,} labelled nodes: a column of classes is needed, not of numbers"
        found.faults.append(table.fault(message, column=column, option="label"))
    found.notes += _label_notes(names, table.file, column)


def _missing_words(table: Table, column: str, cells: Cells) -> list[str]:
    """A note on each word in the label column that counts as no label, since it may be a class."""
    pairs = zip(cells.texts, cells.counts.tolist(), strict=True)
    words = [(text, count) for text, count in pairs if text.lower() in MISSING]
    return [f"{table.file}: column {column!r}: {counted(n, 'cell')} {text!r} without label" for text, n in words]


def _label_notes(names: tuple[str, ...], file: str, column: str) -> list[str]:
    notes = []
    folded: dict[str, str] = {}
    for name in names:
        other = folded.setdefault(name.casefold(), name)
        if other != name:
            notes.append(f"{file}: column {column!r} has the classes {other!r} and {name!r}, which differ in case only")
        if name.casefold() in _NO_LABEL:
            notes.append(f"{file}: column {column!r} has the class {name!r}; leave cells empty that have no label")
    return notes


def split_columns(found: Inspection) -> list[str]:
    """The columns called ``split`` or ``split:NAME`` that no option gives another role."""
    assert found.nodes is not None
    options = found.options
    taken = {options.id, options.label, *options.drop, *options.kinds()}
    columns = [column for column in found.nodes.table.columns if column not in taken]
    return [column for column in columns if column == "split" or column.startswith("split:")]


def _read_splits(found: Inspection) -> None:
    """The splits in columns of ``train``, ``val``, ``test`` or empty cells."""
    assert found.nodes is not None
    for column in split_columns(found):
        cells = found.nodes.cells.get(column, empty_cells(0))
        bad = np.array([text not in PARTS[:3] for text in cells.texts], dtype=bool)
        if bad.any():
            message = f"{bad_text(cells, bad)!r} is not a part of a split: train, val, test or an empty cell is allowed"
            fault = found.nodes.table.fault(message, cells.first_row(bad), column, option="category", value=column)
            found.faults.append(fault)
        elif cells.counts.any():
            index = {text: k for k, text in enumerate(cells.texts)}
            train, val, test = (np.flatnonzero(cells.codes == index.get(part, -2)) for part in PARTS[:3])
            found.splits.append(Split.of(train, val, test, cells.rows, name=column.partition(":")[2] or "split"))


def _check_types(found: Inspection) -> None:
    """Cells that are not of the kind that an option or the name of a column gives."""
    assert found.nodes is not None
    table, all_cells = found.nodes.table, found.nodes.cells
    kinds = {column: kind for column, (_, kind) in found.options.kinds().items()}
    taken = {found.id, found.options.label, *found.options.drop, *kinds}
    lists = [column for column in table.columns if column.partition(":")[0] == "features" and column not in taken]
    for column in lists:
        kinds[column] = "features"
        if not is_features_name(column):
            message = "a column of features must be called features, or features: and their number"
            found.faults.append(table.fault(message, column=column))
        elif column not in all_cells:
            message = f"the column holds {table.data.column(column).type}, not lists of numbers"
            found.faults.append(table.fault(message, column=column))
    others = {*taken, *lists[:1], *split_columns(found)}
    free = [column for column in table.columns if column not in others]
    if lists and free:
        message = f"beside {lists[0]!r} there can be no other column of features"
        found.faults.append(table.fault(message, column=free[0], option="drop", value=free[0]))
    for column, kind in kinds.items():
        if column in all_cells and not (kind == "features" and not is_features_name(column)):
            cells = all_cells[column]
            bad = KINDS[kind].bad(cells, column)
            if bad.any():
                texts = [str(text) for text, wrong in zip(cells.texts, bad, strict=True) if wrong]
                rows = counted(int(cells.counts[bad].sum()), "cell")
                message = f"{texts[0][:100]!r} is not {KINDS[kind].wanted} ({rows} in all: {some(texts)})"
                remedy = {"option": "category", "value": column}
                found.faults.append(table.fault(message, cells.first_row(bad), column, **remedy))


def bad_text(cells: Cells, bad: np.ndarray) -> str:
    """The first distinct text that a mask marks, (V,)."""
    return str(cells.texts[int(np.flatnonzero(bad)[0])])
