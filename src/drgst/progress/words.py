"""The words of a run's progress, for a terminal and a notebook."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from drgst.selftrain.history import History


@dataclass
class Place:
    """Where a run is: stage, attempt, epoch and step."""

    stages: int | None = None  # of the recipe, None: unknown
    training: str = ""
    pseudo_labelled: int = 0
    step: str = ""

    def begin(self, facts: Mapping[str, Any]) -> None:
        """A run is about to start."""
        self.stages = facts.get("stages")

    def start_training(self, stage: int, attempt: int, pseudo_labelled: int) -> None:
        """A training is about to start."""
        again = f", fresh start {attempt}" if attempt else ""
        self.training = f"{stage_name(stage, self.stages)}{again}"
        self.pseudo_labelled, self.step = pseudo_labelled, ""

    def start_step(self, what: str, number: int, total: int) -> str:
        """A step is about to begin: ``stage 1 of 2  view 3 of 5  633 pseudo-labelled nodes``."""
        self.step = f"{what} {number} of {total}" if total > 1 else what
        return self._line(self.step)

    def epoch(self, epoch: int, train_loss: float, val_loss: float) -> str:
        """``stage 1 of 2  epoch 120  validation loss 0.812  633 pseudo-labelled nodes``."""
        loss = f"training loss {train_loss:.3f}" if math.isnan(val_loss) else f"validation loss {val_loss:.3f}"
        return self._line(self.step, f"epoch {epoch:,}", loss)

    def _line(self, *parts: str) -> str:
        nodes = f"{self.pseudo_labelled:,} pseudo-labelled nodes" if self.pseudo_labelled else ""
        return "  ".join(part for part in (self.training, *parts, nodes) if part)


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
