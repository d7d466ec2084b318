"""Which column is the id, the label, the source, the target, the weight and the time: by option, name or content."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from drgst.errors import unknown
from drgst.tables.cells import Cells
from drgst.tables.faults import Fault
from drgst.tables.kinds import detect
from drgst.tables.kinds.number import is_id_name
from drgst.tables.options import KIND_OPTIONS, TableOptions
from drgst.tables.schema import RelationSchema
from drgst.tables.source import Table

PAIRS = (  # words for the two ends of an edge
    *(("source", "target"), ("src", "dst"), ("from", "to"), ("sender", "receiver"), ("payer", "payee")),
    *(("caller", "callee"), ("origin", "destination"), ("debtor", "creditor"), ("buyer", "seller"), ("u", "v")),
)
WEIGHT = "weight"  # the name of the weight column where no option gives it
DISTINCT = 0.9  # share of distinct texts from which a column may be the id; repeated ids are then faults
MATCHED = 0.5  # share of the texts of an edge column that must be ids for it to count as an end of the edges
_WHOLE = re.compile(r"\d+(\.0+)?")
_LETTERS = re.compile(r"^[^\W\d]\D*(?=\d)")

CellsByName = Mapping[str, Cells]


@dataclass(frozen=True, eq=False)
class OpenTable:
    """A table and the cells of its columns, each read once."""

    table: Table
    texts: CellsByName  # column -> its cells, of which only empty ones are missing: an id may be "none" or "-"
    raw: Mapping[str, np.ndarray] = field(default_factory=dict)  # column -> numbers that are used as they are, (N,)

    @cached_property
    def cells(self) -> CellsByName:
        """Column -> its cells, where words for missing cells count as missing."""
        return {name: cells.known for name, cells in self.texts.items()}


Found = tuple[RelationSchema | None, list[Fault]]


def check_names(options: TableOptions, opened: OpenTable, edges: Iterable[Table]) -> list[Fault]:
    """The faults of options: columns that do not exist or can't be read, and columns that two options name."""
    nodes = opened.table
    everywhere = {*nodes.columns, *(name for table in edges for name in table.columns)}
    named = [(option, getattr(options, option)) for option in ("label", "id") if getattr(options, option) is not None]
    named += [(option, column) for option in KIND_OPTIONS for column in getattr(options, option)]
    optional = ("label", options.label) if options.predict else None
    absent = [pair for pair in named if pair[1] not in opened.texts and pair != optional]
    absent += [("drop", column) for column in options.drop if column not in everywhere]
    found = [nodes.fault(_no_column(column, nodes), option=option) for option, column in absent]
    for column, first, second in options.twice():
        message = f"both {first} and {second} name it; one of them is allowed"
        found.append(nodes.fault(message, column=column, option=second))
    return found


def find_id(options: TableOptions, nodes: CellsByName, edges: Sequence[CellsByName]) -> str | None:
    """The id column: the one named by the option, called ``id``, or whose texts are the ends of the edges."""
    if options.id is not None:
        return options.id if options.id in nodes else None
    allowed = [name for name in nodes if name != options.label and name not in options.drop]
    exact = [name for name in allowed if name.lower() == "id"]
    if exact:
        return exact[0]
    candidates = [name for name in allowed if _is_distinct(nodes[name])]
    if not edges:
        named = [name for name in candidates if is_id_name(name)]
        return named[0] if named else None
    score = {name: _overlap(nodes[name], edges) + 0.01 * is_id_name(name) for name in candidates}
    best = max(candidates, key=lambda name: score[name], default=None)
    if best is not None and score[best] >= MATCHED:
        return best
    named = [name for name in candidates if is_id_name(name)]
    return named[0] if len(named) == 1 else None


