"""The numbers of a run for a logger: of each epoch, stage and of the end."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from drgst.selftrain.callbacks import Callback
from drgst.selftrain.history import Stage


class MetricsCallback(Callback):
    """Counts epochs over all trainings; a logger derives from it and writes what :meth:`log` is given."""

    def __init__(self) -> None:
        self.current, self.attempt, self.epochs = 0, 0, 0

    def log(self, kind: str, step: int, values: Mapping[str, float]) -> None:
        """Write ``values`` of kind ``"epoch"``, ``"stage"`` or ``"end"`` at ``step``: epoch or stage number."""
        raise NotImplementedError

    def training(self, stage: int, attempt: int, pseudo_labelled: int) -> None:  # noqa: ARG002
        """A training is about to start."""
        self.current, self.attempt = stage, attempt

    def epoch(self, epoch: int, train_loss: float, val_loss: float) -> None:
        """The losses of an epoch, by the number of epochs since the run started."""
        losses = {"train_loss": train_loss, "val_loss": val_loss, "stage": self.current, "epoch_of_training": epoch}
        self.log("epoch", self.epochs, finite(losses))
        self.epochs += 1

    def stage(self, history: Any) -> None:
        """The figures of a stage."""
        self.log("stage", history[-1].number, stage_values(history[-1]))

    def end(self, summary: Mapping[str, Any]) -> None:
        """The metrics of the result."""
        self.log("end", int(summary["result_stage"]), finite(summary))


def stage_values(stage: Stage) -> dict[str, float]:
    """Pseudo-labels, mean gain, weight and confidence, validation figures, epochs and seconds of a stage."""
    return finite({name: value for name, value in stage.summary().items() if name != "stage"})


def finite(values: Mapping[str, Any]) -> dict[str, float]:
    """The numbers among ``values`` that are finite."""
    numbers = {name: value for name, value in values.items() if isinstance(value, int | float)}
    return {name: float(value) for name, value in numbers.items() if math.isfinite(value)}
