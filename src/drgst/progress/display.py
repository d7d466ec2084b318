"""What a run shows while it works."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from drgst.progress.live import LiveDisplay, SafeConsole
from drgst.selftrain.callbacks import Callback, Callbacks
from drgst.selftrain.history import History

PERIOD = 0.1  # seconds between two updates of the live line
QUIET = 2.0  # seconds without a line after which a step is printed where there is no live line


class Progress(LiveDisplay, Callback):
    """Stage, step, epoch, loss and number of pseudo-labelled nodes.

    A live line on a terminal and in a notebook, elsewhere one line per stage, and one per step or epoch if nothing was
    printed for two seconds.
    """

    def __init__(self, console: Console, stages: int | None = None) -> None:
        super().__init__(console)
        self.stages = stages  # of the recipe, None: unknown
        self.trained, self.current, self.nodes = "", "", 0
        self.next, self.printed = 0.0, time.monotonic()

    def begin(self, facts: Mapping[str, Any]) -> None:
        self.stages = facts.get("stages")
        self.__enter__()

    def training(self, stage: int, attempt: int, pseudo_labelled: int) -> None:
        """Keep which student, or teacher, is trained."""
        again = f", fresh start {attempt}" if attempt else ""
        self.trained, self.current, self.nodes = f"{stage_name(stage, self.stages)}{again}", "", pseudo_labelled

    def epoch(self, epoch: int, train_loss: float, val_loss: float) -> None:
        """Show some of the epochs: ``stage 1 of 2  epoch 120  validation loss 0.812  633 pseudo-labelled nodes``."""
        now = time.monotonic()
        if now >= (self.next if self.live else self.printed + QUIET):
            self.next = now + PERIOD
            loss = f"training loss {train_loss:.3f}" if math.isnan(val_loss) else f"validation loss {val_loss:.3f}"
            self._show(f"epoch {epoch:,}", loss)

    def step(self, what: str, number: int, total: int) -> None:
        """Show the step: ``stage 1 of 2  view 3 of 5  633 pseudo-labelled nodes``."""
        self.current = f"{what} {number} of {total}" if total > 1 else what
        if self.live or time.monotonic() >= self.printed + QUIET:
            self._show()

    def stage(self, history: History) -> None:
        if not self.live:
            self._print(stage_line(history, self.stages))

    def end(self, summary: Mapping[str, Any]) -> None:
        """Show the result, which stays in a notebook."""
        accuracy = summary.get("test_accuracy")
        found = "" if accuracy is None else f", test accuracy {accuracy:.1%}"
        self.update(f"{summary['recipe']} on {summary['dataset']}: done in {summary['seconds']:.1f} s{found}")

    def close(self) -> None:
        self.__exit__()

    def _show(self, *parts: str) -> None:
        nodes = f"{self.nodes:,} pseudo-labelled nodes" if self.nodes else ""
        line = "  ".join(part for part in (self.trained, self.current, *parts, nodes) if part)
        if self.live:
            self.update(line)
        else:
            self._print(line)

    def _print(self, line: str) -> None:
        self.console.print(line, soft_wrap=True)
        self.printed = time.monotonic()


def display(wanted: bool | None) -> Callback | None:
    """No display (False), one in any case (True), or one on a terminal and in a notebook only (None)."""
    shown = None if wanted is False else Progress(SafeConsole())
    return shown if shown is not None and (wanted or shown.live) else None


def joined(*given: Callback | Sequence[Callback] | None) -> Callback | None:
    """One callback that calls all of ``given``; None where there is none."""
    each: list[Callback] = []
    for one in given:
        each += [one] if isinstance(one, Callback) else [] if one is None else list(one)
    return Callbacks(each) if each else None


def stage_line(history: History, stages: int | None) -> str:
    """``stage 1 of 2: 633 pseudo-labelled nodes, validation accuracy 69.2%, 555 epochs, 5.5 s``."""
    stage = history[-1]
    parts = [f"{stage.pseudo_labels.nodes.size:,} pseudo-labelled nodes"] if stage.number else []
    if not math.isnan(stage.val_accuracy):
        parts.append(f"validation accuracy {stage.val_accuracy:.1%}")
    if stage.epochs:  # a linear model has none
        parts.append(f"{stage.epochs:,} epochs")
    parts.append(f"{stage.seconds:.1f} s")
    why = f" ({stage.note})" if stage.note and not stage.accepted else ""  # the summary of the run has the other notes
    return f"{stage_name(stage.number, stages)}: {', '.join(parts)}{why}"


def stage_name(number: int, stages: int | None) -> str:
    """``teacher``, ``stage 1 of 2``, or ``stage 1`` where the recipe has no number of stages."""
    if number == 0:
        return "teacher"
    return f"stage {number}" if stages is None else f"stage {number} of {stages}"
