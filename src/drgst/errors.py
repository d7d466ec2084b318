"""What can go wrong, each said in one sentence: what was wrong, where, and what is allowed."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class DrgstError(ValueError):
    """Base of every error that drgst raises on bad input; the shell turns it into exit code 2."""


class GraphError(DrgstError):
    """A graph that breaks an invariant: shapes, ids, edges, features or labels."""


class SplitError(DrgstError):
    """A split that overlaps, leaves the graph or misses a class."""


class DataFileError(DrgstError):
    """A file that is missing, damaged, hostile or not what it says it is."""


class SettingError(DrgstError):
    """A setting that is unknown or out of range."""


class TrainingError(DrgstError):
    """A training that can't go on, such as a loss that is not a number."""


class RunError(DrgstError):
    """A run folder or model folder that can't be written, read or resumed."""


class StoreError(DrgstError):
    """A store of runs that is damaged, newer, no store at all or can't be written."""


class DrgstWarning(UserWarning):
    """Something a user should know that is not an error."""


def unknown(kind: str, name: str, known: Iterable[str]) -> str:
    """One sentence for an unknown name, with the nearest known one: ``unknown recipe 'm3'; did you mean 'm3s'?``"""
    options = sorted(known)
    return f"unknown {kind} {name!r}{nearest(name, options)} (known: {', '.join(options)})"


def nearest(name: str, known: Iterable[str]) -> str:
    """``; did you mean 'm3s'?`` with the known name that is nearest to ``name``; "" where none is near."""
    near = difflib.get_close_matches(name.lower(), list(known), n=1, cutoff=0.5)
    return f"; did you mean {near[0]!r}?" if near else ""
