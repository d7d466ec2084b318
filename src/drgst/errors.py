"""Exceptions and warnings. Every message is one sentence: what is wrong, where, and what is allowed."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class DrgstError(ValueError):
    """Base class of all errors that drgst raises on bad input; the command line exits with code 2."""


class GraphError(DrgstError):
    """A graph breaks an invariant: shapes, ids, edges, features or labels."""


class SplitError(DrgstError):
    """A split has overlapping parts, a node outside the graph or a class without a training label."""


class DataFileError(DrgstError):
    """A file is missing, damaged, unsafe or of another format."""


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


def unknown(kind: str, name: str, known: Iterable[str]) -> str:
    """The message for an unknown name, with the nearest known one: ``unknown recipe 'm3'; did you mean 'm3s'?``."""
    options = sorted(known)
    return f"unknown {kind} {name!r}{nearest(name, options)} (known: {', '.join(options)})"


def nearest(name: str, known: Iterable[str]) -> str:
    """``; did you mean 'm3s'?`` with the known name that is nearest to ``name``; "" where none is near."""
    near = difflib.get_close_matches(name.lower(), list(known), n=1, cutoff=0.5)
    return f"; did you mean {near[0]!r}?" if near else ""
