"""What a run shows while it works: one live line on a terminal, one line per stage elsewhere."""

from __future__ import annotations

import math
import time

from rich.console import Console
from rich.text import Text

from drgst.cli.output.live import LiveDisplay
from drgst.selftrain.callbacks import Callback
from drgst.selftrain.history import History

PERIOD = 0.1  # seconds between two updates of the live line


class Progress(LiveDisplay, Callback):
    """Stage, epoch, validation loss and number of pseudo-labelled nodes, on ``console`` (standard error)."""

    def __init__(self, console: Console, stages: int | None) -> None:
        super().__init__(console)
        self.stages = stages
        self.place, self.pseudo_labelled, self.next = "", 0, 0.0

    def training(self, stage: int, attempt: int, pseudo_labelled: int) -> None:
        """A student, or at stage 0 the teacher, is about to be trained."""
        again = f", fresh start {attempt}" if attempt else ""
        self.place = f"teacher{again}" if stage == 0 else f"{_stage(stage, self.stages)}{again}"
        self.pseudo_labelled = pseudo_labelled

    def epoch(self, epoch: int, train_loss: float, val_loss: float) -> None:
        """An epoch is done; most are not shown."""
        if self.live is None or (now := time.monotonic()) < self.next:
            return
        self.next = now + PERIOD
        loss = f"training loss {train_loss:.3f}" if math.isnan(val_loss) else f"validation loss {val_loss:.3f}"
        nodes = f"  {self.pseudo_labelled:,} pseudo-labelled nodes" if self.pseudo_labelled else ""
        self.update(Text(f"{self.place}  epoch {epoch:,}  {loss}{nodes}"))

    def stage(self, history: History) -> None:
        """A stage is done."""
        if self.live is None:
            self.console.print(stage_line(history, self.stages), soft_wrap=True)


def stage_line(history: History, stages: int | None) -> str:
    """``stage 1 of 2: 633 pseudo-labelled nodes, validation accuracy 69.2%, 555 epochs, 5.5 s``."""
    stage = history[-1]
    name = "teacher" if stage.number == 0 else _stage(stage.number, stages)
    parts = [f"{stage.pseudo_labels.nodes.size:,} pseudo-labelled nodes"] if stage.number else []
    if not math.isnan(stage.val_accuracy):
        parts.append(f"validation accuracy {stage.val_accuracy:.1%}")
    parts += [f"{stage.epochs:,} epochs", f"{stage.seconds:.1f} s"]
    return f"{name}: {', '.join(parts)}" + (f" ({stage.note})" if stage.note else "")


def _stage(number: int, stages: int | None) -> str:
    """``stage 1 of 2``; ``stage 1`` where the recipe has no number of stages."""
    return f"stage {number}" if stages is None else f"stage {number} of {stages}"
