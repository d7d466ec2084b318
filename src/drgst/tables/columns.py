"""What each column of a table is: node columns, their faults and fit; ids; and the ends, weight and time of edges."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from math import lgamma, log

import numpy as np

from drgst.errors import unknown
from drgst.tables.cells import Cells
from drgst.tables.faults import HOLDS_ANSWER, Fault, counted, some
from drgst.tables.kinds import KINDS, detect
from drgst.tables.kinds.base import Column, least_rows
from drgst.tables.kinds.features import is_features_name
from drgst.tables.kinds.number import NumberColumn, is_id_name
from drgst.tables.naming import LONGEST_ID, as_integer
from drgst.tables.options import TableOptions
from drgst.tables.relations import RelationSchema
from drgst.tables.source import Table

MOST_CHANCE = 0.01  # probability that a column without information separates the classes of the labels

PAIRS = (  # words for the two ends of an edge
    *(("source", "target"), ("src", "dst"), ("from", "to"), ("sender", "receiver"), ("payer", "payee")),
    *(("caller", "callee"), ("origin", "destination"), ("debtor", "creditor"), ("buyer", "seller"), ("u", "v")),
)
WEIGHT = "weight"  # the name of the weight column where no option gives it
DISTINCT = 0.9  # share of distinct texts from which a column may be the id; repeated ids are then faults
MATCHED = 0.5  # share of the texts of an edge column that must be ids for it to count as an end of the edges
_NOT_FITTED = {"drop": "dropped by option", "faulty": "see its fault", "label_time": "the times of the labels"}

CellsByName = Mapping[str, Cells]
Roles = Mapping[str, str]  # column -> id, label, drop, faulty, link, split, a kind that is given, or empty


def option_faults(options: TableOptions, nodes: Table, edges: Mapping[str, Table]) -> list[Fault]:
    """The faults of options: columns that do not exist or can't be read, and columns that two options name."""
    everywhere = {*nodes.columns, *(name for table in edges.values() for name in table.columns)}
    found = []
    first: dict[str, str] = {}
    twice = []
    for column, option in options.named():
        there = column in (everywhere if option == "drop" else nodes.texts)
        if not there and (option != "label" or options.classes is None):
            found.append(nodes.fault(no_column(column, nodes), option=option))
        other = first.setdefault(column, option)
        if other != option:
            message = f"both {other} and {option} name it; one of them is allowed"
            twice.append(nodes.fault(message, column=column, option=option))
    return [*found, *twice]


def no_column(name: str, table: Table) -> str:
    """Why a column that an option names can't be used."""
    if name in table.columns:
        return f"the column {name!r} holds {table.data.column(name).type}, which is not read"
    header = "; is the header line missing?" if any(column.isdigit() for column in table.columns) else ""
    return unknown("column", name, table.columns) + header


def cell_faults(table: Table, roles: Roles) -> Iterator[Fault]:
    """Cells that are not of the kind that an option or the name of a column gives."""
    lists = [name for name, role in roles.items() if role == "features"]
    for name in lists:
        if not is_features_name(name):
            yield table.fault("a column of features must be called features, or features: and their number", None, name)
        elif name not in table.cells:
            kind = table.data.column(name).type
            yield table.fault(f"the column holds {kind}, not lists of numbers", column=name)
    free = [name for name, role in roles.items() if not role or name in lists[1:]]
    if lists and free:
        message = f"there can't be another column of features beside {lists[0]!r}"
        yield table.fault(message, column=free[0], option="drop", value=free[0])
    for name, role in roles.items():
        if role in KINDS and name in table.cells and (role != "features" or is_features_name(name)):
            cells = table.cells[name]
            bad = KINDS[role].bad(cells, name)
            if bad.any():
                texts, rows = cells.chosen(bad)
                message = f"{texts[0][:100]!r} is not {KINDS[role].wanted} ({counted(rows, 'cell')} in all: "
                row = cells.first_row(bad)
                yield table.fault(f"{message}{some(texts)})", row, name, option="category", value=name)


def column_table(rows: Sequence[Sequence[str]]) -> str:
    """A text table: each column, its type and what becomes of it."""
    rows = [("column", "type", "becomes"), *rows]
    widths = [max(len(row[k]) for row in rows) for k in range(2)]
    return "\n".join(f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c}" for a, b, c in rows)


