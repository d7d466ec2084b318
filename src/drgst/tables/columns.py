"""Conversion of the columns of a node table and an edge table to arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from drgst.errors import DataFileError
from drgst.graph.split import PARTS, Split
from drgst.tables.naming import as_text

_WIDEST = 2**31 - 1


def dense_features(table: Any, names: list[str], path: Path) -> np.ndarray | None:
    """X, (N, F) float32, from one column of numbers per feature; None without such columns."""
    if not names:
        return None
    return _float32(np.column_stack([_numbers(table.column(name), name, path) for name in names]))


def listed_features(column: Any, name: str, path: Path) -> sp.csr_array | np.ndarray:
    """X from a ``features`` column: text such as ``3:1.0 17:0.5 20``, or lists of numbers of equal length (Parquet)."""
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type) or pa.types.is_fixed_size_list(column.type):
        return _lists(column, path)
    width = _width(name, path)
    rows = [_sparse_row(as_text(cell), row, path) for row, cell in enumerate(column.to_pylist(), start=1)]
    indices = np.array([index for row in rows for index in row], dtype=np.int64)
    data = _float32(np.array([value for row in rows for value in row.values()], dtype=np.float64))
    widest = int(indices.max(initial=-1)) + 1
    if width is not None and widest > width:
        raise DataFileError(f"{path}: feature {widest - 1} is named, but the column {name!r} says there are {width}")
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)])
    return sp.csr_array((data, indices, indptr), shape=(len(rows), widest if width is None else width))


def read_split(column: Any, name: str, path: Path) -> Split | None:
    """The split in a column of ``train``, ``val``, ``test`` or empty cells; None if all cells are empty."""
    cells = np.array([as_text(cell) for cell in column.to_pylist()], dtype=str)
    others = np.setdiff1d(cells, [*PARTS[:3], ""])
    if others.size:
        raise DataFileError(
            f"{path}: column {name!r} holds {str(others[0])!r}; train, val, test or an empty cell is allowed"
        )
    if not (cells != "").any():
        return None
    train, val, test = (np.flatnonzero(cells == part) for part in PARTS[:3])
    return Split.of(train, val, test, cells.size, name=name.partition(":")[2] or "split")


def edge_ends(column: Any, name: str, ids: np.ndarray, path: Path) -> np.ndarray:
    """The node index of each cell of ``source`` or ``target``, (E,)."""
    cells = _texts(column)
    found = pc.index_in(cells, value_set=pa.array([str(i) for i in ids], type=pa.string()))
    if found.null_count:
        row = int(np.flatnonzero(found.is_null().to_numpy())[0])
        end = cells[row].as_py()
        raise DataFileError(f"{path}: row {row + 1}, {name} {end!r} is not the id of a node{_other_form(end, ids)}")
    return found.to_numpy().astype(np.int64)


def _other_form(end: str, ids: np.ndarray) -> str:
    """A remark where a node has the same number in another form, such as 0.0 for 0."""
    try:
        same = next((str(i) for i in ids.tolist() if float(i) == float(end)), None)
    except ValueError:  # names
        same = None
    return "" if same is None else f"; the node table writes it {same!r}"


def edge_weights(column: Any, path: Path) -> np.ndarray:
    """Edge weights, (E,) float32, all finite and above 0."""
    weights = _numbers(column, "weight", path).astype(np.float32)
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights > 0)))
    if bad.size:
        raise DataFileError(f"{path}: row {bad[0] + 1} has weight {weights[bad[0]]}; weights are finite and above 0")
    return weights


def _float32(values: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):  # a number too large for float32 becomes infinite, which a graph refuses
        return values.astype(np.float32)


def _texts(column: Any) -> Any:
    """A column as Arrow text without surrounding blanks; text and integers are not copied to Python objects."""
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return pc.utf8_trim_whitespace(column.cast(pa.string()).fill_null(""))
    if pa.types.is_integer(column.type):
        return column.cast(pa.string()).fill_null("")
    return pa.chunked_array([pa.array([as_text(value) for value in column.to_pylist()], type=pa.string())])


def _numbers(column: Any, name: str, path: Path) -> np.ndarray:
    if not _is_number(column.type):
        raise DataFileError(f"{path}: column {name!r} holds {column.type}, not numbers")
    if column.null_count:
        row = int(np.flatnonzero(column.is_null().to_numpy())[0])
        raise DataFileError(f"{path}: row {row + 1}, column {name!r} is empty or NaN, not a number")
    return column.to_numpy().astype(np.float64)


def _is_number(kind: Any) -> bool:
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)


def _lists(column: Any, path: Path) -> np.ndarray:
    if not _is_number(column.type.value_type):
        raise DataFileError(f"{path}: the column 'features' holds {column.type}, not lists of numbers")
    rows = column.to_pylist()
    widths = [-1 if row is None else len(row) for row in rows]
    for row, width in enumerate(widths, start=1):
        if width != widths[0] or width < 0:
            raise DataFileError(f"{path}: row {row} lists {max(width, 0)} features, but the first lists {widths[0]}")
    try:
        return _float32(np.array(rows, dtype=np.float64).reshape(len(rows), -1 if rows else 0))
    except (TypeError, ValueError) as error:
        raise DataFileError(f"{path}: the column 'features' lists something that is not a number: {error}") from error


def _width(name: str, path: Path) -> int | None:
    """F of a column called ``features:F``, None for plain ``features``."""
    _, colon, width = name.partition(":")
    if not colon:
        return None
    if not (width.isascii() and width.isdigit() and int(width) <= _WIDEST):
        raise DataFileError(f"{path}: the column {name!r} must be called features, or features: and their number")
    return int(width)


def _sparse_row(cell: str, row: int, path: Path) -> dict[int, float]:
    """``3:1.0 17:0.5 20`` as {3: 1.0, 17: 0.5, 20: 1.0}."""
    found: dict[int, float] = {}
    for pair in cell.split():
        index, colon, value = pair.partition(":")
        try:
            if not (index.isascii() and index.isdigit() and int(index) < _WIDEST):
                raise ValueError
            key, number = int(index), float(value) if colon else 1.0
        except ValueError as error:
            raise DataFileError(f"{path}: row {row}, {pair!r} is not index:value such as 3:1.0") from error
        if key in found:
            raise DataFileError(f"{path}: row {row} names feature {key} more than once")
        found[key] = number
    return found