def find_relation(name: str, edges: OpenTable, options: TableOptions, ids: Set[str]) -> Found:
    """The columns of the edge table called ``name``; None, with faults, if its two ends are not found."""
    table, cells = edges.table, edges.cells
    faults: list[Fault] = []
    source, target = _ends(options, cells, ids)
    ends = {"source": source, "target": target}
    for option, column in ends.items():
        if column is None:
            message = "no column for this end of the edges was found"
            faults.append(table.fault(f"{message} (columns: {', '.join(cells)})", option=option))
        elif column not in cells:
            faults.append(table.fault(_no_column(column, table), option=option))
    for option, column in (("weight", options.weight), ("time", options.time)):
        if column is not None and column not in cells:
            faults.append(table.fault(_no_column(column, table), option=option))
    if source is None or target is None or source not in cells or target not in cells:
        return None, faults
    if source == target:
        faults.append(table.fault("source and target are the same column", column=source, option="target"))
        return None, faults
    weight = options.weight if options.weight in cells else None
    if options.weight is None and WEIGHT in cells and WEIGHT not in (source, target, options.time, *options.drop):
        weight = WEIGHT
    others = [name for name in cells if name not in (source, target, *options.drop)]
    unused = not options.edge_columns and options.aggregate != "last"
    kinds = {name: None if unused else detect(name, cells[name])[0] for name in others}
    dated = [name for name in others if kinds[name] == "date"]
    time = options.time if options.time is not None else (dated[0] if dated else None)
    amounts = tuple(name for name in others if name == weight or (kinds[name] == "number" and name != time))
    time = time if time in cells else None
    found = RelationSchema(name=name, source=source, target=target, weight=weight, time=time, amounts=amounts)
    return found, faults


def id_texts(cells: Cells) -> list[str]:
    """The distinct texts of a column of ids; ``7.0`` is ``7`` if all are whole numbers."""
    texts = cells.texts
    return without_decimals(texts) if are_whole(texts) else texts


def are_whole(texts: Iterable[str]) -> bool:
    """Whether all ids are whole numbers, with or without ``.0``."""
    return all(_WHOLE.fullmatch(text) for text in texts)


def without_decimals(texts: Iterable[str]) -> list[str]:
    """``7.0`` as ``7``; other texts as they are."""
    return [text.partition(".")[0] if _WHOLE.fullmatch(text) else text for text in texts]


def likely_cause(unknown_ids: Sequence[str], ids: Set[str]) -> str:
    """Why ends of edges are not ids, if a simple change makes most of them ids; else empty."""
    changes = {
        "the ids of one table end in '.0', as whole numbers do that were saved as decimals": lambda t: (
            t.partition(".")[0] if _WHOLE.fullmatch(t) else t
        ),
        "upper and lower case differ between the tables": str.casefold,
        "leading zeros differ between the tables": lambda t: t.lstrip("0") or "0",
        "quotes or blanks surround the ids of one table": lambda t: t.strip("'\" \t"),
        "letters before the number differ between the tables": lambda t: _LETTERS.sub("", t) or t,
    }
    sample = unknown_ids[:1000]
    for cause, change in changes.items():
        changed = {change(text) for text in ids}
        if sum(change(text) in changed for text in sample) > len(sample) / 2:
            return cause
    return ""


def _ends(options: TableOptions, cells: CellsByName, ids: Set[str]) -> tuple[str | None, str | None]:
    given = (options.source, options.target)
    if None not in given:
        return given
    taken = {options.weight, options.time, *options.drop} - {None}
    columns = [name for name in cells if name not in taken]
    found: list[tuple[str, str]] = []
    for first, second in PAIRS:
        sources, targets = ([name for name in columns if end in _words(name)] for end in (first, second))
        if len(sources) == 1 and len(targets) == 1:
            found.append((sources[0], targets[0]))
    matching = [name for name in columns if _share(cells[name], ids) >= MATCHED]
    if not found and len(matching) == 2:
        found.append((matching[0], matching[1]))
    if not found and len(columns) == 2:
        found.append((columns[0], columns[1]))
    source, target = found[0] if found else (None, None)
    return options.source or source, options.target or target


def _words(name: str) -> list[str]:
    """``fromAccount`` and ``from_account`` as from, account."""
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+|\d+", name)]


def _is_distinct(cells: Cells) -> bool:
    return len(cells.values) >= max(DISTINCT * cells.rows, 1)


def _overlap(cells: Cells, edges: Sequence[CellsByName]) -> float:
    ids = set(id_texts(cells))
    return max((_share(column, ids) for table in edges for column in table.values()), default=0.0)


def _share(cells: Cells, ids: Set[str]) -> float:
    """The share of the distinct texts that are ids."""
    texts = id_texts(cells)
    return float(np.mean([text in ids for text in texts])) if texts else 0.0


def _no_column(name: str, table: Table) -> str:
    if name in table.columns:
        return f"the column {name!r} holds {table.data.column(name).type}, which is not read"
    header = "; is the header line missing?" if any(column.isdigit() for column in table.columns) else ""
    return unknown("column", name, table.columns) + header