def column_rows(
    roles: Roles, class_names: Sequence[str], columns: Sequence[Column], dropped: Mapping[str, str]
) -> list[tuple[str, str, str]]:
    """The rows of :func:`column_table` for the columns of a node table."""
    classes = f"{counted(len(class_names), 'class')}: {some(class_names, 5)}"
    becomes = {"id": "node ids", "label": classes}
    rows = [(name, role, becomes[role]) for role in becomes for name in roles if roles[name] == role]
    rows += [(column.column, column.kind, column.describe()) for column in columns]
    return rows + [(name, "dropped", reason) for name, reason in dropped.items()]


def answers(table: Table, columns: Sequence[Column], labels: np.ndarray, class_names: Sequence[str]) -> list[str]:
    """A note on each column whose value gives the class of every labelled node, since it may be made of the classes.

    With n labels, n_c of class c, an uninformative column does so with a probability of about C! Π_c n_c! / n!,
    which must be small, and its values must repeat; or its values are the names of the classes.
    """
    known = labels >= 0
    y = labels[known]
    counts = np.unique(y, return_counts=True)[1]
    chance = sum(lgamma(n + 1) for n in (*counts, counts.size)) - lgamma(y.size + 1)
    notes = []
    for name in [column.column for column in columns] if counts.size > 1 else ():
        values = table.cells[name].codes[known] if name in table.cells else np.arange(y.size)
        several = np.unique(values).size
        unlikely = several <= y.size / 2 and chance < log(MOST_CHANCE)
        few = name in table.cells and len(table.cells[name].values) == len(class_names)
        named = few and set(map(str, table.cells[name].texts)) == set(class_names)
        if (unlikely or named) and np.unique(np.stack([values, y]), axis=1).shape[1] == several:
            notes.append(
                f"{table.file}: column {name!r} {HOLDS_ANSWER} {y.size:,} labelled nodes apart: "
                "drop it if it is made of the classes"
            )
    return notes


def fit_columns(table: Table, roles: Roles) -> tuple[list[Column], dict[str, str], list[str]]:
    """The columns that give features, name -> reason of the others, and notes."""
    splits = {name: "the split of the nodes" for name, role in roles.items() if role == "split"}
    if table.raw:
        return [NumberColumn(column=name) for name in table.raw], splits, []
    unread = [name for name in table.columns if name not in table.cells]
    dropped = {name: f"its type {table.data.column(name).type} is not read" for name in unread}
    fitted: list[Column] = []
    notes = []
    for name, cells in table.cells.items():
        role = roles[name]
        if role in ("id", "label", "split", "link"):
            continue
        if role in _NOT_FITTED:
            dropped[name] = _NOT_FITTED[role]
            continue
        found, detected = detect(name, cells)
        kind = role or found
        column = None if kind is None else KINDS[kind].fit(name, cells)
        if column is None or column.useless:
            rare = f"no value occurs in {least_rows(cells.rows)} rows"
            dropped[name] = detected.dropped if column is None else rare
            continue
        fitted.append(column)
        if detected.note and kind == found:
            notes.append(f"{table.file}: column {name!r}: {detected.note}")
    if dropped:
        notes.append(f"{table.file}: {counted(len(dropped), 'column')} dropped ({some(list(dropped))})")
    return fitted, dropped | splits, notes


def find_id(options: TableOptions, nodes: CellsByName, edges: Sequence[CellsByName]) -> str | None:
    """The id column: the one named by the option, called ``id``, or whose texts are the ends of the edges."""
    if options.id is not None:
        return options.id if options.id in nodes else None
    allowed = [name for name in nodes if name != options.label and name not in options.drop]
    exact = [name for name in allowed if name.lower() == "id"]
    if exact:
        return exact[0]
    candidates = [name for name in allowed if len(nodes[name].values) >= max(DISTINCT * nodes[name].rows, 1)]
    named = [name for name in candidates if is_id_name(name)]
    if not edges:
        return named[0] if named else None
    score = {name: _overlap(nodes[name], edges) + 0.01 * is_id_name(name) for name in candidates}
    best = max(candidates, key=lambda name: score[name], default=None)
    if best is not None and score[best] >= MATCHED:
        return best
    return named[0] if len(named) == 1 else None


