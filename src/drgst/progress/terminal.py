"""What a run shows on a terminal: one live line, and one line per stage elsewhere."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from drgst.progress.live import LiveDisplay
from drgst.progress.words import Place, stage_line
from drgst.selftrain.callbacks import Callback
from drgst.selftrain.history import History

PERIOD = 0.1  # seconds between two updates of the live line
QUIET = 2.0  # seconds without a line after which a step is printed where there is no live line


class Progress(LiveDisplay, Callback):
    """Stage, epoch, step, validation loss and number of pseudo-labelled nodes, on ``console`` (standard error)."""

    def __init__(self, console: Console, stages: int | None = None) -> None:
        super().__init__(console)
        self.place = Place(stages)
        self.next = 0.0
        self.printed = time.monotonic()

    def begin(self, facts: Mapping[str, Any]) -> None:
        """A run is about to start."""
        self.place.begin(facts)
        self.__enter__()

    def close(self) -> None:
        """The live line goes."""
        self.__exit__()

    def training(self, stage: int, attempt: int, pseudo_labelled: int) -> None:
        """A student, or at stage 0 the teacher, is about to be trained."""
        self.place.start_training(stage, attempt, pseudo_labelled)

    def epoch(self, epoch: int, train_loss: float, val_loss: float) -> None:
        """An epoch is done; most are not shown."""
        now = time.monotonic()
        if self.live is not None and now >= self.next:
            self.next = now + PERIOD
            self.update(Text(self.place.epoch(epoch, train_loss, val_loss)))
        elif self.live is None and now >= self.printed + QUIET:
            self._print(self.place.epoch(epoch, train_loss, val_loss))

    def step(self, what: str, number: int, total: int) -> None:
        """A step is about to begin."""
        line = self.place.start_step(what, number, total)
        if self.live is not None:
            self.update(Text(line))
        elif time.monotonic() >= self.printed + QUIET:
            self._print(line)

    def stage(self, history: History) -> None:
        """A stage is done."""
        if self.live is None:
            self._print(stage_line(history, self.place.stages))

    def _print(self, line: str) -> None:
        self.console.print(line, soft_wrap=True)
        self.printed = time.monotonic()
