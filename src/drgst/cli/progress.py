"""What a run shows while it works: one live line on a terminal, a line a stage elsewhere."""

from __future__ import annotations

import math
import time
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.text import Text

from drgst.selftrain.callbacks import Callback
from drgst.selftrain.history import History

PERIOD = 0.1  # seconds between two looks of the live line


class Progress(Callback):
    """Stage, epoch, validation loss and trusted nodes, on ``console`` (standard error)."""

    def __init__(self, console: Console, stages: int) -> None:
        self.console, self.stages = console, stages
        self.live = Live(console=console, auto_refresh=False, transient=True) if console.is_terminal else None
        self.place, self.trusted, self.next = "", 0, 0.0

    def __enter__(self) -> Progress:
        if self.live is not None:
            self.live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.live is not None:
            self.live.stop()

    def training(self, stage: int, attempt: int, trusted: int) -> None:
        """A student, or at stage 0 the teacher, is about to be trained."""
        again = f", fresh start {attempt}" if attempt else ""
        self.place = f"teacher{again}" if stage == 0 else f"stage {stage} of {self.stages}{again}"
        self.trusted = trusted

    def epoch(self, epoch: int, train_loss: float, val_loss: float) -> None:
        """An epoch is done; most are not shown."""
        if self.live is None or (now := time.monotonic()) < self.next:
            return
        self.next = now + PERIOD
        loss = f"training loss {train_loss:.3f}" if math.isnan(val_loss) else f"validation loss {val_loss:.3f}"
        trusted = f"  {self.trusted:,} trusted nodes" if self.trusted else ""
        self.live.update(Text(f"{self.place}  epoch {epoch:,}  {loss}{trusted}"), refresh=True)

    def stage(self, history: History) -> None:
        """A stage is done."""
        if self.live is None:
            self.console.print(stage_line(history, self.stages), soft_wrap=True)


def stage_line(history: History, stages: int) -> str:
    """``stage 1 of 2: 633 trusted nodes, validation accuracy 69.2 %, 555 epochs, 5.5 s``."""
    stage = history[-1]
    name = "teacher" if stage.number == 0 else f"stage {stage.number} of {stages}"
    parts = [f"{stage.pseudo.nodes.size:,} trusted nodes"] if stage.number else []
    if not math.isnan(stage.val_accuracy):
        parts.append(f"validation accuracy {stage.val_accuracy:.1%}")
    parts += [f"{stage.epochs:,} epochs", f"{stage.seconds:.1f} s"]
    return f"{name}: {', '.join(parts)}" + (f" ({stage.note})" if stage.note else "")
