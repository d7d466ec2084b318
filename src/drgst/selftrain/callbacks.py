"""Callbacks: what happens in a run, as it happens."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from drgst.selftrain.history import History


class Callback:
    """Called as a run proceeds. Progress displays, loggers and run folders override methods, which do nothing here."""

    def begin(self, facts: Mapping[str, Any]) -> None:
        """A run is about to start: ``dataset``, ``recipe``, ``seed``, ``stages`` (None: unknown), ``settings``."""

    def training(self, stage: int, attempt: int, pseudo_labelled: int) -> None:
        """A student (or, at stage 0, the teacher) is about to be trained."""

    def epoch(self, epoch: int, train_loss: float, val_loss: float) -> None:
        """An epoch is done."""

    def step(self, what: str, number: int, total: int) -> None:
        """Step ``number`` of ``total``, from 1, is about to begin: a view, a fold, a part of a page."""

    def stage(self, history: History) -> None:
        """A stage is done: the last of ``history``."""

    def end(self, summary: Mapping[str, Any]) -> None:
        """The run is done; ``summary`` has its metrics, as ``summary.json`` has them."""

    def close(self) -> None:
        """The run is done or was interrupted: release files and displays."""


class Callbacks(Callback):
    """Calls each of several callbacks, in order."""

    def __init__(self, each: Sequence[Callback]) -> None:
        for event in (name for name in vars(Callback) if not name.startswith("_")):
            setattr(self, event, partial(_call_each, [getattr(callback, event) for callback in each]))


def _call_each(calls: Sequence[Callable[..., None]], *facts: Any) -> None:
    for call in calls:
        call(*facts)