def bad_ids(table: Table, column: str, remedy: bool = True) -> Iterator[Fault]:
    """The faults of a column of ids; with ``remedy`` an option drops repeats."""
    cells = table.texts[column]
    texts = cells.ids
    if cells.missing.any():
        message = f"the id is empty ({counted(int(cells.missing.sum()), 'row')} in all)"
        yield table.fault(message, int(np.flatnonzero(cells.missing)[0]), column)
    index = {text: k for k, text in enumerate(dict.fromkeys(texts))}  # 7 and 7.0 are one id
    codes = cells.spread(np.array([index[text] for text in texts], dtype=np.int64), -1)
    repeated = np.bincount(codes[codes >= 0], minlength=len(index)) > 1
    if repeated.any():
        names = [text for text, again in zip(index, repeated, strict=True) if again]
        rows = np.flatnonzero(codes == index[names[0]])
        message = f"the id {names[0]!r} occurs again, first in {table.unit} {table.place(int(rows[0]))}"
        message += f"; {counted(len(names), 'id')} in all ({some(names)})"
        remedies = {"option": "duplicates", "value": "first"} if remedy else {}
        yield table.fault(message, int(rows[1]), column, **remedies)
    lengths = np.array([len(text) for text in texts])
    if (lengths > LONGEST_ID).any():
        longest = int(lengths[lengths > LONGEST_ID][0])
        message = f"the id has {longest} characters; {LONGEST_ID} are allowed"
        yield table.fault(message, cells.first_row(lengths == longest), column)
    numbers = [as_integer(text) for text in texts]
    negative = np.array([number is not None and number < 0 for number in numbers], dtype=bool)
    if None not in numbers and negative.any():
        text = texts[int(np.flatnonzero(negative)[0])]
        message = f"the id {text!r} is negative: ids are numbers of 0 or above, or names"
        yield table.fault(message, cells.first_row(negative), column)


def find_relation(
    name: str, table: Table, options: TableOptions, ids: Set[str]
) -> tuple[RelationSchema | None, list[Fault]]:
    """The columns of the edge table called ``name``; None, with faults, if its two ends are not found."""
    cells = table.cells
    source, target = _ends(options, cells, ids)
    faults: list[Fault] = []
    for option, column in {"source": source, "target": target, "weight": options.weight, "time": options.time}.items():
        if column is None and option in ("source", "target"):
            message = f"no column for this end of the edges was found (columns: {', '.join(cells)})"
            faults.append(table.fault(message, option=option))
        elif column is not None and column not in cells:
            faults.append(table.fault(no_column(column, table), option=option))
    if source is None or target is None or source not in cells or target not in cells:
        return None, faults
    if source == target:
        faults.append(table.fault("source and target are the same column", column=source, option="target"))
        return None, faults
    free = WEIGHT not in (source, target, options.time, *options.drop)
    weight = options.weight or (WEIGHT if free else None)
    weight = weight if weight in cells else None
    others = [name for name in cells if name not in (source, target, *options.drop)]
    timed = options.aggregate == "last" or any((options.as_of, options.half_life, options.label_time))
    unused = not options.edge_columns and not timed
    kinds = {name: None if unused else detect(name, cells[name])[0] for name in others}
    time = options.time or next((name for name in others if kinds[name] == "date"), None)
    amounts = tuple(name for name in others if name == weight or (kinds[name] == "number" and name != time))
    time = time if time in cells else None
    found = RelationSchema(name=name, source=source, target=target, weight=weight, time=time, amounts=amounts)
    return found, faults


def _ends(options: TableOptions, cells: CellsByName, ids: Set[str]) -> tuple[str | None, str | None]:
    if options.source is not None and options.target is not None:
        return options.source, options.target
    columns = [name for name in cells if name not in (options.weight, options.time, *options.drop)]
    found: list[tuple[str, str]] = []
    for first, second in PAIRS:
        sources, targets = ([name for name in columns if end in _words(name)] for end in (first, second))
        if len(sources) == 1 and len(targets) == 1:
            found.append((sources[0], targets[0]))
    matching = [] if found else [name for name in columns if cells[name].share_in(ids) >= MATCHED]
    found += [(pair[0], pair[1]) for pair in (matching, columns) if len(pair) == 2]
    source, target = found[0] if found else (None, None)
    return options.source or source, options.target or target


def _words(name: str) -> list[str]:
    """``fromAccount`` and ``from_account`` as from, account."""
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+|\d+", name)]


def _overlap(cells: Cells, edges: Sequence[CellsByName]) -> float:
    ids = set(cells.ids)
    return max((column.share_in(ids) for table in edges for column in table.values()), default=0.0)
