"""Callbacks: what happens in a run, as it happens."""

from __future__ import annotations

from drgst.selftrain.history import History


class Callback:
    """Called as a run proceeds; does nothing by itself. Progress displays and run folders derive from it."""

    def training(self, stage: int, attempt: int, pseudo_labelled: int) -> None:
        """A student (or, at stage 0, the teacher) is about to be trained."""

    def epoch(self, epoch: int, train_loss: float, val_loss: float) -> None:
        """An epoch is done."""

    def stage(self, history: History) -> None:
        """A stage is done: the last of ``history``."""
