"""Which column of a node table is the id, and which columns of an edge table are its ends, weight and time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set

import numpy as np

from drgst.tables.cells import Cells
from drgst.tables.columns import no_column
from drgst.tables.faults import Fault, counted, named_columns, some
from drgst.tables.kinds import detect
from drgst.tables.kinds.number import is_id_name
from drgst.tables.naming import LONGEST_ID, are_whole, as_integer, without_decimals
from drgst.tables.options import TableOptions
from drgst.tables.relations import RelationSchema
from drgst.tables.source import Table

PAIRS = (  # words for the two ends of an edge
    *(("source", "target"), ("src", "dst"), ("from", "to"), ("sender", "receiver"), ("payer", "payee")),
    *(("caller", "callee"), ("origin", "destination"), ("debtor", "creditor"), ("buyer", "seller"), ("u", "v")),
)
WEIGHT = "weight"  # the name of the weight column where no option gives it
DISTINCT = 0.9  # share of distinct texts from which a column may be the id; repeated ids are then faults
MATCHED = 0.5  # share of the texts of an edge column that must be ids for it to count as an end of the edges

CellsByName = Mapping[str, Cells]


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


def id_texts(cells: Cells) -> list[str]:
    """The distinct texts of a column of ids; ``7.0`` is ``7`` if all are whole numbers."""
    return without_decimals(cells.texts) if are_whole(cells.texts) else cells.texts


def bad_ids(table: Table, column: str, texts: list[str], remedy: bool = True) -> Iterator[Fault]:
    """The faults of a column of ids, given its distinct texts as ids; with ``remedy`` an option drops repeats."""
    cells = table.texts[column]
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
    timed = options.aggregate == "last" or options.as_of is not None or options.half_life is not None
    unused = not options.edge_columns and not timed
    kinds = {name: None if unused else detect(name, cells[name])[0] for name in others}
    time = options.time or next((name for name in others if kinds[name] == "date"), None)
    amounts = tuple(name for name in others if name == weight or (kinds[name] == "number" and name != time))
    time = time if time in cells else None
    found = RelationSchema(name=name, source=source, target=target, weight=weight, time=time, amounts=amounts)
    return found, faults


def unused_columns(table: Table, relation: RelationSchema) -> list[str]:
    """The note on columns of an edge table that are not used, if there are any."""
    others = [column for column in table.columns if column not in relation.columns]
    return [f"{table.file}: {named_columns(others)} not used"] if others else []


def _ends(options: TableOptions, cells: CellsByName, ids: Set[str]) -> tuple[str | None, str | None]:
    if options.source is not None and options.target is not None:
        return options.source, options.target
    columns = [name for name in cells if name not in (options.weight, options.time, *options.drop)]
    found: list[tuple[str, str]] = []
    for first, second in PAIRS:
        sources, targets = ([name for name in columns if end in _words(name)] for end in (first, second))
        if len(sources) == 1 and len(targets) == 1:
            found.append((sources[0], targets[0]))
    matching = [] if found else [name for name in columns if share_of_ids(cells[name], ids) >= MATCHED]
    found += [(pair[0], pair[1]) for pair in (matching, columns) if len(pair) == 2]
    source, target = found[0] if found else (None, None)
    return options.source or source, options.target or target


def _words(name: str) -> list[str]:
    """``fromAccount`` and ``from_account`` as from, account."""
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+|\d+", name)]


def _overlap(cells: Cells, edges: Sequence[CellsByName]) -> float:
    ids = set(id_texts(cells))
    return max((share_of_ids(column, ids) for table in edges for column in table.values()), default=0.0)


def share_of_ids(cells: Cells, ids: Set[str]) -> float:
    """The share of the distinct texts that are ids."""
    texts = id_texts(cells)
    return float(np.mean([text in ids for text in texts])) if texts else 0.0
