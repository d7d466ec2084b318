"""Callbacks: what happens in a run, as it happens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from drgst.selftrain.history import History


class Callback:
    """Called as a run proceeds; does nothing by itself. Progress displays, loggers and run folders derive from it."""

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
        self.each = tuple(each)

    def begin(self, facts: Mapping[str, Any]) -> None:
        """A run is about to start."""
        for callback in self.each:
            callback.begin(facts)

    def training(self, stage: int, attempt: int, pseudo_labelled: int) -> None:
        """A training is about to start."""
        for callback in self.each:
            callback.training(stage, attempt, pseudo_labelled)

    def epoch(self, epoch: int, train_loss: float, val_loss: float) -> None:
        """An epoch is done."""
        for callback in self.each:
            callback.epoch(epoch, train_loss, val_loss)

    def step(self, what: str, number: int, total: int) -> None:
        """A step is about to begin."""
        for callback in self.each:
            callback.step(what, number, total)

    def stage(self, history: History) -> None:
        """A stage is done."""
        for callback in self.each:
            callback.stage(history)

    def end(self, summary: Mapping[str, Any]) -> None:
        """The run is done."""
        for callback in self.each:
            callback.end(summary)

    def close(self) -> None:
        """The run is done or was interrupted."""
        for callback in self.each:
            callback.close()
