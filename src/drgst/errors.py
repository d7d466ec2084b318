"""Exceptions and warnings. Every message is one sentence: what is wrong, where, and what is allowed."""

from __future__ import annotations

import difflib
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

LONGEST_NAME = 100  # characters of a name that are compared with known ones: a pasted file must not take minutes


class DrgstError(ValueError):
    """Base class of all errors that drgst raises on bad input; the command line exits with code 2."""


class GraphError(DrgstError):
    """A graph breaks an invariant: shapes, ids, edges, features or labels."""


class NoLabels(GraphError):
    """No node of a graph has a label."""


class SplitError(DrgstError):
    """A split has overlapping parts, a node outside the graph or a class without a training label."""


class DataFileError(DrgstError):
    """A file is missing, damaged, unsafe or of another format."""


class MemoryLimitError(DrgstError):
    """Something would need more memory than there is."""


class SettingError(DrgstError):
    """A setting is unknown or out of range."""


class TrainingError(DrgstError):
    """A training can't continue, for example because its loss is not finite."""


class RunError(DrgstError):
    """A run folder or model folder can't be written, read or resumed."""


class StoreError(DrgstError):
    """A result store is damaged, of a newer version, of another format or can't be written."""


class DrgstWarning(UserWarning):
    """Base class of all warnings of drgst."""


def warn(message: str) -> None:
    """Warn of ``message`` where the code of the user called drgst."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("drgst."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, DrgstWarning, stacklevel=level)


def unknown(kind: str, name: str, known: Iterable[str]) -> str:
    """The message for an unknown name, with the nearest known one: ``unknown recipe 'm3'; did you mean 'm3s'?``."""
    options = sorted(known)
    return f"unknown {kind} {name!r}{nearest(name, options)} (known: {', '.join(options) or 'none'})"


def nearest(name: str, known: Iterable[str]) -> str:
    """``; did you mean 'm3s'?`` with the known name that is nearest to ``name``; "" where none is near."""
    given = name.lower()[:LONGEST_NAME]
    near = difflib.get_close_matches(given, list(known), n=5, cutoff=0.55)
    near.sort(key=lambda other: _edits(given, other) > 1)  # names one typing error away come first: gnc is gcn
    return f"; did you mean {near[0]!r}?" if near else ""


def _edits(a: str, b: str) -> int:
    """Letters to insert, delete, replace or swap with their neighbour to make ``b`` of ``a`` (optimal alignment)."""
    rows = [list(range(len(b) + 1))]
    for i, letter in enumerate(a, 1):
        row = [i]
        for j, other in enumerate(b, 1):
            best = min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (letter != other))
            if i > 1 and j > 1 and (letter, a[i - 2]) == (b[j - 2], other):
                best = min(best, rows[-2][j - 2] + 1)
            row.append(best)
        rows.append(row)
    return rows[-1][-1]


@contextmanager
def located(where: object) -> Iterator[None]:
    """Put ``where``, such as the path of a file, in front of the message of an error that does not name it."""
    try:
        yield
    except DrgstError as error:
        if not error.args or str(where) in str(error) or hasattr(error, "faults"):  # faults name their files
            raise
        error.args = (f"{where}: {error}", *error.args[1:])
        raise
