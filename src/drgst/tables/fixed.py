"""All faults of the two tables that :func:`drgst.read_tables` reads, whose columns have fixed names and types."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from drgst.tables.cells import numbers
from drgst.tables.faults import Problem, counted
from drgst.tables.inspection import bad_cells, inspect_tables
from drgst.tables.options import TableOptions
from drgst.tables.roles import OpenTable
from drgst.tables.source import open_table


def check_fixed_tables(nodes: Path, edges: Path) -> list[Problem]:
    """The faults of ``nodes.*`` (id, label, numbers) and ``edges.*`` (source, target, weight); empty without faults.

    Cells of the columns ``split`` and ``features`` are not checked here.
    """
    unread: list[Problem] = []
    tables = {path: open_table(path, path.name, unread) for path in (nodes, edges)}
    problems = []
    for path, needed in ((nodes, ("id", "label")), (edges, ("source", "target"))):
        table = tables[path]
        if table is None:
            continue
        problems += [table.problem(f"cells must be separated by commas, but {note}") for note in table.notes]
        absent = [name for name in needed if name not in table.columns]
        columns = ", ".join(table.columns)
        problems += [table.problem(f"the column {name!r} is missing (columns: {columns})") for name in absent]
    if problems or unread:
        return [*unread, *problems]
    edge_table = tables[edges]
    weight = "weight" if edge_table is not None and "weight" in edge_table.columns else None
    roles = {"label": "label", "id": "id", "source": "source", "target": "target", "weight": weight}
    found = inspect_tables(tables[nodes], edge_table, TableOptions.of(strict=True, **roles))
    others = [] if found.nodes is None else _not_numbers(found.nodes)
    return [*found.problems, *others]


def _not_numbers(nodes: OpenTable) -> list[Problem]:
    """The faults of the feature columns: every cell must be a number."""
    table, problems = nodes.table, []
    for column, cells in nodes.cells.items():
        if column in ("id", "label") or column.partition(":")[0] in ("split", "features"):
            continue
        bad = np.isnan(numbers(cells.values))
        if bad.any():
            message = f"{bad_cells(cells, bad, 'number')}: drgst.from_tables reads columns of any type"
            problems.append(table.problem(message, cells.first_row(bad), column))
        if cells.missing.any():
            rows = counted(int(cells.missing.sum()), "cell")
            message = f"is empty ({rows} in all): drgst.from_tables imputes missing cells"
            problems.append(table.problem(message, int(np.flatnonzero(cells.missing)[0]), column))
    return problems
