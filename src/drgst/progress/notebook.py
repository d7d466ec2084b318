"""The bar of a run in a notebook."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from drgst.extras import import_extra
from drgst.progress.jupyter import bar_html
from drgst.progress.words import Place, stage_line
from drgst.selftrain.callbacks import Callback
from drgst.selftrain.history import History

PERIOD = 0.2  # seconds between two updates


class NotebookBar(Callback):
    """A bar with stage, epoch or step and loss. It stays with the last line of the run."""

    def __init__(self) -> None:
        self.display = import_extra("IPython.display", "notebook", "a bar in a notebook")
        self.place, self.done, self.next = Place(), 0.0, 0.0
        self.handle: Any = None

    def begin(self, facts: Mapping[str, Any]) -> None:
        """Show the bar."""
        self.place.begin(facts)
        self.done = 0.0
        self.handle = self.display.display(self._html("starting"), display_id=True)

    def training(self, stage: int, attempt: int, pseudo_labelled: int) -> None:
        """A training is about to start."""
        self.place.start_training(stage, attempt, pseudo_labelled)
        self.done = stage / (1 + (self.place.stages or max(1, stage)))
        self._show(self.place.training, now=True)

    def epoch(self, epoch: int, train_loss: float, val_loss: float) -> None:
        """An epoch is done; most are not shown."""
        if time.monotonic() >= self.next:
            self._show(self.place.epoch(epoch, train_loss, val_loss))

    def step(self, what: str, number: int, total: int) -> None:
        """A step is about to begin."""
        self._show(self.place.start_step(what, number, total), now=True)

    def stage(self, history: History) -> None:
        """A stage is done."""
        self._show(stage_line(history, self.place.stages), now=True)

    def end(self, summary: Mapping[str, Any]) -> None:
        """The bar is full and names the result."""
        self.done = 1.0
        accuracy = summary.get("test_accuracy")
        found = "" if accuracy is None else f", test accuracy {accuracy:.1%}"
        self._show(f"{summary['recipe']} on {summary['dataset']}: done in {summary['seconds']:.1f} s{found}", now=True)

    def _show(self, text: str, now: bool = False) -> None:
        moment = time.monotonic()
        if self.handle is not None and (now or moment >= self.next):
            self.next = moment + PERIOD
            self.handle.update(self._html(text))

    def _html(self, text: str) -> Any:
        return self.display.HTML(bar_html(self.done, text))
